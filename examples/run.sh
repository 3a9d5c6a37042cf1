#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh SIDECAR DIR: start a sidecar and run the examples in DIR against it.
dir=$(mktemp -d) || exit 2
"$1" serve --sandbox=off --workspace="$dir/ws" --socket="$dir/s" 2>"$dir/log" &
server=$!
trap 'rm -rf "$dir"' EXIT
status=0

check() {
	if [ "$2" != "$3" ]; then
		printf '%s: got "%s", want "%s"\n' "$1" "$2" "$3"
		status=1
	fi
}

check agent "$("$2/agent" "$dir/s")" '> write_file {"path":"hello.py","content":"print(6 * 7)\n"}
< success
> search_files {"pattern":"6 * 7","literal":true}
< success
It is in hello.py.'
check client "$("$2/client" "$dir/s" hello.py)" 'print(6 * 7)'
check "client without a file" "$("$2/client" "$dir/s" none 2>&1; echo $?)" 'FILE_NOT_FOUND: File not found: none
1'
check stream "$("$2/stream" "$dir/s" 'echo a; echo b >&2; exit 3' 2>&1; echo $?)" 'a
b
3'
check "stream cancelled" "$("$2/stream" "$dir/s" 'echo a; sleep 99' 1 2>/dev/null; echo $?)" 'a
124'
check own_names "$("$2/own_names" "$dir/ws")" 'own ours'
kill $server
wait $server
check "the server's end" $? 0
exit $status
