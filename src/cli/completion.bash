# sidecar: completion for bash, written by "sidecar completion bash"
_sidecar() {
	local words=() offers=() i offer glue= typed
	for ((i = 1; i <= COMP_CWORD; i++)); do
		if [[ ${#words[@]} -gt 0 && ($glue || ${COMP_WORDS[i]} == =) ]]; then
			words[-1]+=${COMP_WORDS[i]}
		else
			words+=("${COMP_WORDS[i]}")
		fi
		[[ ${COMP_WORDS[i]} == = ]] && glue=1 || glue=
	done
	words=("${words[@]//\\/}")
	typed=${words[-1]%"${2//\\/}"}
	COMPREPLY=()
	mapfile -t offers < <("$1" __complete -- "${words[@]}" 2> /dev/null)
	if [[ ${offers[0]} == :files ]]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$2")
		return
	fi
	for offer in "${offers[@]}"; do
		offer=${offer%%$'\t'*}
		COMPREPLY+=("$(printf %q "${offer#"$typed"}")")
	done
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]] && compopt -o nospace
}
complete -F _sidecar sidecar
