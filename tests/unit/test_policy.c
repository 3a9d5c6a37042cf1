/* SPDX-License-Identifier: MIT */
/* test_policy: which commands are refused, and which only look as if they should be. */

#include "unit.h"

#include "base/buf.h"
#include "base/own.h"
#include "policy/policy.h"

#define ROOT "/srv/desk"

struct verdict {
	const char *command;
	const char *rule; /* a piece of the refusal's text, or NULL: it passes */
};

#define PRIVILEGE "privilege escalation"
#define REMOVAL	  "removal outside"
#define POWER	  "stopping"
#define DISK	  "formatting a disk"
#define MOUNTS	  "changing what the machine has mounted"
#define RAW	  "raw copying"
#define OPEN	  "to everyone"
#define NETWORK	  "network access"
#define SERVE	  "serving files"
#define DEBUG	  "debugger"
#define UNJUDGED  "cannot be judged"
#define CHAIN	  "one command at a time"

static const struct verdict plain[] = {
	{ "sudo ls", PRIVILEGE },
	{ "sudo", PRIVILEGE },
	{ "  sudo ls", PRIVILEGE },
	{ "\tsudo ls", PRIVILEGE },
	{ "\n\nsudo ls", PRIVILEGE },
	{ "su", PRIVILEGE },
	{ "su - root", PRIVILEGE },
	{ "doas ls", PRIVILEGE },
	{ "/usr/bin/sudo ls", PRIVILEGE },
	{ "/bin/su -c ls", PRIVILEGE },
	{ "./sudo ls", PRIVILEGE },
	{ "../../usr/bin/sudo ls", PRIVILEGE },
	{ "sudo -n true", PRIVILEGE },
	{ "shutdown -h now", POWER },
	{ "reboot", POWER },
	{ "halt", POWER },
	{ "/sbin/poweroff", POWER },
	{ "mount -o remount,rw /", MOUNTS },
	{ "mount | grep x", MOUNTS },
	{ "true && /bin/umount -l /proc", MOUNTS },
	{ "chroot /mnt sh", MOUNTS },
	{ "env chroot . ls", MOUNTS },
	{ "mkfs /dev/sda", DISK },
	{ "mkfs.ext4 /dev/sda1", DISK },
	{ "/sbin/mkfs.xfs x", DISK },
	{ "format c:", DISK },
	{ "dd if=/dev/zero of=x", RAW },
	{ "dd", RAW },
	{ "curl http://x", NETWORK },
	{ "curl", NETWORK },
	{ "wget -q x", NETWORK },
	{ "nc -l 80", NETWORK },
	{ "netcat x 1", NETWORK },
	{ "ncat x 1", NETWORK },
	{ "python -m http.server", SERVE },
	{ "python3 -m http.server 8000", SERVE },
	{ "python3.11 -m http.server", SERVE },
	{ "python3 -mhttp.server", SERVE },
	{ "python3 -um http.server", SERVE },
	{ "/usr/bin/python3 -u -m http.server", SERVE },
	{ "node --inspect app.js", DEBUG },
	{ "node --inspect-brk=0.0.0.0:9229 app.js", DEBUG },
	{ "node --inspect=1 app.js", DEBUG },

	/* names that are only arguments, parts of names, or other names */
	{ "", NULL },
	{ "ls", NULL },
	{ "echo sudo", NULL },
	{ "echo sudo ls", NULL },
	{ "grep -r curl .", NULL },
	{ "grep -rn 'sudo' src", NULL },
	{ "rg wget", NULL },
	{ "man sudo", NULL },
	{ "which curl", NULL },
	{ "type sudo", NULL },
	{ "command -v sudo", NULL },
	{ "command -V curl", NULL },
	{ "hash dd", NULL },
	{ "apt-get install -y curl wget", NULL },
	{ "brew install netcat", NULL },
	{ "npm run format", NULL },
	{ "npm run format -- --check", NULL },
	{ "make format", NULL },
	{ "cargo fmt", NULL },
	{ "./format.sh", NULL },
	{ "scripts/format", NULL },
	{ "./node_modules/.bin/format x", NULL },
	{ "clang-format -i a.c", NULL },
	{ "git format-patch -1", NULL },
	{ "git log --format=%h", NULL },
	{ "sudoku", NULL },
	{ "suspend", NULL },
	{ "sum file", NULL },
	{ "add dd", NULL },
	{ "ddrescue a b", NULL },
	{ "mk fs", NULL },
	{ "cat mkfs.c", NULL },
	{ "cat /proc/self/mounts; mountpoint -q /tmp; findmnt; mount --version", NULL },
	{ "rebooter", NULL },
	{ "git commit -m \"rm -rf /\"", NULL },
	{ "git commit -m 'use sudo; reboot'", NULL },
	{ "git commit -m \"fix: call curl && wget\"", NULL },
	{ "python -m pytest", NULL },
	{ "python -m http.client", NULL },
	{ "python3 server.py", NULL },
	{ "python -c 'import http.server'", NULL },
	{ "node app.js", NULL },
	{ "node --version", NULL },
	{ "node -e 'console.log(1)'", NULL },
	{ "npx prettier --write .", NULL },
	{ "ssh host sudo ls", NULL },
	{ "docker run alpine", NULL },
	{ "curl-config --libs", NULL },
	{ "libcurl", NULL },
	{ "ls sudo su doas dd", NULL },
	{ "vim /etc/sudoers", NULL },
	{ "cat sudo", NULL },
	{ "touch curl", NULL },
	{ "test -x /usr/bin/sudo", NULL },
	{ "[ -x /usr/bin/sudo ]", NULL },
	{ "[[ -x /usr/bin/sudo ]]", NULL },
	{ "printf '%s\\n' sudo", NULL },
	{ "export PATH=/sudo:$PATH", NULL },
	{ "SUDO=sudo make", NULL },
	{ "X=curl", NULL },
	{ "alias s=sudo", NULL },
	{ "unset sudo", NULL },
	{ ". ./env.sh", NULL },
	{ "source venv/bin/activate", NULL },
};

