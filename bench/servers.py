# SPDX-License-Identifier: MIT
"""servers: start what is measured, load it, and read from /proc what it costs."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = TOP / "build"
SIDECAR = BUILD / "sidecar"
NODE = shutil.which("node")
PROGRAMS = ["sidecar", "bench/bench_floor", "bench/bench_load", "bench/bench_newlines", "bench/bench_commands"]


def build():
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["meson", "setup", BUILD, "-Dtests=false"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", BUILD, *PROGRAMS], check=True, stdout=subprocess.DEVNULL)


class Table:
    """One line for each thing measured, with its target and whether it was met."""

    def __init__(self):
        self.missed = 0
        self.line("", "ours", "peer", "CPU µs", "peer", "ratio", "target", "")
        self.line(*["---"] * 8)

    @staticmethod
    def line(*cells):
        form = "| {:38} | {:>11} | {:>17} | {:>7} | {:>7} | {:>9} | {:>9} | {:6} |"
        print(form.format(*cells), flush=True)

    def add(self, what, ours, peer, ratio, target, met, cpu=("", "")):
        self.missed += not met
        self.line(what, ours, peer, *cpu, ratio, target, "met" if met else "MISSED")


class Server:
    """A process that listens on a Unix socket, until the with block ends."""

    def __init__(self, name, command, path):
        self.name, self.command, self.socket = name, [str(c) for c in command], str(path)

    def __enter__(self):
        """started_us is the time from here to the first answer to GET /health."""
        quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (1, 2)]
        begin = time.perf_counter()
        self.pid = os.posix_spawn(self.command[0], self.command, os.environ, file_actions=quiet)
        while not self.asked(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            if time.perf_counter() > begin + 20 or os.waitpid(self.pid, os.WNOHANG)[0]:
                raise SystemExit(f"{self.name} does not answer: {' '.join(self.command)}")
            time.sleep(0.0001)
        self.started_us = (time.perf_counter() - begin) * 1e6
        return self

    def __exit__(self, *why):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        pathlib.Path(self.socket).unlink(missing_ok=True)

    def connect(self):
        s = socket.socket(socket.AF_UNIX)
        s.connect(self.socket)
        return s

    def asked(self, request):
        try:
            with self.connect() as s:
                s.sendall(request)
                return s.recv(4096)
        except OSError:
            return b""

    def cpu_us(self):
        """What all threads have used; the scheduler counts nanoseconds."""
        total = 0
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # a thread that has just ended
                total += int((task / "schedstat").read_text().split()[0])
        return total / 1e3

    def tree(self):
        """This process and all below it."""
        found = [self.pid]
        for pid in found:
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        return found

    def pss_kb(self):
        return sum(number_of(pid, "smaps_rollup", "Pss:") for pid in self.tree())

    def peak_kb(self):
        return number_of(self.pid, "status", "VmHWM:")

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")


def number_of(pid, file, field):
    for line in pathlib.Path(f"/proc/{pid}/{file}").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise KeyError(field)


def sidecar(directory, workspace, *flags, name="ours"):
    path = directory / f"{name}.sock"
    return Server(name, [SIDECAR, "serve", "--workspace", workspace, "--socket", path, *flags], path)


def floor(directory, file):
    path = directory / "floor.sock"
    return Server("floor", [BUILD / "bench/bench_floor", path, file], path)


def node(directory, workspace):
    path = directory / "node.sock"
    return Server("node", [NODE, TOP / "bench/node_read.mjs", path, workspace], path)


def load(server, path, body=None, connections=1, keep=True, seconds=1.0, least=0):
    """What bench_load prints, and cpu_us: what each request cost the server."""
    command = [BUILD / "bench/bench_load", "-c", connections, "-s", seconds, "-m", least]
    command += (["-k"] if keep else []) + [server.socket, path] + ([body] if body else [])
    before = server.cpu_us()
    output = subprocess.run([str(c) for c in command], check=True, capture_output=True).stdout
    result = json.loads(output)
    result["cpu_us"] = (server.cpu_us() - before) / max(result["requests"], 1)
    return result
