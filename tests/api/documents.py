"""The documents as programs: finds their fenced blocks, and runs them as a reader would.

The word behind the fence says what a block is; GitHub colours by the same word and ignores the rest:

    ```sh              commands, which must succeed
    ```console         a session: "$ " begins a command, the rest is what it prints; "…" stands for anything
    ```json            a JSON text, or one on each line; below a heading that is a request, what is sent and answered
    ```c, text … FILE  with a file's name behind it, a file for the next block that is run
    ```                a picture: no commands

    ```sh no-test: WHY          cannot be run here; syntax, flags, variables, files and targets are looked at
    ```console numbers-vary     a number stands for any other, unless it is 0
    ```console terminal         what it prints on a terminal of 100 columns, without the colours

A block is run by bash in a workspace that has hello.c, in a home of its own, with `sidecar` in the PATH. Unless it
starts a server, there is one. "/run/sidecar" and "/workspace" are the scratch directories of this run.
"""
import contextlib
import dataclasses
import fcntl
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import termios

from harness import BIN, ROOT, Sidecar, environment, is_sanitized, machine

HELLO = '#include <stdio.h>\n\nint main(void)\n{\n\tputs("Hello, wrold");\n}\n'
FENCE = re.compile(r"^```(\S*) *([^\n]*)\n(.*?)^```$", re.M | re.S)
ENDS = "trap 'exec >/dev/null 2>&1; kill $(jobs -p) || :; wait || :' EXIT\n"
# What changes the machine is never run, whatever a document forgets to say; a server would make /workspace.
CHANGES_MACHINE = re.compile(r"^(sudo|apt|dpkg|systemctl|useradd|usermod|install|docker|kubectl|npm|make|meson)\b|"
                             r"^sidecar (serve|doctor)\b(?!.*--workspace)", re.M)
SECONDS = 300  # after which a block is taken to hang


def documents():
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("bench/*.md"), *ROOT.glob("deploy/**/*.md"), *ROOT.glob("tests/*/*.md")]
    return sorted(path for path in found if path.name != "CHANGELOG.md")  # history may name what is gone


@dataclasses.dataclass
class Block:
    path: pathlib.Path
    line: int
    heading: str
    language: str
    info: str
    text: str

    def __str__(self):
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    def is_commands(self):
        return self.language in ("sh", "console")

    def is_exchange(self):
        return self.language == "json" and not self.info and re.match(r"(GET|POST) /", self.heading)

    def file(self):
        """The name of the file that it is, or ""."""
        return "" if self.is_commands() else self.info

    def steps(self):
        """The commands of a session, each with what it prints."""
        if self.language == "sh":
            return [(self.text, "")]
        steps = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], ""))
            elif not steps[-1][1] and steps[-1][0].endswith("\\"):
                steps[-1] = (steps[-1][0] + "\n" + line, "")
            else:
                steps[-1] = (steps[-1][0], steps[-1][1] + line + "\n")
        return steps

    def commands(self):
        return "\n".join(command for command, _ in self.steps())

    def why_not(self):
        """Why it cannot be run here, or ""."""
        if self.info.startswith("no-test:"):
            return self.info[len("no-test:"):].strip()
        for program in ("curl", "cc", "pkg-config"):
            if re.search(rf"^{program}\b", self.commands(), re.M):
                if not shutil.which(program):
                    return f"{program} is not installed"
                if program == "cc" and (is_sanitized() or not Installed.PC.exists()):
                    return "there is no plain libsidecar beside the program"
        if "--sandbox" in self.commands() and not machine.landlock():
            return "this kernel has no Landlock"
        return ""


def blocks(path):
    text = path.read_text()
    for match in FENCE.finditer(text):
        above = re.findall(r"^#+ (.*)", FENCE.sub("", text[:match.start()]), re.M)
        yield Block(path, text.count("\n", 0, match.start()) + 1, above[-1] if above else "", *match.groups())


def all_blocks():
    return [block for path in documents() for block in blocks(path)]


def runs():
    """Every block of commands, with the files (name, text) that stand before it."""
    for path in documents():
        files = []
        for block in blocks(path):
            if block.file():
                files.append((block.file(), block.text))
            elif block.is_commands():
                yield block, files
                files = []


def is_as_shown(shown, seen, numbers_vary=False):
    """Whether output is as a document shows it."""
    pattern = re.escape(tidy(shown)).replace("…", ".*?")
    if numbers_vary:
        pattern = re.sub(r"\b[1-9][0-9]*", "[0-9]+", pattern)
    # How a refusal reads depends on what the kernel has.
    pattern = pattern.replace(re.escape("Read-only file system"), "(Read-only file system|Permission denied)")
    return re.fullmatch(pattern, tidy(seen), re.S) is not None


def tidy(text):
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