static const struct verdict removal[] = {
	{ "rm -rf /", REMOVAL },
	{ "rm -fr /", REMOVAL },
	{ "rm -r -f /", REMOVAL },
	{ "rm -f -r /etc", REMOVAL },
	{ "rm -Rf /etc", REMOVAL },
	{ "rm -rfv /etc", REMOVAL },
	{ "rm -vrf /etc", REMOVAL },
	{ "rm --recursive --force /etc", REMOVAL },
	{ "rm --rec --fo /etc", REMOVAL },
	{ "rm -r --force /etc", REMOVAL },
	{ "rm /etc -rf", REMOVAL },
	{ "rm a /etc -r b -f", REMOVAL },
	{ "rm -rf -- /etc", REMOVAL },
	{ "rm -rf a b /etc", REMOVAL },
	{ "rm -rf /*", REMOVAL },
	{ "rm -rf /srv", REMOVAL },
	{ "rm -rf /srv/", REMOVAL },
	{ "rm -rf /srv/deskshop", REMOVAL },
	{ "rm -rf /srv/desk/..", REMOVAL },
	{ "rm -rf /srv/desk/../other", REMOVAL },
	{ "rm -rf /srv/desk/a/../../../etc", REMOVAL },
	{ "rm -rf //etc", REMOVAL },
	{ "rm -rf ~", REMOVAL },
	{ "rm -rf ~/x", REMOVAL },
	{ "rm -rf ~user/x", REMOVAL },
	{ "rm -rf $HOME", REMOVAL },
	{ "rm -rf $HOME/x", REMOVAL },
	{ "rm -rf \"$HOME\"", REMOVAL },
	{ "rm -rf \"$HOME\"/x", REMOVAL },
	{ "rm -rf \"$HOME/x\"", REMOVAL },
	{ "rm -rf ${HOME}/x", REMOVAL },
	{ "rm -rf \"${HOME:?}\"/x", REMOVAL },
	{ "rm -rf /$X", REMOVAL },
	{ "rm -rf \"/etc\"", REMOVAL },
	{ "rm -rf '/etc'", REMOVAL },
	{ "rm -r\"f\" /etc", REMOVAL },
	{ "rm -rf --no-preserve-root /", REMOVAL },
	{ "/bin/rm -rf /etc", REMOVAL },
	{ "\\rm -rf /etc", REMOVAL },
	{ "cd / && rm -rf /etc", REMOVAL },
	{ "bash -c \"rm -rf $HOME/x\"", REMOVAL },
	{ "xargs rm -rf <<< /etc", REMOVAL },
	{ "find . -name x -exec rm -rf /etc {} +", REMOVAL },

	{ "rm -rf build", NULL },
	{ "rm -rf {a,/etc}", NULL },
	{ "echo /etc | xargs rm -rf", NULL },
	{ "rm -rf ./build dist", NULL },
	{ "rm -rf *", NULL },
	{ "rm -rf node_modules/", NULL },
	{ "rm -rf /srv/desk/build", NULL },
	{ "rm -rf /srv/desk", NULL },
	{ "rm -rf /srv//desk/./a/../b", NULL },
	{ "rm -rf /srv/../srv/desk/x", NULL },
	{ "rm -rf $DIR", NULL },
	{ "rm -rf \"$DIR/x\"", NULL },
	{ "rm -rf $HOMEDIR/x", NULL },
	{ "rm -rf \"$(pwd)/x\"", NULL },
	{ "rm -rf a~", NULL },
	{ "rm -rf a/$HOME", NULL },
	{ "rm -r /etc/x", NULL },
	{ "rm -f /etc/x", NULL },
	{ "rm /etc/x", NULL },
	{ "rm -- -rf /etc", NULL },
	{ "rm -f -- -r /etc", NULL },
	{ "rmdir /etc/x", NULL },
	{ "echo rm -rf /", NULL },
	{ "ls -rf /etc", NULL },
	{ "git rm -rf /etc", NULL },
	{ "find . -exec rm -rf {} +", NULL },

	{ "chmod 777 /etc", OPEN },
	{ "chmod -R 777 /", OPEN },
	{ "chmod 0777 /etc/x", OPEN },
	{ "chmod 1777 /etc/x", OPEN },
	{ "chmod a+rwx /etc/x", OPEN },
	{ "chmod ugo+rwx /etc/x", OPEN },
	{ "chmod a=rwx /etc/x", OPEN },
	{ "chmod 777 -R /etc", OPEN },
	{ "chmod 777 ~/x", OPEN },
	{ "chmod --recursive 777 /etc", OPEN },
	{ "chmod 777 x", NULL },
	{ "chmod -R 777 /srv/desk/x", NULL },
	{ "chmod 755 /etc/x", NULL },
	{ "chmod 644 /etc/x777", NULL },
	{ "chmod +x run.sh", NULL },
	{ "chmod a+x /etc/x", NULL },
};

