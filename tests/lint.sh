#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # awk programs stand in single quotes
# lint.sh [DIR]: layers, owned calls, file length and form of the tree (default: this project). Prints one
# line per violation and exits 1 if there is any. lint.sh --self-test feeds itself bad files.

# folder or file, and the folders it may include; what stands in src/ itself may include everything
layers() {
	cat <<'T'
base       base
config     base config net policy sandbox
net        base net
workspace  base workspace
sandbox    base sandbox exec
policy     base policy
exec       base exec sandbox
regex      base regex
search     base regex search
scrub      base scrub
tools      base workspace exec policy search scrub tools
service    base config net workspace exec sandbox policy scrub tools service mcp
api        base config net workspace exec scrub tools service api mcp
mcp        base config net scrub tools service api mcp
client     base net workspace client sidecar.h
client/local.c  base net tools api client service
cli        base tools cli sidecar.h config
doctor     base sandbox cli doctor sidecar.h config
T
}

# calls, and the only files that may make them (extended regular expressions)
owned_calls() {
	cat <<'T'
open|creat|fopen|opendir|stat|lstat|access|realpath|readlink       src/(workspace|exec|sandbox)/[a-z_]*\.c|src/net/(listen|dial)\.c|src/(config/[a-z_]*|service/executor|main|cli/cli|doctor/[a-z_]*)\.c
rename|unlink|remove|rmdir|mkdir|link|symlink|chdir|chmod|chown    src/(workspace|exec|sandbox)/[a-z_]*\.c|src/net/listen\.c
openat|openat2|fstatat|statx|faccessat|readlinkat                  src/(workspace|exec|sandbox)/[a-z_]*\.c|src/search/dir\.c|src/doctor/place\.c
renameat|renameat2|unlinkat|mkdirat|linkat|symlinkat|mknodat       src/(workspace|exec|sandbox)/[a-z_]*\.c|src/doctor/place\.c
fork|vfork|clone|clone3|posix_spawn|posix_spawnp                   src/(exec|sandbox)/[a-z_]*\.c|src/doctor/(kernel|own_server)\.c
execve|execv|execvp|execvpe|execl|execlp|execveat|fexecve          src/(exec|sandbox)/[a-z_]*\.c
kill|killpg|pidfd_send_signal|wait|wait4|waitid|waitpid            src/(exec|sandbox)/[a-z_]*\.c|src/doctor/(kernel|own_server)\.c
malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf    src/base/(own|buf|arena)\.c
strcpy|strcat|sprintf|vsprintf|sscanf|strtok|atoi|gets|alloca      nowhere
system|popen|tmpnam|mktemp|rand|srand                              nowhere
T
}

unfinished='TODO|FIXME|XXX'

c_files() {
	find src include tests bench -name '*.[ch]' 2>/dev/null | sort
}

# "file:line:code" with strings emptied and comments removed; a // comment stays, so that it can be found.
code() {
	c_files | xargs -r awk '
	FNR == 1 { inside = 0 }
	{
		line = $0
		out = ""
		while (line != "") {
			if (inside) {
				end = index(line, "*/")
				if (!end)
					break
				line = substr(line, end + 2)
				inside = 0
			} else if (match(line, /^"([^"\\]|\\.)*"/) || match(line, /^\047([^\047\\]|\\.)*\047/)) {
				# An include names a file, which is needed; other text is not.
				out = out (out ~ /^#include *$/ ? substr(line, 1, RLENGTH) : "\"\"")
				line = substr(line, RLENGTH + 1)
			} else if (substr(line, 1, 2) == "/*") {
				inside = 1
				line = substr(line, 3)
			} else if (substr(line, 1, 2) == "//") {
				out = out line
				break
			} else {
				out = out substr(line, 1, 1)
				line = substr(line, 2)
			}
		}
		print FILENAME ":" FNR ":" out
	}'
}

