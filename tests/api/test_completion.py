"""Completion, tried in the shells themselves."""
import os
import pathlib
import pty
import select
import shutil
import subprocess
import tempfile
import unittest

from harness import BIN, Sidecar, until
from test_cli import sidecar

# what has been typed, what the Tab key makes of its last word
TYPED = [
    ("sidecar rea", "read"),
    ("sidecar hea", "health"),
    ("sidecar grep --ig", "--ignore-case"),
    ("sidecar serve --sandbox st", "strict"),
    ("sidecar call run_", "run_command"),
    ("sidecar patch --format un", "unified"),
    ("sidecar help doc", "doctor"),
    ("sidecar jobs sto", "stop"),
    ("sidecar mcp --read-on", "--read-only"),
    ("sidecar mcp --socket-mo", "--socket-mo"),
    ("sidecar run grep --ig", "--ig"),
    ("sidecar jobs logs ", "1"),
    ("sidecar undo ", "1"),
    ("sidecar diff ", "1"),
    ("sidecar changes --session a-s", "a-session"),
    ("sidecar watch --tool run_c", "run_command"),
    ("sidecar grep -t mak", "make"),
    ("sidecar read ma", "main.c"),
    ("sidecar read sub/dee", "sub/deep/"),
    ("sidecar read sub/deep/", "sub/deep/file.txt"),
    ("sidecar grep main ma", "main.c"),
    ("sidecar run -C su", "sub/"),
    ("sidecar call read_file pa", "path="),
    ("sidecar call read_file path=sub/deep/fi", "path=sub/deep/file.txt"),
]

# Ctrl-G writes what stands on the command line to $OUT.
BASH = """PS1='> '; source "$SCRIPT"; bind -x '"\\C-g": printf %s "$READLINE_LINE" > "$OUT"'; echo READY-$((1+1))\n"""
ZSH = """PS1='> '; autoload -Uz compinit; compinit -D -u; source "$SCRIPT"; show() { print -rn -- "$BUFFER" > "$OUT" }
zle -N show; bindkey '^G' show; echo READY-$((1+1))\n"""


class Completion(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="sidecar-test-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.server = Sidecar()
        self.addCleanup(self.server.close)
        self.server.put("main.c", "")
        self.server.put("sub/deep/file.txt", "")
        self.server.result("write", path="notes", content="", sessionId="a-session")
        self.server.result("bash", command="true", background=True)
        os.mkdir(os.path.join(self.dir, "bin"))
        os.symlink(BIN, os.path.join(self.dir, "bin", "sidecar"))

    def environment(self, **more):
        path = os.path.join(self.dir, "bin") + os.pathsep + os.environ["PATH"]
        return {"PATH": path, "HOME": self.dir, "LC_ALL": "C", "SOCKET_PATH": self.server.socket,
                "XDG_CONFIG_HOME": os.path.join(self.dir, "config"), **more}

    def script(self, shell):
        if not shutil.which(shell):
            self.skipTest(shell + " is not installed")
        path = os.path.join(self.dir, "script")
        with open(path, "w", encoding="utf-8") as f:
            f.write(sidecar("completion", shell)[1])
        return path

    def type_in(self, shell, *argv, setup):
        """Type each line and Tab into an interactive shell; compare what then stands there."""
        out = os.path.join(self.dir, "out")
        env = self.environment(TERM="xterm", OUT=out, SCRIPT=self.script(shell))
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execvpe(shell, [shell, *argv], env)

        seen = b""

        def shows(text=None):
            """Whether the terminal has shown the text; what it shows has to be read."""
            nonlocal seen
            while select.select([terminal], [], [], 0.02)[0]:
                seen += os.read(terminal, 4096)
            return text is not None and text in seen

        def written():
            shows()
            return os.path.exists(out) and pathlib.Path(out).read_text(encoding="utf-8")

        try:
            os.write(terminal, setup.encode())
            until(lambda: shows(b"READY-2"), "the shell is ready")
            for line, wanted in TYPED:
                with self.subTest(shell=shell, line=line):
                    # Ctrl-U empties the line; the shell may still be busy with the last one.
                    os.write(terminal, b"\x15" + line.encode() + b"\t\x07")
                    got = until(written, lambda: "the line is written: %r" % seen)
                    os.unlink(out)
                    self.assertEqual(got.split()[-1], wanted)
        finally:
            os.close(terminal)
            os.waitpid(pid, 0)

    def test_bash(self):
        self.type_in("bash", "--norc", "--noprofile", "-i", setup=BASH)

    def test_zsh(self):
        self.type_in("zsh", "-f", "-i", setup=ZSH)

    def test_fish(self):
        script = self.script("fish")
        for line, wanted in TYPED:
            with self.subTest(line=line):
                done = subprocess.run(["fish", "--no-config", "-c", 'source $argv[1]; complete -C $argv[2]', script, line],
                                      capture_output=True, text=True, check=False, cwd=self.dir,
                                      env=self.environment())
                self.assertEqual(done.stderr, "")
                offers = [offer.split("\t")[0] for offer in done.stdout.splitlines()]
                self.assertEqual(offers, [] if line.endswith(wanted) else [wanted])


if __name__ == "__main__":
    unittest.main()
