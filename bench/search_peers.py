# SPDX-License-Identifier: MIT
"""search_peers: what searching is measured with: the tree, other programs, a connection to ours."""

import json
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile

PACKAGE = "linux-source-6.1"
# The same files as ours: hidden ones count, ignore files are respected.
RG_RULES = ("--no-config", "--hidden", "--no-heading", "-g", "!.git")
WORDS = ("mutex", "spinlock", "semaphore", "completion", "waitqueue", "tasklet", "workqueue", "hrtimer", "kthread",
         "softirq", "rcu_read", "seqlock", "rwlock", "futex", "percpu", "atomic64", "refcount", "kref", "kobject",
         "sysfs_emit")


def linux_tree(cache):
    """The unpacked package as a repository. Its own .gitignore, which hides all of it, is taken away."""
    tree = cache / "linux"
    if tree.is_dir():
        return tree
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as temporary:
        archive = pathlib.Path(f"/usr/src/{PACKAGE}.tar.xz")
        if not archive.exists():
            print(f"fetching {PACKAGE}", flush=True)
            # As a file: nothing is installed.
            subprocess.run(["apt-get", "download", PACKAGE], cwd=temporary, check=True)
            package = next(pathlib.Path(temporary).glob("*.deb"))
            subprocess.run(["dpkg-deb", "-x", package, temporary], check=True)
            archive = pathlib.Path(temporary) / f"usr/src/{PACKAGE}.tar.xz"
        print(f"unpacking {archive.name} to {tree}", flush=True)
        new = pathlib.Path(temporary) / "linux"
        new.mkdir()
        subprocess.run(["tar", "-xJf", archive, "-C", new, "--strip-components=1"], check=True)
        (new / ".gitignore").unlink(missing_ok=True)
        subprocess.run(["git", "init", "-q", new], check=True)
        new.rename(tree)
    return tree


def newest_ripgrep(cache):
    """Microsoft's build of it, which npm carries as a program; None when it cannot be had."""
    program = cache / "ripgrep/package/bin/rg"
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine())
    if program.exists():
        return program
    if not machine or not shutil.which("npm"):
        return None
    target = cache / "ripgrep"
    target.mkdir(parents=True, exist_ok=True)
    package = f"@vscode/ripgrep-linux-{machine}"
    if subprocess.run(["npm", "pack", "--silent", package], cwd=target, check=False, capture_output=True).returncode:
        return None
    archive = next(target.glob("*.tgz"))
    subprocess.run(["tar", "-xzf", archive, "-C", target], check=True)
    archive.unlink()
    return program


def ripgreps(named, cache):
    """By version: those that were named, or the installed one and the newest."""
    paths = named or [p for p in (shutil.which("rg"), newest_ripgrep(cache)) if p]
    if not paths:
        raise SystemExit("There is no ripgrep (apt-get install ripgrep).")
    found = {}
    for path in paths:
        version = subprocess.run([path, "--version"], capture_output=True, check=True, text=True).stdout.split()[1]
        found["rg " + version] = str(path)
    return found


def count_files(tree):
    return sum(len(files) for at, _, files in os.walk(tree) if "/.git" not in at)


def post(url, body):
    """The bytes of a request."""
    body = json.dumps(body).encode()
    return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        url.encode(), len(body), body)


class Connection:
    """Kept alive; asks one thing after the other, with little of a client's own cost."""

    def __init__(self, server):
        self.socket = server.connect()

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.socket.close()

    def ask(self, request):
        """The bytes of the answer's body."""
        self.socket.sendall(request)
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.more()
        head = data[:end].lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        parts, have = [data[end + 4:]], len(data) - end - 4
        while have < length:
            parts.append(self.more())
            have += len(parts[-1])
        return b"".join(parts)

    def more(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise SystemExit("the server closed the connection")
        return data

    def call(self, url, **body):
        return json.loads(self.ask(post(url, body)))