static const struct verdict syntax[] = {
	{ "ls; sudo ls", PRIVILEGE },
	{ "ls;sudo ls", PRIVILEGE },
	{ "ls && sudo ls", PRIVILEGE },
	{ "ls||sudo ls", PRIVILEGE },
	{ "ls | sudo tee x", PRIVILEGE },
	{ "ls |& sudo tee x", PRIVILEGE },
	{ "ls & sudo ls", PRIVILEGE },
	{ "ls\nsudo ls", PRIVILEGE },
	{ "ls &\\\n& sudo ls", PRIVILEGE },
	{ "su\\\ndo ls", PRIVILEGE },
	{ "s\"u\"do ls", PRIVILEGE },
	{ "'sudo' ls", PRIVILEGE },
	{ "\"sudo\" ls", PRIVILEGE },
	{ "\\sudo ls", PRIVILEGE },
	{ "s\\udo ls", PRIVILEGE },
	{ "$'sudo' ls", PRIVILEGE },
	{ "$'\\x73udo' ls", PRIVILEGE },
	{ "$'\\163\\165do' ls", PRIVILEGE },
	{ "$'\\u0073udo' ls", PRIVILEGE },
	{ "$\"sudo\" ls", PRIVILEGE },
	{ "''sudo ls", PRIVILEGE },
	{ "A=1 sudo ls", PRIVILEGE },
	{ "A=1 B='x y' sudo ls", PRIVILEGE },
	{ "A+=1 sudo ls", PRIVILEGE },
	{ "a[1]=2 sudo ls", PRIVILEGE },
	{ "a[1 << 2]=3; sudo ls", PRIVILEGE },
	{ "a[1 << 2]=3\nsudo ls", PRIVILEGE },
	{ "declare a[1<<2]=3\nsudo ls", PRIVILEGE },
	{ "a=(1 2) ; sudo ls", PRIVILEGE },
	{ "a=(1 # x)\n2) ; sudo ls", PRIVILEGE },
	{ "a=($(sudo ls))", PRIVILEGE },
	{ "A=$(sudo ls)", PRIVILEGE },
	{ ">x sudo ls", PRIVILEGE },
	{ "<x sudo ls", PRIVILEGE },
	{ "2>&1 sudo ls", PRIVILEGE },
	{ "2>x sudo ls", PRIVILEGE },
	{ "&>x sudo ls", PRIVILEGE },
	{ "&>>x sudo ls", PRIVILEGE },
	{ ">|x sudo ls", PRIVILEGE },
	{ "<>x sudo ls", PRIVILEGE },
	{ "{fd}>x sudo ls", PRIVILEGE },
	{ "<<<x sudo ls", PRIVILEGE },
	{ "echo x >&2; sudo ls", PRIVILEGE },
	{ "echo $(sudo ls)", PRIVILEGE },
	{ "echo \"$(sudo ls)\"", PRIVILEGE },
	{ "echo `sudo ls`", PRIVILEGE },
	{ "echo \"`sudo ls`\"", PRIVILEGE },
	{ "echo `echo \\`sudo ls\\``", PRIVILEGE },
	{ "echo \"`echo \\\"\\`sudo ls\\`\\\"`\"", PRIVILEGE },
	{ "echo $(echo $(sudo ls))", PRIVILEGE },
	{ "echo $\\\n(sudo ls)", PRIVILEGE },
	{ "echo $(case x in x) sudo ls;; esac)", PRIVILEGE },
	{ "echo $(echo ')'; sudo ls)", PRIVILEGE },
	{ "echo $(echo # )\nsudo ls)", PRIVILEGE },
	{ "echo $((1 + $(sudo ls)))", PRIVILEGE },
	{ "echo $((1 + `sudo ls`))", PRIVILEGE },
	{ "echo $(( '$(sudo ls)' ))", PRIVILEGE },
	{ "echo $((sudo ls) )", PRIVILEGE },
	{ "echo $[1 + $(sudo ls)]", PRIVILEGE },
	{ "echo $[1 << 2]\nsudo ls", PRIVILEGE },
	{ "echo ${x:-$(sudo ls)}", PRIVILEGE },
	{ "echo \"${x:-$(sudo ls)}\"", PRIVILEGE },
	{ "echo \"${x:-'$(sudo ls)'}\"", PRIVILEGE },
	{ "echo ${x:-`sudo ls`}", PRIVILEGE },
	{ "echo ${x:-${y:-$(sudo ls)}}", PRIVILEGE },
	{ "echo ${x:-<(sudo ls)}", PRIVILEGE },
	{ "echo ${x:-'}'}; sudo ls", PRIVILEGE },
	{ "echo \"${x:-\"}\"}\"; sudo ls", PRIVILEGE },
	{ "echo ${x[$(sudo ls)]}", PRIVILEGE },
	{ "echo ${ sudo ls; }", PRIVILEGE },
	{ "cat <(sudo ls)", PRIVILEGE },
	{ "tee >(sudo tee x)", PRIVILEGE },
	{ "cat < <(sudo ls)", PRIVILEGE },
	{ "(sudo ls)", PRIVILEGE },
	{ "( ( sudo ls ) )", PRIVILEGE },
	{ "((echo a); sudo ls)", PRIVILEGE },
	{ "((1 + $(sudo ls)))", PRIVILEGE },
	{ "((x = 1 << 2))\nsudo ls", PRIVILEGE },
	{ "{ sudo ls; }", PRIVILEGE },
	{ "if sudo ls; then echo; fi", PRIVILEGE },
	{ "if true; then sudo ls; fi", PRIVILEGE },
	{ "if true; then :; elif sudo ls; then :; fi", PRIVILEGE },
	{ "if true; then :; else sudo ls; fi", PRIVILEGE },
	{ "while sudo ls; do :; done", PRIVILEGE },
	{ "until false; do sudo ls; done", PRIVILEGE },
	{ "for x in a b; do sudo $x; done", PRIVILEGE },
	{ "for x do sudo ls; done", PRIVILEGE },
	{ "for x\nin a\ndo sudo ls; done", PRIVILEGE },
	{ "for ((i=0;i<3;i++)); do sudo ls; done", PRIVILEGE },
	{ "for ((i=0;i<1<<3;i++)) { sudo ls; }", PRIVILEGE },
	{ "for x in $(sudo ls); do :; done", PRIVILEGE },
	{ "select x in a; do sudo ls; done", PRIVILEGE },
	{ "case x in x) sudo ls;; esac", PRIVILEGE },
	{ "case x in a|b) :;; (x) sudo ls;; esac", PRIVILEGE },
	{ "case x in x) :;& y) sudo ls;;& esac", PRIVILEGE },
	{ "case x in x) ls; esac; sudo ls", PRIVILEGE },
	{ "case $(sudo ls) in x) :;; esac", PRIVILEGE },
	{ "case x in @(x|y)) sudo ls;; esac", PRIVILEGE },
	{ "case esac in (esac) sudo ls;; esac", PRIVILEGE },
	{ ">f case a in\nsudo ls", PRIVILEGE },
	{ "f() { sudo ls; }", PRIVILEGE },
	{ "f () ( sudo ls )", PRIVILEGE },
	{ "function f { sudo ls; }", PRIVILEGE },
	{ "function f () { sudo ls; }", PRIVILEGE },
	{ "! sudo ls", PRIVILEGE },
	{ "!(sudo ls)", PRIVILEGE },
	{ "time sudo ls", PRIVILEGE },
	{ "time -p sudo ls", PRIVILEGE },
	{ "time -p { sudo ls; }", PRIVILEGE },
	{ "coproc sudo ls", PRIVILEGE },
	{ "coproc X { sudo ls; }", PRIVILEGE },
	{ "[[ -n $(sudo ls) ]]", PRIVILEGE },
	{ "[[ a < b ]] && sudo ls", PRIVILEGE },
	{ "[[ a =~ ^(x|y)$ ]]; sudo ls", PRIVILEGE },
	{ "[[ a == b # it's\n]]; sudo ls #'", PRIVILEGE },
	{ "$EMPTY sudo ls", PRIVILEGE },
	{ "$(true) sudo ls", PRIVILEGE },
	{ "\"$X\" sudo ls", NULL },
	{ "echo {a,$(sudo ls)}", PRIVILEGE },
	{ "ls # comment\nsudo ls", PRIVILEGE },
	{ "ls #'\nsudo ls #'", PRIVILEGE },
	{ "echo a#b; sudo ls", PRIVILEGE },
	{ "echo 'it''s'; sudo ls", PRIVILEGE },
	{ "echo \\'; sudo ls; echo \\'", PRIVILEGE },
	{ "echo \"\\\"\"; sudo ls; echo \"\\\"\"", PRIVILEGE },
	{ "echo $'\\''; sudo ls; echo $'\\''", PRIVILEGE },
	{ "echo \"$'\"; sudo ls; echo \"'\"", PRIVILEGE },
	{ "echo $; sudo ls", PRIVILEGE },
	{ "echo $'a\nb'; sudo ls", PRIVILEGE },

	{ "ls # sudo ls", NULL },
	{ "# sudo ls", NULL },
	{ "echo 'a; sudo ls'", NULL },
	{ "echo \"a; sudo ls\"", NULL },
	{ "echo '$(sudo ls)'", NULL },
	{ "echo '`sudo ls`'", NULL },
	{ "echo \"\\$(sudo ls)\"", NULL },
	{ "echo \\`sudo ls\\`", NULL },
	{ "echo a\\;sudo", NULL },
	{ "echo a\\\nsudo", NULL },
	{ "for x in sudo su curl; do echo $x; done", NULL },
	{ "case sudo in sudo) echo;; curl|wget) echo;; esac", NULL },
	{ "a=(sudo curl dd)", NULL },
	{ "sudo() { :; }", NULL },
	{ "function curl { :; }", NULL },
	{ "echo {sudo,curl}", NULL },
	{ "{sudo,ls}", NULL },
	{ "echo {1..3}", NULL },
	{ "echo ${sudo}", NULL },
	{ "echo ${x:-sudo}", NULL },
	{ "echo $((dd + su))", NULL },
	{ "((su = dd))", NULL },
	{ "echo > sudo", NULL },
	{ "echo >sudo ls", NULL },
	{ "ls 2>/dev/null >curl", NULL },

	/* what bash would not parse, or reads in an odd way */
	{ "for ; do sudo ls; done", PRIVILEGE },
	{ "case x in & sudo ls", PRIVILEGE },
	{ "[[ a == b", NULL },
	{ "function f (sudo ls)", PRIVILEGE },
	{ "echo > ; sudo ls", PRIVILEGE },
	{ "echo $(( \"a\\\"b\" )); sudo ls", PRIVILEGE },
	{ "echo $(( \\) )); sudo ls", PRIVILEGE },
	{ "echo $((1) 2); sudo ls", PRIVILEGE },
	{ "echo $(( (1) + 2) 3); sudo ls", PRIVILEGE },
	{ "((1) 2); sudo ls", PRIVILEGE },
	{ "echo `echo \\a; sudo ls`", PRIVILEGE },
	{ "echo \"`echo \\a \\\"b\\\"; sudo ls`\"", PRIVILEGE },
	{ "./a[0]=x; sudo ls", PRIVILEGE },
	{ "./a-b[0] sudo; sudo ls", PRIVILEGE },
	{ "a=(x > y); sudo ls", PRIVILEGE },
	{ "eval", NULL },
	{ "eval; sudo ls", PRIVILEGE },
	{ "watch", NULL },
	{ "echo \"$(cat <<E\nx\\\nE)\nE\n)\"; sudo ls", PRIVILEGE },
	{ "[[ $x == sudo || $x == curl ]]", NULL },
	{ "[[ sudo == x ]]", NULL },
	{ "ls !(sudo)", NULL },
	{ "echo fi; echo done", NULL },
	{ "$SUDO ls", NULL },
	{ "${X}do ls", NULL },
	{ "echo 'unterminated sudo", NULL },
	{ "echo \"unterminated; sudo", NULL },
	{ "awk '{ print $1; sudo }' file", NULL },
	{ "jq '.a | curl' x.json", NULL },
	{ "sed -e 's/;sudo/x/' f", NULL },
};

