"""The command line: what goes in, what comes out, and how it ends."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import harness
from harness import BIN, PATIENCE, ROOT, SandboxTest, SidecarTest, until


def environment(server=None, **more):
    env = harness.environment(XDG_CONFIG_HOME="/proc/nonexistent", **({"SOCKET_PATH": server.socket} if server else {}))
    env.pop("TERM", None)
    return {**env, **more}


def sidecar(*argv, server=None, stdin="", env=None, cwd=None):
    """(exit status, stdout, stderr)."""
    data = stdin if isinstance(stdin, bytes) else stdin.encode()
    done = subprocess.run([BIN, *argv], input=data, capture_output=True, check=False, timeout=PATIENCE, cwd=cwd,
                          env=env or environment(server))
    return done.returncode, done.stdout.decode(), done.stderr.decode()


PATCH = "*** Begin Patch\n*** Update File: r.txt\n@@\n-c b\n+d\n*** Add File: p/q\n+q\n*** End Patch\n"
MAIN = "int main(void)\n{\n\treturn 0;\n}\n"

# argv, stdin, exit status, stdout, a part of stderr
VERBS = [
    (["read", "main.c"], "", 0, MAIN, ""),
    (["read", "-o", "2", "-m", "1", "main.c"], "", 0, "{\n", ""),
    (["read", "main.c:2"], "", 0, "{\n", ""),
    (["read", "main.c:2-3"], "", 0, "{\n\treturn 0;\n", ""),
    (["read", "main.c:4-"], "", 0, "}\n", ""),
    (["read", "main.c:99"], "", 1, "", "main.c:99: the file ends before line 99"),
    (["read", "-o", "99", "main.c"], "", 1, "", "main.c: the file ends before line 99"),
    (["read", "main.c:3-2"], "", 2, "", "main.c:3-2: the last line comes before the first"),
    (["read", "main.c:0"], "", 2, "", "main.c:0: the first line has the number 1"),
    (["read", "main.c:0-2"], "", 2, "", "main.c:0-2: the first line has the number 1"),
    (["read", "main.c:0-"], "", 2, "", "main.c:0-: the first line has the number 1"),
    (["read", "odd:2"], "", 0, "odd\n", ""),
    (["read", "none:2"], "", 1, "", "File not found: none\n"),
    (["read", "main.c:1", "nope", "sub/x.py"], "", 1, "int main(void)\npass\n", "File not found: nope"),
    (["read", "--json", "main.c:1", "sub/x.py"], "", 0, '{"path":"main.c","content":"int main(void)","totalLines":5,"hasMore":true}\n'
     '{"path":"sub/x.py","content":"pass\\n","totalLines":2,"hasMore":false}\n', ""),
    (["read", "-n", "main.c:2-3", "sub/x.py"], "", 0, "     2\t{\n     3\t\treturn 0;\n     1\tpass\n", ""),
    (["read", "blank:1-3"], "", 0, "\n\nx\n", ""),
    (["read", "-n", "blank:1-2"], "", 0, "     1\t\n     2\t\n", ""),
    (["read", "blank:2"], "", 0, "\n", ""),
    (["read", "--offset=2", "--limit=1", "main.c"], "", 0, "{\n", ""),
    (["read", "nope"], "", 1, "", "File not found: nope"),
    (["read", "-q", "nope"], "", 1, "", ""),
    (["read", "../../etc/passwd"], "", 4, "", "outside"),
    (["read", "--json", "nope"], "", 1,
     '{"error":{"code":"FILE_NOT_FOUND","message":"File not found: nope"}}\n', "nope"),
    (["read", "--json", "-m", "1", "main.c"], "", 0,
     '{"content":"int main(void)","totalLines":5,"hasMore":true}\n', ""),
    (["read", "--", "main.c"], "", 0, MAIN, ""),
    (["write", "/w.txt"], "from stdin\n", 0, "", "wrote 11 bytes to w.txt\n"),
    (["read", "w.txt"], "", 0, "from stdin\n", ""),
    (["write", "-q", "w.txt", "--content", ""], "", 0, "", ""),
    (["write", "w.txt", "--content", "a", "--from", "-"], "", 2, "", "cannot be used together"),
    (["write", "--json", "w.txt", "--from", "-"], "abc", 0, None, ""),
    (["edit", "w.txt", "--old", "b", "--new", "B"], "", 0, "-1 abc\n+1 aBc\n", ""),
    (["edit", "w.txt", "--old", "B", "--new-file", "-"], "x\ny", 0, "-1 aBc\n+1 ax\n+2 yc\n", ""),
    (["edit", "w.txt", "--old", "zz", "--new", "y"], "", 1, "", "sidecar: "),
    (["edit", "w.txt", "--old", "zz"], "", 2, "", "missing option --new or --new-file"),
    (["edit", "w.txt", "--old", "a", "--old-file", "-", "--new", "b"], "", 2, "", "give only one of --old and --old-file"),
    (["edit", "w.txt", "--old", "", "--new", "b"], "", 2, "", "the old text is empty"),
    (["write", "-q", "r.txt"], "a b\na b\n", 0, "", ""),
    (["edit", "r.txt", "--old", "a", "--new", "c"], "", 1, "", "Found 2 occurrences"),
    (["edit", "r.txt", "--old", "a", "--new", "c", "--replace-all", "--dry-run"], "", 0, "-1 a b\n-2 a b\n+1 c b\n+2 c b\n",
     "nothing was changed (--dry-run); 2 places would be"),
    (["read", "r.txt:1"], "", 0, "a b\n", ""),
    (["edit", "r.txt", "--old", "a\tb", "--new", "c"], "", 1, "", "the file has spaces there and the old text has tabs"),
    (["edit", "-a", "--json", "r.txt", "--old", "a", "--new", "c"], "", 0,
     '{"path":"r.txt","diff":"-1 a b\\n-2 a b\\n+1 c b\\n+2 c b","replacements":2}\n', ""),
    (["patch", "--dry-run"], PATCH, 0, "modified r.txt, +1 -1\n+1 d\n 1 c b\n-2 c b\ncreated p/q, +1 -0\n+1 q\n",
     "nothing was changed (--dry-run); 2 files would be, +2 -1"),
    (["patch", "-"], PATCH, 0, None, "patched 2 files, +2 -1"),
    (["patch", "-q", "--format", "v4a"], PATCH.replace("-c b", "-d").replace("+d", "+ c b"), 0, None, ""),
    (["patch", "-n"], PATCH.replace("-c b", "-cb"), 1, "", "r.txt: hunk 1 of 1"),
    (["patch", "--json", "-p", "3"], "--- x/y/z/p/q\n+++ x/y/z/p/q\n@@ -1 +0,0 @@\n-q\n", 0,
     '{"files":[{"path":"p/q","kind":"modified","added":0,"removed":1,"diff":"-1 q"}],"fuzz":[]}\n', ""),
    (["patch", "-p", "x"], "", 2, "", "--strip takes a number from 0 to 100"),
    (["patch", "--format", "ed"], "", 2, "", "ed"),
    (["patch", "none.patch"], "", 2, "", "none.patch"),
    (["patch"], "no patch", 1, "", "Line 1 of the patch: this is not a patch"),
    (["run", "rm -r r.txt p"], "", 0, "", ""),
    (["ls"], "", 0, "blank\nmain.c\nodd:2\nsub/\nw.txt\n", ""),
    (["run", "mkdir none"], "", 0, "", ""),
    (["ls", "none"], "", 0, "", ""),
    (["ls", "--json", "none"], "", 0, '{"names":[],"truncated":false}\n', ""),
    (["run", "rmdir none"], "", 0, "", ""),
    (["ls", "--limit", "2"], "", 0, "blank\nmain.c\n", "there are more"),
    (["ls", "--json", "--limit", "2"], "", 0, '{"names":["blank","main.c"],"truncated":true}\n', "there are more"),
    (["ls", "--json", "--limit", "5"], "", 0, '{"names":["blank","main.c","odd:2","sub/","w.txt"],"truncated":false}\n', ""),
    (["ls", "--json", "sub"], "", 0, '{"names":["x.py"],"truncated":false}\n', ""),
    (["find", "*.py"], "", 0, "sub/x.py\n", ""),
    (["find", "--json", "*.py"], "", 0, '{"paths":["sub/x.py"],"truncated":false}\n', ""),
    (["find", "*.py", "sub"], "", 0, "sub/x.py\n", ""),
    (["find", "--json", "*.py", "./sub//"], "", 0, '{"paths":["./sub/x.py"],"truncated":false}\n', ""),
    (["find", "*.py", "."], "", 0, "sub/x.py\n", ""),
    (["find", "*.none"], "", 1, "", "sidecar: No files found\n"),
    (["find", "--json", "*.none"], "", 1, '{"paths":[],"truncated":false}\n', ""),
    (["find", "--limit", "1", "*"], "", 0, "blank\n", "there are more"),
    (["grep", "--limit", "1", "-n", "a"], "", 0, "main.c:1:int main(void)\n", "stopped at the limit of 1 matches"),
    (["grep", "RETURN"], "", 1, "", "No matches"),
    (["grep", "-i", "RETURN"], "", 0, "main.c:\treturn 0;\n", ""),
    (["grep", "-in", "RETURN"], "", 0, "main.c:3:\treturn 0;\n", ""),
    (["grep", "-iN", "RETURN"], "", 0, "main.c:\treturn 0;\n", ""),
    (["grep", "-F", "main("], "", 0, "main.c:int main(void)\n", ""),
    (["grep", "-F", "main(", "main.c"], "", 0, "int main(void)\n", ""),
    (["grep", "-H", "return", "main.c"], "", 0, "main.c:\treturn 0;\n", ""),
    (["grep", "-I", "return"], "", 0, "\treturn 0;\n", ""),
    (["grep", "--heading", "-n", "a"], "", 0, "main.c\n1:int main(void)\n\nsub/x.py\n1:pass\n\nw.txt\n1:ax\n", ""),
    (["grep", "pass", "sub"], "", 0, "sub/x.py:pass\n", ""),
    (["grep", "-n", "-C", "1", "pass", "sub/"], "", 0, "sub/x.py:1:pass\nsub/x.py-2-\n", ""),
    (["grep", "-n", "pass|main", "sub/x.py", "main.c"], "", 0, "sub/x.py:1:pass\nmain.c:1:int main(void)\n", ""),
    (["grep", "pass", "sub", "none"], "", 2, "sub/x.py:pass\n", "not found: none"),
    (["grep", "pass", "/"], "", 0, "sub/x.py:pass\n", ""),
    (["grep", "-rEl", "pass"], "", 0, "sub/x.py\n", ""),
    (["grep", "-l", "a"], "", 0, "main.c\nsub/x.py\nw.txt\n", ""),
    (["grep", "-lt", "py", "a"], "", 0, "sub/x.py\n", ""),
    (["grep", "-l", "-t", "py", "-t", "c", "a"], "", 0, "main.c\nsub/x.py\n", ""),
    (["grep", "-l", "-g", "*.c", "-g", "*.txt", "a"], "", 0, "main.c\nw.txt\n", ""),
    (["grep", "-l", "-g", "!*.c", "a"], "", 0, "sub/x.py\nw.txt\n", ""),
    (["grep", "-t", "klingon", "a"], "", 2, "", "Unknown file type"),
    (["grep", "-c", "a"], "", 0, "main.c:1\nsub/x.py:1\nw.txt:1\n", ""),
    (["grep", "-c", "[{}]", "main.c"], "", 0, "2\n", ""),
    (["grep", "-lc", "a"], "", 2, "", "only one of -l, -L and -c can be used"),
    (["grep", "-v", "[a-z]", "main.c"], "", 0, "{\n}\n", ""),
    (["grep", "-vn", "-A1", "[a-z{]", "main.c"], "", 0, "4:}\n5-\n", ""),
    (["grep", "-vc", "[a-z]", "main.c"], "", 0, "2\n", ""),
    (["grep", "-vl", "[a-z]", "main.c", "sub"], "", 0, "main.c\n", ""),
    (["grep", "-v", "", "main.c"], "", 2, "", "the pattern is empty"),
    (["grep", "-vU", "a"], "", 2, "", "-v and -U cannot be used together"),
    (["grep", "-v", ".", "sub/x.py"], "", 1, "", "No matches"),
    (["grep", "-q", "main"], "", 0, "", ""),
    (["grep", "-q", "RETURN"], "", 1, "", ""),
    (["grep", "-q", "("], "", 2, "", "use -F"),
    (["grep", "-q", "--json", "main"], "", 0, "", ""),
    (["grep", "-q", "main", "main.c", "none"], "", 0, "", ""),
    (["grep", "-q", "main", "none"], "", 2, "", "not found: none"),
    (["grep", "-on", "r.|t", "main.c"], "", 0, "1:t\n3:re\n3:t\n3:rn\n", ""),
    (["grep", "-o", "("], "", 2, "", "use -F"),
    (["grep", "-oU", "a"], "", 2, "", "-o and -U cannot be used together"),
    (["grep", "-e", "{", "-e", "}", "main.c"], "", 0, "{\n}\n", ""),
    (["grep", "-F", "-e", "(", "-e", "{", "main.c"], "", 0, "int main(void)\n{\n", ""),
    (["grep", "-e", "a", "-e", ""], "", 2, "", "the pattern is empty"),
    (["grep"], "", 2, "", "missing argument PATTERN"),
    (["grep", "-S", "INT MAIN"], "", 1, "", "No matches"),
    (["grep", "-S", "int \\S+"], "", 0, "main.c:int main(void)\n", ""),
    (["grep", "-x", "pas"], "", 1, "", "No matches"),
    (["grep", "-x", "pass"], "", 0, "sub/x.py:pass\n", ""),
    (["grep", "-L", "a", "main.c", "blank"], "", 0, "blank\n", ""),
    (["grep", "-L", "a", "main.c"], "", 1, "", "No matches"),
    (["grep", "-0l", "pass"], "", 0, "sub/x.py\0", ""),
    (["grep", "-0", "pass"], "", 0, "sub/x.py\0pass\n", ""),
    (["grep", "--hidden", "pass"], "", 0, "sub/x.py:pass\n", ""),
    (["grep", "--color", "always", "pass", "sub/x.py"], "", 0, "\x1b[1;31mpass\x1b[m\n", ""),
    (["grep", "--color", "never", "pass", "sub/x.py"], "", 0, "pass\n", ""),
    (["find", "-t", "d", "sub"], "", 0, "sub/\n", ""),
    (["find", "-H", "-t", "f", "x.p*"], "", 0, "sub/x.py\n", ""),
    (["find", "-t", "l", "x.p*"], "", 1, "", "No files found"),
    (["ls", "main.c"], "", 0, "main.c\n", ""),
    (["ls", "--json", "sub/x.py"], "", 0, '{"names":["sub/x.py"],"truncated":false}\n', ""),
    (["ls", "main.c/x"], "", 1, "", "not a directory"),
    (["ls", "main.c/"], "", 1, "", "not a directory"),
    (["grep", "-w", "retur"], "", 1, "", "No matches"),
    (["grep", "-w", "return"], "", 0, "main.c:\treturn 0;\n", ""),
    (["grep", "-wF", "main(void"], "", 0, "main.c:int main(void)\n", ""),
    (["grep", "-Un", r"\{\n.*return"], "", 0, "main.c:2:{\nmain.c:3:\treturn 0;\n", ""),
    (["grep", "-n", "-A1", "main"], "", 0, "main.c:1:int main(void)\nmain.c-2-{\n", ""),
    (["grep", "-n", "-B1", "[{}]"], "", 0, "main.c-1-int main(void)\nmain.c:2:{\nmain.c-3-\treturn 0;\nmain.c:4:}\n", ""),
    (["grep", "-n", "-A1", "int|return|x|pass"], "", 0, "blank:3:x\nblank-4-\n--\nmain.c:1:int main(void)\nmain.c-2-{\n"
     "main.c:3:\treturn 0;\nmain.c-4-}\n--\nsub/x.py:1:pass\nsub/x.py-2-\n--\nw.txt:1:ax\nw.txt-2-yc\n", ""),
    (["grep", "-n", "-C0", "int|return", "main.c"], "", 0, "1:int main(void)\n3:\treturn 0;\n", ""),
    (["grep", "-nA1", "int|}", "main.c"], "", 0, "1:int main(void)\n2-{\n--\n4:}\n5-\n", ""),
    (["grep", "--json", "pass", "sub"], "", 0,
     '{"type":"match","path":"sub/x.py","line":1,"lines":["pass"]}\n{"type":"done","matches":1,"truncated":false}\n', ""),
    (["grep", "--json", "-c", "pass"], "", 0,
     '{"type":"match","path":"sub/x.py","count":1}\n{"type":"done","matches":1,"truncated":false}\n', ""),
    (["grep", "--json", "zzz"], "", 1, '{"type":"done","matches":0,"truncated":false}\n', ""),
    (["grep", ""], "", 2, "", "the pattern is empty"),
    (["grep", "("], "", 2, "", "To search for the text as it stands, use -F\n"),
    (["run", "echo", "a b", "$HOME"], "", 0, "a b $HOME\n", ""),
    (["run", "echo $((1+1)); exit 7"], "", 7, "2\n", ""),
    (["run", "ls", "-1", "sub"], "", 0, "x.py\n", ""),
    (["run", "-e", "A=1", "-e", "B=2", "-C", "sub", "echo $A$B; basename $PWD"], "", 0, "12\nsub\n", ""),
    (["run", "echo out; echo err >&2"], "", 0, "out\n", "err\n"),
    (["run", "--timeout", "0.2", "sleep 60"], "", 124, "", "timed out"),
    (["run", "--json", "echo a; exit 3"], "", 3,
     '{"type":"delta","stream":"stdout","data":"a\\n"}\n{"type":"done","exitCode":3,"timedOut":false}\n', ""),
    (["run", "kill -9 $$"], "", 137, "", ""),
    (["run", "cat"], "from here\n", 0, "from here\n", ""),
    (["run", "wc", "-c"], "\0" * 70000, 0, "70000\n", ""),
    (["run", "--no-stdin", "wc -c"], "not this", 0, "0\n", ""),
    (["run", "--timeout", "0.0001", "sleep 60"], "", 124, "", "timed out"),
    (["call", "--timeout", "0.0001", "run_command", "command=sleep 3"], "", 124, "", "did not answer in time"),
    (["call", "read_file", "path=main.c", "end_line:=1"], "", 0, None, ""),
    (["call", "list_directory", "-"], '{"path":"sub"}', 0, None, ""),
    (["call", "run_command", '{"command":"sudo reboot"}'], "", 4, None, ""),
    (["call", "read_file", "path=nope"], "", 1, None, ""),
    (["call", "read_fiel"], "", 2, "", 'did you mean "read_file"'),
    (["call", "read_file", "nonsense"], "", 2, "", "neither JSON"),
    (["jobs"], "", 0, "", "No jobs"),
    (["jobs", "-q"], "", 0, "", ""),
    (["jobs", "start", "echo x; sleep 0.1; echo y; exit 4"], "", 0, "1\n", ""),
    (["jobs", "output", "--follow", "1"], "", 4, "x\ny\n", ""),
    (["jobs", "wait", "1"], "", 4, "", ""),
    (["jobs", "logs", "1"], "", 0, "x\ny\n", ""),
    (["jobs", "-q"], "", 0, "1\n", ""),
    (["jobs", "stop", "77"], "", 1, "", "no job 77"),
    (["jobs", "stop"], "", 2, "", "missing argument ID"),
    (["jobs", "start"], "", 2, "", "missing argument COMMAND"),
    (["jobs", "list", "1"], "", 2, "", 'unexpected argument "1"'),
    (["jobs", "stop", "../health"], "", 2, "", '"../health" is not the number of a job'),
    (["jobs", "start", "sleep 60"], "", 0, "2\n", ""),
    (["jobs", "stop", "2"], "", 0, "", ""),
    (["jobs", "wait", "2"], "", 143, "", "the job was stopped"),
    (["jobs", "start", "sleep", "--", "61"], "", 0, "3\n", ""),
    (["jobs", "start", "sleep 62"], "", 0, "4\n", ""),
    (["jobs", "kill", "3", "4"], "", 0, "", ""),
    (["jobs", "wait", "3", "4"], "", 143, "", "the job was stopped"),
    (["jobs", "dance"], "", 2, "", "not one of"),
    (["health", "--quiet"], "", 0, "", ""),
]

# argv, exit status, a part of stdout, a part of stderr; no server is needed
ALONE = [
    ([], 2, "", "Usage"),
    (["--help"], 0, "sidecar runs the tools of LLM agents", ""),
    (["help"], 0, "\nTake it back:\n  undo ", ""),
    (["help", "serve"], 0, "\nChanges and undo:\n  --fsync", ""),
    (["help", "grep"], 0, "Examples:\n  sidecar grep", ""),
    (["grep", "--help"], 0, "--ignore-case", ""),
    (["serve", "-h"], 0, "--workspace DIR", ""),
    (["help", "gerp"], 2, "", 'did you mean "grep"'),
    (["help", "zzzzzzzz"], 2, "", 'Try "sidecar --help"'),
    (["gerp"], 2, "", 'did you mean "grep"'),
    (["zzzzzzzz"], 2, "", 'unknown command "zzzzzzzz"'),
    (["version"], 0, "sidecar ", ""),
    (["--version"], 0, "sidecar ", ""),
    (["-V"], 0, "sidecar ", ""),
    (["cat", "x"], 2, "", 'did you mean "read"?'),
    (["search", "x"], 2, "", 'did you mean "grep"?'),
    (["logs", "1"], 2, "", 'did you mean "jobs output"?'),
    (["status"], 2, "", 'did you mean "health"?'),
    (["stop", "1"], 2, "", 'did you mean "jobs stop"?'),
    (["kill", "1"], 2, "", 'did you mean "jobs stop"?'),
    (["exec", "ls"], 2, "", 'did you mean "run"?'),
    (["read"], 2, "", "sidecar: missing argument PATH\nUsage: sidecar read [OPTION]... PATH...\n"),
    (["grep"], 2, "", "sidecar: missing argument PATTERN\n"),
    (["find"], 2, "", "sidecar: missing argument GLOB\n"),
    (["write"], 2, "", "sidecar: missing argument PATH\n"),
    (["run"], 2, "", "sidecar: missing argument COMMAND\n"),
    (["call"], 2, "", "sidecar: missing argument TOOL\n"),
    (["completion"], 2, "", "sidecar: missing argument bash|zsh|fish\n"),
    (["ls", "a", "b"], 2, "", 'unexpected argument "b"'),
    (["read", "--ofset", "3", "a"], 2, "", "did you mean --offset?"),
    (["read", "--token=x", "a"], 2, "", "--token-file"),
    (["read", "-Z", "a"], 2, "", "unknown option -Z"),
    (["read", "--offset"], 2, "", "--offset needs a value"),
    (["read", "--offset", "-3", "a"], 2, "", "--offset must be"),
    (["read", "--json=1", "a"], 2, "", "takes no value"),
    (["read", "--socket", "/nonexistent/s", "a"], 3, "",
     'sidecar: No sidecar is listening on /nonexistent/s; start one with "sidecar serve"\n'),
    (["read", "--json", "--socket", "/nonexistent/s", "a"], 3,
     '{"error":{"code":"NOT_READY","message":"No sidecar is listening on /nonexistent/s"}}', ""),
    (["read", "--wait", "0.2", "--socket", "/nonexistent/s", "a"], 3, "", "Timed out waiting"),
    (["read", "--socket", "/etc/passwd", "a"], 3, "", "/etc/passwd exists, but is not a sidecar's socket"),
    (["--socket", "x", "ls"], 2, "", "the command comes first"),
    (["read", "--url", "ftp://x", "a"], 2, "", "--url must be"),
    (["read", "--url", "unix:/nonexistent/s", "a"], 3, "", "listening on /nonexistent/s;"),
    (["read", "--url", "http://127.0.0.1:1", "a"], 3, "", "No sidecar is listening on 127.0.0.1:1;"),
    (["read", "--url", "x", "--socket", "y", "a"], 2, "", "cannot be used together"),
    (["serve", "--workspcae", "/x"], 2, "", "did you mean --workspace?"),
    (["serve", "a", "stray"], 2, "", "stray"),
    (["serve", "a", "--workspace", "b"], 2, "", "give DIR or --workspace, not both"),
    (["serve", "/etc/passwd"], 1, "", '--workspace "/etc/passwd" is not a directory'),
    (["serve", "--socket", "/etc/passwd"], 1, "", "choose another --socket"),
    (["config", "--token", "x"], 2, "", "use SIDECAR_AUTH_TOKEN, or --token-file"),
    (["tools", "--format", "nope"], 2, "", "one of ollama"),
    (["tools", "--json"], 0, '[{"type":"function"', ""),
    (["tools", "--json", "--markdown"], 2, "", "cannot be used with"),
    (["tools", "--mdoc"], 0, ".It Ic read_file", ""),
    (["completion", "tcsh"], 2, "", "bash, zsh and fish"),
]


class Verbs(SidecarTest):
    def test_each_command_prints_and_exits_as_listed(self):
        server = self.start()
        server.put("main.c", MAIN)
        server.put("sub/x.py", "pass\n")
        server.put("odd:2", "odd\n")
        server.put("blank", "\n\nx\n")
        for argv, stdin, status, out, err in VERBS:
            with self.subTest(argv=argv):
                got = sidecar(*argv, server=server, stdin=stdin)
                self.assertEqual(got[0], status, got)
                if out is not None:
                    self.assertEqual(got[1], out, got)
                self.assertIn(err, got[2])
                if not err:
                    self.assertEqual(got[2], "")
                if "--json" in argv:
                    for line in got[1].splitlines():
                        json.loads(line)

    def test_a_dash_is_stdin(self):
        for words, text in ((["write", "dash"], "one"), (["write", "dash", "-"], "two"), (["write", "dash", "--from", "-"], "3")):
            self.assertEqual(sidecar(*words, server=self.server, stdin=text)[0], 0)
            self.assertEqual(self.server.get("dash"), text.encode())
        for words in (["write", "dash", "text"], ["write", "dash", "-", "--content", "x"]):
            self.assertEqual(sidecar(*words, server=self.server, stdin="x")[0], 2)

    def test_paths_of_a_patch_start_in_the_current_directory(self):
        server = self.start()
        server.put("sub/deep/f", "one\n")
        patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+two\n--- /dev/null\n+++ b/../g\n@@ -0,0 +1 @@\n+new\n"
        status, out, err = sidecar("patch", server=server, stdin=patch, cwd=server.path("sub/deep"))
        self.assertEqual(status, 0, err)
        self.assertIn("modified sub/deep/f, +1 -1\n", out)
        self.assertEqual((server.get("sub/deep/f"), server.get("sub/g")), (b"two\n", b"new\n"))
        beyond = "--- /dev/null\n+++ ../../../g\n@@ -0,0 +1 @@\n+new\n"
        self.assertEqual(sidecar("patch", server=server, stdin=beyond, cwd=server.path("sub/deep"))[0], 4)
        moved = "*** Begin Patch\n*** Update File: f\n*** Move to: h\n@@\n-two\n+three\n*** End Patch\n"
        server.result("patch", patch=moved, cwd="/sub/deep")
        self.assertEqual(server.get("sub/deep/h"), b"three\n")

    def test_undo_of_what_is_no_change_and_no_path(self):
        server = self.start()
        server.result("write", path="a", content="x")
        for words in (["abc"], ["--dry-run", "1", "--", "abc"]):
            status, _, err = sidecar("undo", *words, server=server)
            self.assertEqual(status, 1)
            self.assertIn("abc is not the number of a change, and change 1 has nothing to undo at that path", err)
        self.assertEqual(server.get("a"), b"x")

    def test_diff_of_what_is_no_change_and_no_path(self):
        server = self.start()
        server.result("write", path="a", content="x\n")
        for words in (["abc"], ["1", "abc"]):
            status, out, err = sidecar("diff", *words, server=server)
            self.assertEqual((status, out), (1, ""))
            self.assertIn("abc is not the number of a change, and change 1 has nothing to show at that path", err)
        for words in ([], ["a"], ["1"], ["1", "abc", "a"]):
            self.assertIn("+x\n", sidecar("diff", *words, server=server)[1])

    def test_a_large_file_comes_whole(self):
        text = "".join("line %d\n" % i for i in range(30000))
        self.server.put("large.txt", text)
        self.assertEqual(sidecar("read", "large.txt", server=self.server), (0, text, ""))
        part = "".join("line %d\n" % i for i in range(1899, 7899))
        self.assertEqual(sidecar("read", "-o", "1900", "-m", "6000", "large.txt", server=self.server)[1], part)

    def test_a_line_that_is_too_long_is_reported(self):
        self.server.put("long.txt", "short\n" + "x" * 200000 + "\nshort\n")
        status, out, err = sidecar("read", "long.txt", server=self.server)
        self.assertEqual((status, out), (1, "short\n"))
        self.assertIn("line 2 is too long", err)

    def test_health_shows_the_workspace(self):
        status, out, _ = sidecar("health", server=self.server)
        self.assertEqual(status, 0)
        self.assertIn(self.server.workspace, out)
        self.assertTrue(json.loads(sidecar("health", "--json", server=self.server)[1])["ok"])

    def test_a_closed_pipe_ends_it_without_a_message(self):
        self.server.put("many.txt", "line\n" * 100000)
        for argv in (["read", "many.txt"], ["run", "yes"]):
            with self.subTest(argv=argv), subprocess.Popen(
                    [BIN, *argv], env=environment(self.server), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    stdin=subprocess.DEVNULL, restore_signals=False) as process:
                process.stdout.readline()
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b"")
                self.assertIn(process.wait(PATIENCE), (141, -signal.SIGPIPE))


    def test_many_names_come_whole(self):
        """More than one answer holds, of names, of paths and of matches."""
        for i in range(2600):
            self.server.put("many-names/%04d-%s" % (i, "n" * 40), "needle\nneedle\n")
        names = sorted(os.listdir(self.server.path("many-names")))
        self.assertEqual(sidecar("ls", "many-names", server=self.server), (0, "".join(n + "\n" for n in names), ""))
        self.assertEqual(sidecar("ls", "--limit", "2500", "many-names", server=self.server)[1].count("\n"), 2500)
        paths = "".join("many-names/%s\n" % n for n in names)
        self.assertEqual(sidecar("find", "*-n*", "many-names", server=self.server), (0, paths, ""))
        self.assertEqual(json.loads(sidecar("find", "--json", "*-n*", "many-names", server=self.server)[1]),
                         {"paths": paths.split("\n")[:-1], "truncated": False})
        lines = "".join("many-names/%s:needle\n" % n * 2 for n in names)
        self.assertEqual(sidecar("grep", "needle", "many-names", server=self.server), (0, lines, ""))

    def test_context_across_pages(self):
        self.server.put("pages.txt", "".join("x%d\n" % i for i in range(1, 1001)))
        out = sidecar("grep", "-n", "-C2", "x.*[05]$", "pages.txt", server=self.server)[1].splitlines()
        self.assertEqual([int(re.match("[0-9]+", line)[0]) for line in out], list(range(3, 1002)))
        self.assertEqual([line for line in out if ":" in line], ["%d:x%d" % (i, i) for i in range(5, 1001, 5)])

    def test_paths_start_in_the_current_directory(self):
        self.server.put("here/deep/a.txt", "needle\n")
        self.server.put("here/b.txt", "needle\n")
        top, here, deep = (self.server.path(name) for name in ("", "here", "here/deep"))
        for cwd, argv, wanted in (
                (here, ["read", "b.txt"], "needle\n"), (deep, ["read", "a.txt", "../b.txt:1"], "needle\nneedle\n"),
                (here, ["ls"], "b.txt\ndeep/\n"), (here, ["ls", "deep"], "a.txt\n"), (deep, ["ls", ".."], "b.txt\ndeep/\n"),
                (here, ["find", "*.txt"], "b.txt\ndeep/a.txt\n"), (deep, ["find", "*.txt", ".."], "../b.txt\n../deep/a.txt\n"),
                (here, ["grep", "needle"], "b.txt:needle\ndeep/a.txt:needle\n"),
                (deep, ["grep", "needle", "..", "a.txt"], "../b.txt:needle\n../deep/a.txt:needle\na.txt:needle\n"),
                (deep, ["run", "pwd"], deep + "\n"), (deep, ["run", "-C", "..", "pwd"], here + "\n"),
                (here, ["run", "-C", "/", "pwd"], top.rstrip("/") + "\n"), (deep, ["read", "/here/b.txt"], "needle\n"),
                (deep, ["read", here + "/b.txt"], "needle\n"), ("/", ["read", "here/b.txt"], "needle\n"),
                (deep, ["call", "read_file", "path=here/b.txt", "end_line:=1"], None)):
            with self.subTest(cwd=cwd, argv=argv):
                got = sidecar(*argv, server=self.server, cwd=cwd)
                self.assertEqual(got[0], 0, got)
                if wanted:
                    self.assertEqual(got[1], wanted)
        self.assertEqual(sidecar("read", "../../..", server=self.server, cwd=here)[0], 4)
        self.assertEqual(sidecar("write", "-q", "new.txt", "-c", "x", server=self.server, cwd=deep)[0], 0)
        self.assertEqual(self.server.get("here/deep/new.txt"), b"x")
        self.assertEqual(sidecar("edit", "-q", "new.txt", "-o", "x", "-n", "y", server=self.server, cwd=deep)[0], 0)
        self.assertEqual(self.server.get("here/deep/new.txt"), b"y")

    def test_bytes_are_carried(self):
        data = bytes(range(256)) * 300
        self.assertEqual(sidecar("write", "-q", "bytes", server=self.server, stdin=data), (0, "", ""))
        self.assertEqual(self.server.get("bytes"), data)
        local = os.path.join(self.server.dir, "local")
        with open(local, "wb") as f:
            f.write(data[::-1])
        self.assertEqual(sidecar("write", "bytes", "--from", local, server=self.server)[2], "sidecar: wrote 76800 bytes to bytes\n")
        self.assertEqual(self.server.get("bytes"), data[::-1])
        self.assertEqual(sidecar("run", "cmp - bytes && echo same", server=self.server, stdin=data[::-1])[1], "same\n")
        status, _, err = sidecar("read", "bytes", server=self.server)
        self.assertEqual(status, 1)
        self.assertIn("to get its bytes: sidecar run", err)

    def test_input_that_is_too_long_is_refused(self):
        status, out, err = sidecar("run", "wc -c", server=self.server, stdin="x" * ((16 << 20) + 1))
        self.assertEqual((status, out), (1, ""))
        self.assertIn("longer than 16 MiB", err)
        self.assertEqual(sidecar("run", "wc -c", server=self.server, stdin="x" * (16 << 20))[1], "%d\n" % (16 << 20))

    def test_input_that_does_not_end_is_waited_for_with_a_word(self):
        with subprocess.Popen([BIN, "run", "cat"], env=environment(self.server), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            self.assertIn("waiting for the end of stdin", process.stderr.readline())
            self.assertEqual(process.communicate("late", timeout=PATIENCE), ("late", ""))

    def test_input_that_cannot_be_read_is_none(self):
        """As nohup leaves it."""
        with open("/dev/null", "wb") as unreadable:
            done = subprocess.run([BIN, "run", "wc -c"], env=environment(self.server), stdin=unreadable, capture_output=True,
                                  check=False, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"0\n", b""))

    def test_jobs_have_a_header_and_ages(self):
        server = self.start()
        for command in ("sleep 60", "printf '\\033[31m'; echo \033]0;evil\a\nsecond\tline \u009b31m"):
            self.assertEqual(sidecar("jobs", "start", command, server=server)[0], 0)
        server.request("POST", "/jobs/1/stop")
        self.assertEqual(sidecar("jobs", "wait", "2", "1", server=server)[0], 143)
        lines = sidecar("jobs", server=server)[1].splitlines()
        self.assertEqual(lines[0].split(), ["ID", "STATE", "AGE", "PORTS", "COMMAND"])
        self.assertRegex(lines[1], r"^1     stopped     [0-9]+s    ? ?-     sleep 60$")
        self.assertRegex(lines[2], r"^2     exited 127  [0-9]+s    ? ?-     printf '\\033\[31m'; echo \\x1b\]0;evil\\x07\\nsecond\\tline \\x9b31m$")
        self.assertTrue(all(c >= " " for line in lines for c in line))

    def test_jobs_as_json(self):
        server = self.start()
        self.assertEqual(sidecar("jobs", "start", "echo x; exit 3", server=server), (0, "1\n", ""))
        status, out, _ = sidecar("jobs", "wait", "--json", "1", server=server)
        self.assertEqual((status, json.loads(out)["exitCode"], json.loads(out)["state"]), (3, 3, "exited"), out)
        status, out, _ = sidecar("jobs", "--json", server=server)
        self.assertEqual((status, [job["command"] for job in json.loads(out)["jobs"]]), (0, ["echo x; exit 3"]), out)
        status, out, _ = sidecar("jobs", "output", "--json", "1", server=server)
        self.assertEqual((status, json.loads(out.splitlines()[0])["output"]), (0, "x\n"), out)

    def test_output_that_a_job_has_dropped_is_reported(self):
        server = self.start()
        self.assertEqual(sidecar("jobs", "start", "head -c 3000000 /dev/zero | tr '\\0' x; echo end", server=server)[0], 0)
        self.assertEqual(sidecar("jobs", "wait", "1", server=server)[0], 0)
        status, out, err = sidecar("jobs", "output", "1", server=server)
        self.assertEqual((status, out[-4:]), (0, "end\n"))
        self.assertRegex(err, r"[1-9][0-9]* bytes of older output were dropped")

    def test_a_server_is_reached_by_name(self):
        server = self.start(flags=["--tcp", "127.0.0.1:0"])
        server.put("a", "by name\n")
        port = server.request("GET", "/health").json()["tcp"].rsplit(":", 1)[1]
        self.assertEqual(sidecar("read", "--url", f"http://localhost:{port}", "a"), (0, "by name\n", ""))
        status, _, err = sidecar("read", "--url", f"http://no-such-host.invalid:{port}", "a")
        self.assertEqual(status, 3, err)
        self.assertIn("no-such-host.invalid", err)

    def test_a_server_that_is_stopped_is_named(self):
        server = self.start(env={"SIDECAR_GRACE_SECONDS": "0"})
        with subprocess.Popen([BIN, "run", "echo on; sleep 60"], env=environment(server), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "on\n")
            server.stop(signal.SIGINT)
            self.assertEqual(process.communicate(timeout=PATIENCE), ("", "sidecar: the server was stopped and ended the command\n"))
        self.assertEqual(process.returncode, 3)


    def test_a_command_that_a_person_stops(self):
        for flags in ((), ("--json",)):
            server = self.start()
            with subprocess.Popen([BIN, "run", "-n", *flags, "sleep 1000"], env=environment(server), text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                until(lambda: server.request("GET", "/health").json()["running"], "it runs")
                server.request("POST", "/calls/1/stop")
                out, err = process.communicate(timeout=PATIENCE)
            self.assertEqual((err, process.returncode), ("sidecar: the command was stopped by a person\n", 143))
            if flags:
                self.assertEqual(json.loads(out)["stopped"], True)


class Places(unittest.TestCase):
    """Which workspace a server takes, and what a user without permission is told."""

    def workspace(self, cwd, *flags, **env):
        server = harness.Sidecar(env={"WORKSPACE_ROOT": "", **env}, flags=flags, prefix=["env", "-C", cwd])
        self.addCleanup(server.close)
        return server.request("GET", "/health").json()["workspace"]

    def test_the_workspace_is_the_named_one_or_the_current_directory(self):
        with tempfile.TemporaryDirectory(prefix="sidecar-test-") as top:
            top = os.path.realpath(top)
            os.mkdir(os.path.join(top, "sub"))
            self.assertEqual(self.workspace(top, "sub"), top + "/sub")
            self.assertEqual(self.workspace(top, "."), top)
            self.assertEqual(self.workspace("/", top), top)
            self.assertEqual(self.workspace("/", "--workspace", top + "/made"), top + "/made")
            status, _, err = sidecar("serve", "typo", cwd=top)
            self.assertEqual((status, "sidecar: typo: No such file or directory" in err), (2, True), err)
            self.assertEqual(self.workspace(top, WORKSPACE_ROOT=top + "/sub"), top + "/sub")
            self.assertEqual(self.workspace(top), "/workspace" if os.path.isdir("/workspace") else top)

    def test_the_root_is_taken_only_if_it_is_named(self):
        config = json.loads(sidecar("config", "--json", cwd="/")[1])
        self.assertEqual(config["workspace"], "/workspace")
        self.assertEqual(json.loads(sidecar("config", "--json", "--workspace", "/", cwd="/")[1])["workspace"], "/")

    @harness.needs_two_users
    def test_permission_denied_is_said(self):
        server = harness.Sidecar()
        self.addCleanup(server.close)
        other = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", BIN]

        def ask(*argv):
            done = subprocess.run([*other, *argv], capture_output=True, check=False, timeout=PATIENCE, cwd="/",
                                  env=environment(XDG_CONFIG_HOME="/usr"))
            return done.returncode, (done.stdout + done.stderr).decode()
        os.chmod(server.dir, 0o755)
        status, said = ask("ls", "--socket", server.socket)
        self.assertEqual(status, 3, said)
        self.assertIn("Cannot connect to %s: permission denied: the socket is for user 0 and group 0 (mode 0660)" % server.socket, said)
        os.chmod(server.dir, 0o700)
        self.assertIn("permission denied: this user may not enter the socket's directory", ask("ls", "--socket", server.socket)[1])
        self.assertRegex(ask("doctor", "--workspace", "/nowhere/at/all")[1],
                         "fail +workspace +/nowhere/at/all does not exist, and user 65534 cannot create it in /:")


class Locked(SidecarTest):
    env = {"SIDECAR_AUTH_TOKEN": "correct-horse-battery", "SIDECAR_REQUIRE_AUTH": "1", "SIDECAR_READ_ONLY": "1"}

    def test_a_token_comes_from_file_or_environment(self):
        self.server.put("a", "x\n")
        status, _, err = sidecar("read", "a", server=self.server)
        self.assertEqual((status, "--token-file" in err), (4, True), err)
        token = os.path.join(self.server.dir, "token")
        with open(token, "w", encoding="ascii") as f:
            f.write("correct-horse-battery\n")
        self.assertEqual(sidecar("read", "a", "--token-file", token, server=self.server), (0, "x\n", ""))
        env = environment(self.server, SIDECAR_AUTH_TOKEN="correct-horse-battery")
        self.assertEqual(sidecar("read", "a", env=env)[0], 0)
        self.assertEqual(sidecar("write", "a", "--content", "y", env=env)[0], 4)


class Sandboxed(SandboxTest):
    def test_health_lists_each_protection(self):
        out = sidecar("health", server=self.server)[1]
        for p in self.server.request("GET", "/health").json()["sandbox"]["protections"]:
            self.assertNotIn(p["name"], ("write-outside", "namespaces"))  # would read as if it were allowed
            said = ("in force" if p["inForce"] else "not in force") + (" (%s)" % p["note"] if "note" in p else "")
            self.assertRegex(out, r"(?m)^sandbox\.%s +%s$" % (p["name"], re.escape(said)))


class Alone(unittest.TestCase):
    def test_without_a_server(self):
        for argv, status, out, err in ALONE:
            with self.subTest(argv=argv):
                got = sidecar(*argv)
                self.assertEqual(got[0], status, got)
                self.assertIn(out, got[1])
                self.assertIn(err, got[2])

    def test_help_shows_only_what_applies(self):
        shown = sidecar("mcp", "--help")[1]
        for flag in ("--socket", "--tcp", "--token-file", "--require-auth", "--allowed-uids", "--surface", "--grace"):
            self.assertNotIn(flag, shown)
            self.assertIn(flag, sidecar("serve", "--help")[1])
        for verb in re.findall(r"^  ([a-z]+) ", sidecar("help")[1].split("Usage:")[1], re.M):
            self.assertTrue(sidecar("help", verb)[1].startswith("Examples:\n  "), verb)

    def test_completion_is_well_formed(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell=shell):
                status, script, _ = sidecar("completion", shell)
                self.assertEqual(status, 0)
                self.assertIn("__complete", script)
                if not shutil.which(shell):
                    self.skipTest(shell + " is not installed")
                done = subprocess.run([shell, "-n", "/dev/stdin"], input=script, text=True, capture_output=True,
                                      check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_completion_scripts_ask_for(self):
        for words, wanted in ((["rea"], "read"), (["grep", "--ig"], "--ignore-case"), (["serve", "--sandbox", "st"], "strict"),
                              (["call", "read_f"], "read_file"), (["call", "read_file", "pa"], "path="),
                              (["call", "read_file", "start"], "start_line:="), (["jobs", "lo"], "logs"),
                              (["read", "--token-file", ""], ":files"), (["serve", ""], ":files"), (["grep", "a", "--type-"], "--type-list")):
            status, out, err = sidecar("__complete", "--", *words)
            self.assertEqual((status, [line.split("\t")[0] for line in out.splitlines()], err), (0, [wanted], ""))
        for words in ([""], ["help", ""]):
            offered = [line.split("\t")[0] for line in sidecar("__complete", "--", *words)[1].splitlines()]
            self.assertIn("grep", offered)
            self.assertNotIn("__complete", offered)
        for words in ([], ["nope", ""], ["read", "x"], ["jobs", "stop", ""], ["run", "x", "--"], ["find", ""]):
            self.assertEqual(sidecar("__complete", "--", *words)[:2], (0, ""))

    def test_manuals_are_up_to_date(self):
        done = subprocess.run([ROOT / "scripts" / "manuals", "--check"], env={**os.environ, "SIDECAR_BIN": BIN},
                              text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_manuals_are_well_formed(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed")
        for page in ("sidecar.1", "sidecar.conf.5"):
            done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", ROOT / "man" / page], text=True,
                                  capture_output=True, check=False)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