check_layers() {
	layers | awk '
	NR == FNR { folder = $1; $1 = ""; may[folder] = $0 " "; next }
	!/^src\/[^\/:]+\/.*:#include "/ { next }
	{
		split($0, at, ":")
		split($0, part, "/")
		split($0, quoted, "\"")
		split(quoted[2], to, "/")
		self = part[2] "/" at[1]
		sub(/\/.*\//, "/", self)
		if (self in may)
			part[2] = self
		if (!(part[2] in may))
			print at[1] ":" at[2] ": src/" part[2] " is no known layer"
		else if (!index(may[part[2]], " " to[1] " "))
			print at[1] ":" at[2] ": " part[2] " may not include " quoted[2]
	}' - "$work/code"
}

check_calls() {
	owned_calls | while read -r calls owners; do
		grep -E "^src/[^:]*:[0-9]+:(.*[^_[:alnum:].>])?($calls)\(" "$work/code" |
			grep -vE "^($owners):" | sed "s@\$@   <- only in: $owners@"
	done
}

check_form() {
	grep -E '^[^:]*:[0-9]+:.*//' "$work/code" | sed 's@$@   <- comments are /* */@'
	c_files | xargs -r awk '
	FNR == 1 && $0 != "/* SPDX-License-Identifier: MIT */" { print FILENAME ":1: no SPDX line" }
	FNR == 2 && !/^\/\*/ { print FILENAME ":2: does not begin with a comment that says what it is" }
	FNR == 601 && FILENAME ~ /^(src|include)/ && FILENAME !~ /limits.h$/ { print FILENAME ": more than 600 lines" }'
	# clang-format leaves these alone; make format joins them.
	grep -E ':[[:blank:]]*AUTO_[A-Z]+$' "$work/code" | sed 's@$@   <- join with the next line@'
	c_files | grep -v '^tests/' | xargs -r grep -nwE "$unfinished" | sed 's@$@   <- do it, or leave it out@'
	find . \( -path ./.git -o -path './build*' -o -name node_modules -o -name corpus \) -prune -o -type f \
		\( -name '*.[ch]' -o -name '*.py' -o -name '*.sh' -o -name '*.md' -o -name '*.build' -o -name Makefile \) -print |
		sort | xargs -r grep -nE '[[:blank:]]+$' | sed 's@$@   <- trailing blanks@; s@^\./@@'
}

# A file that no meson.build names is neither compiled nor tested.
check_listed() {
	find src/*/ tests/unit tests/fuzz -maxdepth 1 -name '*.c' 2>/dev/null | tr -s / | sort | while read -r file; do
		name=$(basename "$file" .c)
		short=${name#test_}
		short=${short#fuzz_}
		grep -qE "'($name\.c|$short)'" "$(dirname "$file")/meson.build" 2>/dev/null ||
			echo "$file: is not listed in $(dirname "$file")/meson.build"
	done
}

lint() {
	work=$(mktemp -d) || exit 2
	trap 'rm -rf "$work"' EXIT
	code >"$work/code"
	{ check_layers && check_calls && check_form && check_listed; } >"$work/found"
	cat "$work/found"
	test ! -s "$work/found"
}

# Every rule must find its bad line, and a good file must stay unmentioned.
self_test() {
	tree=$(mktemp -d) || exit 2
	trap 'rm -rf "$tree"' EXIT
	mkdir -p "$tree/src/base" "$tree/src/net" "$tree/src/odd" "$tree/src/search"
	good='/* SPDX-License-Identifier: MIT */
/* good: a file without fault; free(p) and // in a comment are no code. */'
	put() { printf '%s\n' "$2" >"$tree/$1"; }
	put src/base/good.h "$good"
	put src/net/good.c "$good
#include \"base/str.h\"
char f[] = \"a-XXXXXX\";
int f(void) { g(\"http://x\", \"system(\\\"\", '\"', s->open(1), refree(2)); }"
	put src/net/layer.c "$good
#include \"tools/tool.h\""
	put src/odd/new.c "$good
#include \"base/str.h\""
	put src/net/call.c "$good
int f(void) { return open(\"a\"); }"
	put src/search/at.c "$good
int f(void) { return openat(1, \"a\"); }"
	put src/search/dir.c "$good
int f(void) { return openat(1, \"a\"); }"
	put src/base/own.c "$good
void f(void) { free(p); }"
	put src/base/heap.c "$good
void f(void) { /* first */ free(p); }"
	put src/base/line.c "$good
int a; // one"
	put src/base/split.c "$good
	AUTO_FD
	fd = 1;"
	put src/base/blank.c "$good
int a; "
	put src/base/later.c "$good
/* ${unfinished%%|*} */"
	put src/base/manual.h '/* SPDX-License-Identifier: MIT */
#ifndef A'
	put src/base/spdx.c 'int a;'
	put src/base/long.c "$good
$(yes 'int a;' | head -n 599)"
	for folder in base net odd search; do
		(cd "$tree/src/$folder" && for f in *.c; do echo "'$f'"; done >meson.build)
	done
	put src/base/lost.c "$good"
	"$0" "$tree" >"$tree/got"
	status=0
	expected=0
	while IFS= read -r line; do
		expected=$((expected + 1))
		grep -qF -e "$line" "$tree/got" || { echo "not found: $line"; status=1; }
	done <<'T'
src/net/layer.c:3: net may not include tools/tool.h
src/odd/new.c:3: src/odd is no known layer
src/net/call.c:3:int f(void) { return open(""); }   <- only in: src/(workspace|exec|sandbox)/
src/search/at.c:3:int f(void) { return openat(1, ""); }   <- only in: src/(workspace|exec|sandbox)/
src/base/heap.c:3:void f(void) {  free(p); }   <- only in: src/base/(own|buf|arena)
src/base/line.c:3:int a; // one   <- comments
src/base/split.c:3:	AUTO_FD   <- join
src/base/blank.c:3:int a;    <- trailing blanks
src/base/later.c:3:
src/base/manual.h:2: does not begin with a comment
src/base/spdx.c:1: no SPDX line
src/base/long.c: more than 600 lines
src/base/lost.c: is not listed in src/base/meson.build
T
	if [ "$(wc -l <"$tree/got")" -ne "$expected" ]; then
		echo "expected $expected lines, got:"
		cat "$tree/got"
		status=1
	fi
	return $status
}

case ${1:-} in
--self-test)
	self_test
	;;
*)
	cd "${1:-$(dirname "$0")/..}" || exit 2
	lint
	;;
esac