static const struct verdict documents[] = {
	{ "cat <<EOF\nsudo ls\nEOF", NULL },
	{ "cat <<EOF\nsudo ls\nEOF\nsudo ls", PRIVILEGE },
	{ "cat <<'EOF'\n$(sudo ls)\nEOF", NULL },
	{ "cat <<\"EOF\"\n$(sudo ls)\nEOF", NULL },
	{ "cat <<\\EOF\n`sudo ls`\nEOF", NULL },
	{ "cat <<EOF\n$(sudo ls)\nEOF", PRIVILEGE },
	{ "cat <<EOF\n`sudo ls`\nEOF", PRIVILEGE },
	{ "cat <<EOF\n\"$(sudo ls)'\nEOF", PRIVILEGE },
	{ "cat <<EOF\n\\$(sudo ls)\nEOF", NULL },
	{ "cat <<EOF\n${x:-$(sudo ls)}\nEOF", PRIVILEGE },
	{ "cat <<-EOF\n\tx\n\tEOF\nsudo ls", PRIVILEGE },
	{ "cat <<EOF\n\tEOF\nsudo ls\nEOF", NULL },
	{ "cat <<EOF; sudo ls\nx\nEOF", PRIVILEGE },
	{ "cat <<A <<B\nx\nA\nsudo\nB\nls", NULL },
	{ "cat <<A <<B\nx\nA\ny\nB\nsudo ls", PRIVILEGE },
	{ "cat <<A; cat <<B\nsudo\nA\nsudo\nB", NULL },
	{ "cat << EOF > sudo\nsudo ls\nEOF", NULL },
	{ "cat > x.sh <<'EOF'\n#!/bin/sh\nsudo ls\nEOF\nchmod +x x.sh", NULL },
	{ "cat <<$'\\x45'\nfoo\nE\nsudo ls", PRIVILEGE },
	{ "cat <<\"$X\"\nfoo\n$X\nsudo ls", PRIVILEGE },
	{ "cat <<$X\nfoo\n$X\nsudo ls", PRIVILEGE },
	{ "cat <<E\nfoo\nE\\\n\nsudo ls", PRIVILEGE },
	{ "cat <<E\nfoo\\\nE\nsudo ls\nE", NULL },
	{ "cat <<'E'\nfoo\\\nE\nsudo ls", PRIVILEGE },
	{ "cat <<EOF\nsudo never ends", NULL },
	{ "cat <<''\nx\n\nsudo ls", PRIVILEGE },
	{ "(cat <<E)\nfoo\nE\nsudo ls", PRIVILEGE },
	{ "x=$(cat <<E\nfoo\nE\n)\nsudo ls", PRIVILEGE },
	{ "x=$(cat <<E\nfoo\nE)\nsudo ls", PRIVILEGE },
	{ "x=$(cat <<E\nsudo\nE\n)", NULL },
	{ "x=$(cat <<E)\nfoo\nE\n", UNJUDGED },
	{ "cat <<A $(echo\necho z)\nsudo\nA\n", NULL },
	{ "bash <<EOF\nsudo ls\nEOF", PRIVILEGE },
	{ "bash <<'EOF'\nls\nsudo ls\nEOF", PRIVILEGE },
	{ "bash -s <<EOF\nsudo ls\nEOF", PRIVILEGE },
	{ "sh -s -- a b <<EOF\nsudo ls\nEOF", PRIVILEGE },
	{ "bash -x <<-EOF\n\tsudo ls\n\tEOF", PRIVILEGE },
	{ "bash script.sh <<EOF\nsudo ls\nEOF", NULL },
	{ "bash /dev/stdin <<EOF\nsudo ls\nEOF", PRIVILEGE },
	{ "source /dev/stdin <<EOF\nsudo ls\nEOF", PRIVILEGE },
	{ "timeout 5 bash <<EOF\nsudo ls\nEOF", PRIVILEGE },
	{ "bash <<< 'sudo ls'", PRIVILEGE },
	{ "cat <<< 'sudo ls'", NULL },
	{ "python3 <<EOF\nsudo = 1\nEOF", NULL },
	{ "python3 - <<'EOF'\nimport os\nEOF", NULL },
	{ "bash <<\\EOF\nsudo ls\nEOF", PRIVILEGE },
	{ "bash <<E\\OF\nsudo ls\nEOF", PRIVILEGE },
	{ "cat x | bash <<EOF\nsudo ls\nEOF", PRIVILEGE },
	{ "cat <<EOF | grep x\nsudo ls\nEOF", NULL },
	{ "cat <<EOF | bash\nsudo ls\nEOF", NULL },
	{ "echo 'sudo ls' | sh", NULL },
	{ "echo 'sudo ls' | cat", NULL },
	{ "echo 'sudo ls' | sh script.sh", NULL },
	{ "echo sudo; sh x.sh", NULL },
};