class Installed:
    """libsidecar where pkg-config and the linker find it, as if it were installed."""

    BUILD = pathlib.Path(BIN).parent
    PC = BUILD / "meson-private/libsidecar.pc"

    @classmethod
    def into(cls, directory):
        if not cls.PC.exists():
            return {}
        text = re.sub(r"^libdir=.*", f"libdir={cls.BUILD}", cls.PC.read_text(), flags=re.M)
        text = re.sub(r"^includedir=.*", f"includedir={ROOT}/include", text, flags=re.M)
        (directory / "libsidecar.pc").write_text(text)
        return {"PKG_CONFIG_PATH": str(directory), "LD_LIBRARY_PATH": str(cls.BUILD)}


class Place:
    """Where a block is run: a home, the workspace ~/hello in it, a socket's directory; removed in the end."""

    def __init__(self):
        # Not below /tmp, which is private to commands in the sandbox.
        self.made = tempfile.TemporaryDirectory(prefix="sidecar-docs-", dir="/var/tmp")
        top = pathlib.Path(self.made.name)
        self.home, self.run_dir, self.workspace = top / "home", top / "run", top / "home/hello"
        for directory in (top / "bin", self.run_dir, self.workspace):
            directory.mkdir(parents=True)
        (top / "bin/sidecar").symlink_to(BIN)
        (self.workspace / "hello.c").write_text(HELLO)
        # What is logged are the protections that this machine does not have.
        self.env = environment(**Installed.into(self.run_dir), PATH=f"{top}/bin:{os.environ['PATH']}", HOME=str(self.home),
                        SOCKET_PATH=f"{self.run_dir}/sidecar.sock", SIDECAR_LOG_LEVEL="error")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.made.cleanup()

    def server(self):
        return Sidecar(workspace=self.workspace, env={"SOCKET_PATH": self.env["SOCKET_PATH"]})

    def here(self, text):
        """What a document says, for this place."""
        return text.replace("/run/sidecar/", f"{self.run_dir}/")

    def there(self, text):
        """What was printed here, for a document."""
        text = text.replace(str(self.workspace), "/workspace").replace(str(self.run_dir), "/run/sidecar")
        return text.replace(str(self.home), "~")

    def put(self, name, text):
        path = self.home / name[2:] if name.startswith("~/") else self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.here(text))

    def terminal(self, script):
        """The same on a terminal, without colours and with the lines that were erased left out."""
        main, other = pty.openpty()
        fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))
        output = b""
        with subprocess.Popen(["bash", "-c", ENDS + self.here(script)], cwd=self.workspace, env={**self.env, "TERM": "xterm"},
                              stdin=subprocess.DEVNULL, stdout=other, stderr=other, start_new_session=True) as process:
            os.close(other)
            with contextlib.suppress(OSError):  # the end
                while piece := os.read(main, 65536):
                    output += piece
        os.close(main)
        text = re.sub(r"\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)|\r\x1b\[K|\x1b\[[0-9;]*m", "", output.decode(errors="replace"))
        return process.returncode, self.there(text.replace("\r\n", "\n"))

    def bash(self, script):
        """(exit status, output); whatever it started ends with it."""
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            with subprocess.Popen(["bash", "-c", ENDS + self.here(script)], cwd=self.workspace, env=self.env,
                                  stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                  start_new_session=True) as process:
                try:
                    status = process.wait(SECONDS)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    status = process.wait()
            output.seek(0)
            return status, self.there(output.read())


def script_of(block):
    """A mark is printed before each command; whoever starts a server waits until it answers."""
    script = "set -eu\n" if block.language == "sh" else ""
    for command, _ in block.steps():
        script += f"printf '\\036'\n{command}\n"
        if block.language == "console" and re.search(r"\bsidecar serve\b(?!.*--socket).*&$", command, re.S):
            script += "sidecar health --quiet --wait 20 || exit\n"
    return script


def run(block, files):
    """What differs from the document, or ""."""
    with Place() as place:
        for name, text in files:
            place.put(name, text)
        server = None if "sidecar serve" in block.commands() else place.server()
        try:
            status, output = (place.terminal if "terminal" in block.info else place.bash)(script_of(block))
        finally:
            if server:
                server.close()
    seen = output.split("\036")[1:]
    if len(seen) < len(block.steps()) or block.language == "sh" and status != 0:
        return f"ended with status {status} after\n{output}"
    if block.language == "sh":
        return ""
    return "".join(f"$ {command}\nprints\n{got}instead of\n{shown}" for (command, shown), got in zip(block.steps(), seen)
                   if not is_as_shown(shown, got, "numbers-vary" in block.info))


def exchange(block):
    """Sends the request of a heading; what differs from the answer below it, or ""."""
    method, url = re.match(r"(GET|POST) ([^\s`]+)", block.heading).groups()
    body, shown = block.text.split("\n", 1) if method == "POST" else (None, block.text)
    with Place() as place:
        server = place.server()
        try:
            answer = server.request(method, url, body and body.encode(), {"Content-Type": "application/json"})
        finally:
            server.close()
        got = place.there(answer.body.decode())
    return "" if is_as_shown(shown, got) else f"{method} {url}\n{body}\nis answered\n{got}\ninstead of\n{shown}"
