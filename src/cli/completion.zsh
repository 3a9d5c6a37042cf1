#compdef sidecar
# sidecar: completion for zsh, written by "sidecar completion zsh"
_sidecar() {
	local -a values shown open open_shown
	local name about
	local -a typed=("${(@Q)words[2,CURRENT]}")
	while IFS=$'\t' read -r name about; do
		if [[ $name == :files ]]; then
			_files
			return
		fi
		if [[ $name == *[/=] ]]; then
			open+=("$name")
			open_shown+=("$name${about:+  -- $about}")
		else
			values+=("$name")
			shown+=("$name${about:+  -- $about}")
		fi
	done < <("$words[1]" __complete -- "${typed[@]}" 2> /dev/null)
	compadd -l -d shown -a values
	compadd -S '' -l -d open_shown -a open
}
compdef _sidecar sidecar