static const struct verdict wrappers[] = {
	{ "env sudo ls", PRIVILEGE },
	{ "env A=1 B=2 sudo ls", PRIVILEGE },
	{ "env -i sudo ls", PRIVILEGE },
	{ "env - sudo ls", PRIVILEGE },
	{ "env -u HOME sudo ls", PRIVILEGE },
	{ "env -uHOME sudo ls", PRIVILEGE },
	{ "env --unset HOME sudo ls", PRIVILEGE },
	{ "env --unset=HOME sudo ls", PRIVILEGE },
	{ "env -C /tmp sudo ls", PRIVILEGE },
	{ "env -S 'sudo ls'", PRIVILEGE },
	{ "env -S'sudo ls'", PRIVILEGE },
	{ "env --split-string='A=1 sudo' ls", PRIVILEGE },
	{ "env -iS 'A=1' sudo ls", PRIVILEGE },
	{ "env $OPTS sudo ls", PRIVILEGE },
	{ "/usr/bin/env sudo ls", PRIVILEGE },
	{ "nohup sudo ls &", PRIVILEGE },
	{ "command sudo ls", PRIVILEGE },
	{ "command -p sudo ls", PRIVILEGE },
	{ "builtin command sudo ls", PRIVILEGE },
	{ "exec sudo ls", PRIVILEGE },
	{ "exec -a x sudo ls", PRIVILEGE },
	{ "exec -cl sudo ls", PRIVILEGE },
	{ "/usr/bin/time -f %e sudo ls", PRIVILEGE },
	{ "timeout 5 sudo ls", PRIVILEGE },
	{ "timeout -s KILL 5 sudo ls", PRIVILEGE },
	{ "timeout -k 1 --signal=TERM 5s sudo ls", PRIVILEGE },
	{ "timeout --foreground 5 sudo ls", PRIVILEGE },
	{ "timeout $T sudo ls", PRIVILEGE },
	{ "nice sudo ls", PRIVILEGE },
	{ "nice -n 5 sudo ls", PRIVILEGE },
	{ "nice -10 sudo ls", PRIVILEGE },
	{ "ionice -c 3 sudo ls", PRIVILEGE },
	{ "ionice -c3 sudo ls", PRIVILEGE },
	{ "chrt -b 0 sudo ls", PRIVILEGE },
	{ "taskset 1 sudo ls", PRIVILEGE },
	{ "taskset -c 0-3 sudo ls", PRIVILEGE },
	{ "stdbuf -oL sudo ls", PRIVILEGE },
	{ "stdbuf -o L -e 0 sudo ls", PRIVILEGE },
	{ "setsid -f sudo ls", PRIVILEGE },
	{ "strace -f -o x sudo ls", PRIVILEGE },
	{ "busybox wget x", NETWORK },
	{ "busybox sh -c 'sudo ls'", PRIVILEGE },
	{ "toybox nc x", NETWORK },
	{ "eval sudo ls", PRIVILEGE },
	{ "eval 'sudo ls'", PRIVILEGE },
	{ "eval 'echo a;' sudo ls", PRIVILEGE },
	{ "eval \"$(echo x)\"; curl x", NETWORK },
	{ "xargs sudo", PRIVILEGE },
	{ "ls | xargs -n 1 sudo", PRIVILEGE },
	{ "ls | xargs -n1 -P 4 sudo", PRIVILEGE },
	{ "ls | xargs -I{} sudo {}", PRIVILEGE },
	{ "ls | xargs -I {} sh -c 'sudo {}'", PRIVILEGE },
	{ "ls | xargs -0 -r --max-args=1 curl", NETWORK },
	{ "ls | xargs --max-args 1 curl", NETWORK },
	{ "find . -exec sudo ls {} \\;", PRIVILEGE },
	{ "find . -exec sudo ls {} +", PRIVILEGE },
	{ "find . -exec ls {} \\; -exec sudo ls ';'", PRIVILEGE },
	{ "find . -execdir curl {} +", NETWORK },
	{ "find . -ok sudo ls {} \\;", PRIVILEGE },
	{ "find . -exec sh -c 'sudo \"$1\"' _ {} \\;", PRIVILEGE },
	{ "fd -x sudo ls", PRIVILEGE },
	{ "parallel sudo ::: a b", PRIVILEGE },
	{ "parallel -j 4 'sudo {}' ::: a", PRIVILEGE },
	{ "parallel ::: 'ls' 'sudo ls'", PRIVILEGE },
	{ "watch -n 1 sudo ls", PRIVILEGE },
	{ "watch 'ls; sudo ls'", PRIVILEGE },
	{ "script -c 'sudo ls' x", PRIVILEGE },
	{ "script -qc 'sudo ls' x", PRIVILEGE },
	{ "script x -c 'sudo ls'", PRIVILEGE },
	{ "flock x sudo ls", PRIVILEGE },
	{ "flock -n x -c 'sudo ls'", PRIVILEGE },
	{ "flock -w 5 x sudo ls", PRIVILEGE },
	{ "trap 'sudo ls' EXIT", PRIVILEGE },
	{ "trap -- 'sudo ls' EXIT", PRIVILEGE },
	{ "bash -c 'sudo ls'", PRIVILEGE },
	{ "sh -c 'sudo ls'", PRIVILEGE },
	{ "/bin/sh -c 'sudo ls'", PRIVILEGE },
	{ "dash -c sudo", PRIVILEGE },
	{ "zsh -c 'ls; sudo ls'", PRIVILEGE },
	{ "bash -lc 'sudo ls'", PRIVILEGE },
	{ "bash -ec 'sudo ls'", PRIVILEGE },
	{ "bash -e -c 'sudo ls'", PRIVILEGE },
	{ "bash -c -e 'sudo ls'", PRIVILEGE },
	{ "bash -o pipefail -c 'sudo ls'", PRIVILEGE },
	{ "bash -euo pipefail -c 'sudo ls'", PRIVILEGE },
	{ "bash -O extglob -c 'sudo ls'", PRIVILEGE },
	{ "bash --norc -c 'sudo ls'", PRIVILEGE },
	{ "bash --rcfile x -c 'sudo ls'", PRIVILEGE },
	{ "bash -c -- 'sudo ls'", PRIVILEGE },
	{ "bash -c 'bash -c \"sudo ls\"'", PRIVILEGE },
	{ "bash -c $'ls\\nsudo ls'", PRIVILEGE },
	{ "bash -c \"ls && sudo $X\"", PRIVILEGE },
	{ "env A=1 nohup timeout 5 nice bash -c 'exec sudo ls'", PRIVILEGE },

	{ "env", NULL },
	{ "env A=sudo ls", NULL },
	{ "env -u sudo ls", NULL },
	{ "exec 3>sudo", NULL },
	{ "exec -a sudo ls", NULL },
	{ "timeout 5 ls sudo", NULL },
	{ "nice -n 5 grep curl x", NULL },
	{ "bash sudo.sh", NULL },
	{ "bash ./x.sh curl", NULL },
	{ "bash -c 'echo sudo'", NULL },
	{ "bash -c 'echo \"$1\"' sudo curl", NULL },
	{ "bash -n script.sh", NULL },
	{ "bash -c \"$CMD\"", NULL },
	{ "eval echo sudo", NULL },
	{ "xargs grep curl", NULL },
	{ "xargs -I curl echo curl", NULL },
	{ "echo sudo | xargs", NULL },
	{ "echo curl | xargs which", NULL },
	{ "find . -name sudo", NULL },
	{ "find . -name curl -exec ls {} +", NULL },
	{ "find . -exec grep -l sudo {} \\; -print", NULL },
	{ "parallel echo ::: sudo curl", NULL },
	{ "watch -n 1 ls sudo", NULL },
	{ "trap - EXIT", NULL },
	{ "trap", NULL },
	{ "trap 'rm -rf \"$tmp\"' EXIT", NULL },
	{ "busybox ls curl", NULL },
	{ "flock x ls sudo", NULL },
	{ "time make", NULL },
	{ "set -euo pipefail; make -j2 && ./a.out", NULL },
};

