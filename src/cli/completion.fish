# sidecar: completion for fish, written by "sidecar completion fish"
function __sidecar_complete
	set -l words (commandline -opc)
	set -l word (commandline -ct)
	set -l offers ($words[1] __complete -- $words[2..] "$word" 2> /dev/null)
	if test "$offers[1]" = :files
		__fish_complete_path "$word"
	else
		string join -- \n $offers
	end
end
complete -c sidecar -f -a '(__sidecar_complete)'