static const struct verdict strict[] = {
	{ "ls", NULL },
	{ "ls -l > x 2>&1", NULL },
	{ "ls\n", NULL },
	{ "\nls", NULL },
	{ "# note\nls", NULL },
	{ "cat <<EOF\na\nb\nEOF\n", NULL },
	{ "A=1 ls", NULL },
	{ "echo 'a; b && c'", NULL },
	{ "echo $X ${Y:-z} $((1+1))", NULL },
	{ "! ls", NULL },
	{ "env A=1 timeout 5 ls", NULL },
	{ "bash -c 'ls'", NULL },
	{ "find . -exec ls {} \\;", NULL },
	{ "ls; ls", CHAIN },
	{ "ls;", CHAIN },
	{ "ls && ls", CHAIN },
	{ "ls || ls", CHAIN },
	{ "ls | cat", CHAIN },
	{ "ls |& cat", CHAIN },
	{ "ls &", CHAIN },
	{ "ls\nls", CHAIN },
	{ "ls\n\n\n ls", CHAIN },
	{ "cat <<EOF\na\nEOF\nls", CHAIN },
	{ "echo $(ls)", CHAIN },
	{ "echo `ls`", CHAIN },
	{ "echo \"$(ls)\"", CHAIN },
	{ "cat <(ls)", CHAIN },
	{ "(ls)", CHAIN },
	{ "{ ls; }", CHAIN },
	{ "if ls; then ls; fi", CHAIN },
	{ "case x in x) ls;; esac", CHAIN },
	{ "f() { ls; }", CHAIN },
	{ "bash -c 'ls; ls'", CHAIN },
	{ "eval 'ls | cat'", CHAIN },
	{ "sudo ls", PRIVILEGE },
	{ "ls; sudo ls", PRIVILEGE },
};

static struct policy *make(enum policy_mode mode, const char *rules)
{
	struct err e = { ERR_NONE };
	struct policy *p = policy_new(
		&(struct policy_options){ .mode = mode, .root = STR(ROOT), .rules = str_of(rules) },
		&e);

	if (!p)
		fail_msg("policy_new: %s", e.msg);
	return p;
}

/* Judge a copy that ends where memory ends. */
static void expect(const struct policy *p, const struct verdict *v)
{
	struct err e = { ERR_NONE };
	const struct str command = guarded(str_of(v->command));
	const int got = policy_check(p, command, false, &e);

	guarded_free(command);
	if (!v->rule && got != 0)
		fail_msg("<%s> is refused: %s", v->command, e.msg);
	if (v->rule && got != -1)
		fail_msg("<%s> passes, want %s", v->command, v->rule);
	if (!v->rule)
		return;
	assert_int_equal(e.code, ERR_COMMAND_BLOCKED);
	if (!strstr(e.msg, v->rule))
		fail_msg("<%s>: \"%s\" lacks \"%s\"", v->command, e.msg, v->rule);
}

static void expect_all(enum policy_mode mode, const struct verdict *v, size_t n)
{
	struct policy *p = make(mode, "");

	for (size_t i = 0; i < n; i++)
		expect(p, &v[i]);
	policy_free(p);
}

static void names_are_judged_where_they_are_commands(void **state)
{
	(void)state;
	expect_all(POLICY_DEFAULT, plain, ARRAY_LEN(plain));
}

static void removal_is_judged_by_options_and_operands(void **state)
{
	(void)state;
	expect_all(POLICY_DEFAULT, removal, ARRAY_LEN(removal));
}

static void syntax_hides_nothing(void **state)
{
	(void)state;
	expect_all(POLICY_DEFAULT, syntax, ARRAY_LEN(syntax));
}

static void documents_are_data_unless_a_shell_reads_them(void **state)
{
	(void)state;
	expect_all(POLICY_DEFAULT, documents, ARRAY_LEN(documents));
}

static void wrappers_are_looked_through(void **state)
{
	(void)state;
	expect_all(POLICY_DEFAULT, wrappers, ARRAY_LEN(wrappers));
}

static void strict_refuses_chaining(void **state)
{
	(void)state;
	expect_all(POLICY_STRICT, strict, ARRAY_LEN(strict));
}

static void off_lets_everything_pass(void **state)
{
	struct policy *p = make(POLICY_OFF, "");
	struct err e = { ERR_NONE };
	const struct str argv[] = { STR("sudo") };

	(void)state;
	assert_int_equal(policy_check(p, STR("sudo ls; reboot"), false, &e), 0);
	assert_int_equal(policy_check_argv(p, argv, 1, false, &e), 0);
	policy_free(p);
}

static void refusal_names_word_and_rule(void **state)
{
	struct policy *p = make(POLICY_DEFAULT, "");
	struct err e = { ERR_NONE };

	(void)state;
	assert_int_equal(policy_check(p, STR("ls && /usr/bin/curl x"), false, &e), -1);
	assert_string_equal(err_name(e.code), "COMMAND_BLOCKED");
	assert_non_null(strstr(e.msg, "Command blocked: \"curl\" (rule: network access). "));
	assert_non_null(strstr(e.msg, "The operator can allow it: --command-rules '!curl'."));
	assert_int_equal(policy_check(p, STR("mkfs.ext4 x"), false, &e), -1);
	assert_non_null(strstr(e.msg, "--command-rules '!mkfs*'."));
	policy_free(p);
}

static void what_may_be_written_is_not_outside(void **state)
{
	static const struct {
		const char *command;
		bool refused;
	} cases[] = {
		{ "rm -rf /tmp/x", false },	  { "rm -rf /tmp/a/../b", false },
		{ "chmod 777 /tmp/x", false },	  { "rm -rf /srv/data/x /tmp/y", false },
		{ "rm -rf /tmp/../etc", true },	  { "rm -rf /tmp/x /etc", true },
		{ "rm -rf /srv/database", true }, { "chmod -R 777 /", true },
		{ "rm -rf ~/x", true },		  { "rm -rf " ROOT "/x", false },
	};
	struct policy *p =
		policy_new(&(struct policy_options){ .mode = POLICY_DEFAULT,
						     .root = STR(ROOT),
						     .writable = STR("/tmp::/srv/data") },
			   &(struct err){ 0 });

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = { ERR_NONE };
		assert_int_equal(policy_check(p, str_of(cases[i].command), false, &e),
				 cases[i].refused ? -1 : 0);
	}
	policy_free(p);
}

static void argv_is_one_command(void **state)
{
	static const struct {
		const char *argv[5];
		const char *rule;
	} cases[] = {
		{ { "sudo", "ls" }, PRIVILEGE },
		{ { "/usr/bin/sudo" }, PRIVILEGE },
		{ { "rm", "-rf", "/etc" }, REMOVAL },
		{ { "env", "A=1", "sudo" }, PRIVILEGE },
		{ { "bash", "-c", "ls; sudo ls" }, PRIVILEGE },
		{ { "echo", "; sudo ls" }, NULL },
		{ { "echo", "$(sudo ls)" }, NULL },
		{ { "ls", "|", "sudo" }, NULL },
		{ { "" }, NULL },
		{ { "{sudo,ls}" }, NULL },
	};
	struct policy *p = make(POLICY_STRICT, "");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = { ERR_NONE };
		struct str argv[5];
		size_t n = 0;
		for (; n < 5 && cases[i].argv[n]; n++)
			argv[n] = str_of(cases[i].argv[n]);
		assert_int_equal(policy_check_argv(p, argv, n, false, &e), cases[i].rule ? -1 : 0);
		assert_true(!cases[i].rule || strstr(e.msg, cases[i].rule));
	}
	assert_int_equal(policy_check_argv(p, NULL, 0, false, NULL), 0);
	policy_free(p);
}

static void own_rules_extend_and_replace(void **state)
{
	static const struct {
		const char *rules;
		struct verdict v;
	} cases[] = {
		{ "git push # publish by hand", { "git -C x push", "publish by hand" } },
		{ "git push", { "git -C x push", "rule: git push" } },
		{ "git push", { "git pull", NULL } },
		{ "git push", { "sudo ls", PRIVILEGE } },
		{ "npm|yarn publish*", { "yarn publish", "rule: npm|yarn" } },
		{ "npm|yarn publish*", { "npm publish:all", "npm|yarn" } },
		{ "tar -x @outside", { "tar -vxf a -C /etc", "rule: tar" } },
		{ "tar -x @outside", { "tar -vxf a -C /srv/desk/b", NULL } },
		{ "tar --extract", { "tar --ext", "rule: tar" } },
		{ "x [ab]?", { "x b1", "rule: x" } },
		{ "x [ab]?", { "x c1", NULL } },
		{ "!curl", { "curl x", NULL } },
		{ "!curl", { "wget x", NETWORK } },
		{ "!sudo", { "sudo ls", NULL } },
		{ "!sudo", { "sudo -u root curl x", NETWORK } },
		{ "!python*", { "python -m http.server", NULL } },
		{ "!*\nls", { "sudo x", NULL } },
		{ "!*; ls # no", { "ls x", "rule: no" } },
		{ "\n# comment\n\n  a ; b\n", { "b", "rule: b" } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct policy *p = make(POLICY_DEFAULT, cases[i].rules);
		expect(p, &cases[i].v);
		policy_free(p);
	}
}

static void wrong_rules_are_explained(void **state)
{
	static const struct verdict cases[] = {
		{ "/usr/bin/x", "without its directory" },
		{ "-x", "begin with a command's name" },
		{ "x @inside", "only @outside" },
		{ "!nothing", "no rule for this name" },
		{ "a\nb\n@x", "begin with" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = { ERR_NONE };
		assert_null(
			policy_new(&(struct policy_options){ .mode = POLICY_DEFAULT,
							     .root = STR(ROOT),
							     .rules = str_of(cases[i].command) },
				   &e));
		assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
		assert_non_null(strstr(e.msg, cases[i].rule));
	}
	policy_free(NULL);
}

/* Up to a megabyte of the same piece, then the end. */
static void judge_much(const struct policy *p, const char *piece, const char *last, int want)
{
	AUTO_BUF b = { .max = 2 << 20 };
	struct err e = { ERR_NONE };

	while (b.n + strlen(piece) < LARGE(1 << 20))
		buf_add(&b, str_of(piece));
	buf_add(&b, str_of(last));
	assert_false(b.failed);
	if (policy_check(p, buf_str(&b), false, &e) != want)
		fail_msg("much of <%s>, then <%s>: %s", piece, last, e.msg);
}

static void a_megabyte_is_judged(void **state)
{
	static const char *const pieces[] = {
		"a;",		"a ",		"a\n",
		"x=$(a);",	"echo {a,b}\n", "a|",
		"'a'",		"\\a",		"a && ",
		"[[ a ]];",	"((1));",	"cat|",
		"f(){ };",	"#a\n",		"\"$a\"",
		"cat <<E\nE\n", "a=(b);",	"case a in a) b;; esac;",
		"a[1]=2;",	"$((1)) ",	"`a` ",
		"a]=",		"[a",		"env ",
	};
	struct policy *p = make(POLICY_DEFAULT, "");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pieces) - 1; i++) {
		/* Seeing the last of it is the proof that all of it was read. */
		judge_much(p, pieces[i], "\nsudo ls", -1);
		if (i % 3 == 0)
			judge_much(p, pieces[i], "", 0);
	}
	judge_much(p, "env ", "ls", -1);
	policy_free(p);
}

static void nesting_has_an_end(void **state)
{
	static const char *const pieces[] = {
		"$(",  "(",	"((",  "`\\`", "${x:-", "\"${x:-", "<(",   "a=(", "case x in x) ",
		"{a,", "{a,b}", "$((", "$[",   "@(",	"\"$(",	   "((a) "
	};
	struct policy *p = make(POLICY_DEFAULT, "");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		AUTO_BUF b = { .max = 2 << 20 };
		struct err e = { ERR_NONE };
		while (b.n < LARGE(1 << 20))
			buf_add(&b, str_of(pieces[i]));
		/* Refused or not: it must come back. */
		(void)policy_check(p, buf_str(&b), false, &e);
	}
	judge_much(p, "$(", "sudo", -1);
	policy_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_judged_where_they_are_commands),
		cmocka_unit_test(removal_is_judged_by_options_and_operands),
		cmocka_unit_test(syntax_hides_nothing),
		cmocka_unit_test(documents_are_data_unless_a_shell_reads_them),
		cmocka_unit_test(wrappers_are_looked_through),
		cmocka_unit_test(strict_refuses_chaining),
		cmocka_unit_test(off_lets_everything_pass),
		cmocka_unit_test(refusal_names_word_and_rule),
		cmocka_unit_test(what_may_be_written_is_not_outside),
		cmocka_unit_test(argv_is_one_command),
		cmocka_unit_test(own_rules_extend_and_replace),
		cmocka_unit_test(wrong_rules_are_explained),
		cmocka_unit_test(a_megabyte_is_judged),
		cmocka_unit_test(nesting_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
