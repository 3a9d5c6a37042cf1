# SPDX-License-Identifier: MIT
"""search_checks: what a search must keep whatever is asked: memory, linear time, the lines ripgrep finds."""

import os
import random
import statistics
import subprocess
import threading
import time

import search_peers
import servers

MB = 1 << 20
MOST_LINES = 20000  # up to here the lines themselves are compared, above their number in each file
PAGE = 1000

MANY_STATES = "[ab]*a[ab]{14}[^ab!]"

# title, pattern, what the line is made of; a "!" ends it, and nothing matches
BUILT_TO_BE_SLOW = [
    ("nested repeats", "(a+)+[^a!]", "a"),
    ("equal alternatives", "(a|a)*[^a!]", "a"),
    ("empty repeats", "(a*)*[^a!]", "a"),
    ("neighbouring repeats", "a*a*a*a*a*[^a!]", "a"),
    ("two in one", "(a+a+)+[^a!]", "a"),
    ("optional, then required", "(a?){30}a{30}[^a!]", "a"),
    ("any, any", ".*.*[^a!]", "a"),
    ("a start at every byte", r"\w+\d", "a"),
    ("words to the end", r"(\w+\s?)+[#%]", "a"),
    ("more states than memory", MANY_STATES, "ab"),
]
FOR_PCRE2 = [r"(a+)+\1[^a]", "(?=a)a*a*a*a*[bc]", r"(?=(a+)+[bc])(a+)+\1", "(?<=a)(a|a)*[bc]", r"(a|aa)+\1[bc]"]


def memory(options, directory):
    """The server's growth while it searches the whole tree, and one line of 2 GB."""
    print("\nMemory of the server, MB:\n")
    form = "| {:40} | {:>8} | {:>8} | {:>8} | {:>8} |"
    print(form.format("", "before", "most", "grown by", "after"))
    print(form.format(*["---"] * 5))
    huge = directory / "huge"
    huge.mkdir()
    for title, tree, body in (
            ("the tree, no match", options.tree, {"pattern": "zzqqxxyy"}),
            ("the tree, 8 MB of hits", options.tree, {"pattern": "return", "limit": 1000000}),
            ("the tree, a pattern of many states", options.tree, {"pattern": "[a-z ]*e[a-z ]{14}[^a-z ]{12}"}),
            ("a line of 2 GB", huge, {"pattern": "ab", "limit": 1000000})):
        if tree == huge:
            with open(huge / "line", "wb") as f:
                for _ in range(2048):
                    f.write(b"a" * MB)
        with servers.sidecar(directory, tree) as server, search_peers.Connection(server) as connection:
            connection.ask(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            before = servers.number_of(server.pid, "status", "VmRSS:") / 1024
            server.forget_peak()
            connection.call("/grep", **body)
            most = server.peak_kb() / 1024
            time.sleep(1)
            after = servers.number_of(server.pid, "status", "VmRSS:") / 1024
        print(form.format(title, f"{before:.1f}", f"{most:.1f}", f"{most - before:.1f}", f"{after:.1f}"), flush=True)


def timed(connection, **body):
    began = time.perf_counter()
    answer = connection.call("/grep", **body)
    return (time.perf_counter() - began) * 1e3, answer


def growth(connection, workspace):
    print("\nOne line of 1 MB and of 2 MB, ms, the best of five:\n")
    form = "| {:26} | {:22} | {:>8} | {:>8} | {:>6} |"
    print(form.format("", "pattern", "1 MB", "2 MB", "ratio"))
    print(form.format(*["---"] * 5))
    chance = random.Random(1)
    for title, pattern, letters in BUILT_TO_BE_SLOW:
        best = []
        for size in (MB - 2, 2 * MB - 2):
            (workspace / "line").write_text("".join(chance.choices(letters, k=size)) + "!\n")
            best.append(min(timed(connection, pattern=pattern, path="line")[0] for _ in range(5)))
        print(form.format(title, f"`{pattern}`".replace("|", "\\|"), f"{best[0]:.1f}", f"{best[1]:.1f}",
                          f"{best[1] / best[0]:.2f}"), flush=True)


def health_beside(server, workspace):
    """GET /health while four searches take all there is."""
    chance = random.Random(2)
    (workspace / "states").write_text("\n".join("".join(chance.choices("ab", k=MB)) for _ in range(8)))
    stop = threading.Event()

    def search():
        with search_peers.Connection(server) as connection:
            while not stop.is_set():
                connection.call("/grep", pattern=MANY_STATES, path="states")

    def health(seconds):
        times, end = [], time.perf_counter() + seconds
        with search_peers.Connection(server) as connection:
            while time.perf_counter() < end:
                began = time.perf_counter()
                connection.ask(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                times.append((time.perf_counter() - began) * 1e3)
                time.sleep(0.005)
        return f"median {statistics.median(times):.2f} ms, 99 of 100 below {sorted(times)[len(times) * 99 // 100]:.2f} ms"

    print(f"\n/health alone: {health(2)}")
    searches = [threading.Thread(target=search) for _ in range(4)]
    for thread in searches:
        thread.start()
    print(f"/health beside four searches: {health(5)}", flush=True)
    stop.set()
    for thread in searches:
        thread.join()


def budgets(directory, workspace):
    """Patterns that only PCRE2 can match, under a budget of one second."""
    (workspace / "line").write_text(("a" * 4000 + "\n") * 500)
    os.environ["SIDECAR_SEARCH_SECONDS"] = "1"
    try:
        with servers.sidecar(directory, workspace) as server, search_peers.Connection(server) as connection:
            print("\nPatterns for PCRE2 on 500 lines of 4000 bytes, budget 1 s:\n")
            for pattern in FOR_PCRE2:
                ms, answer = timed(connection, pattern=pattern, path="line")
                print(f"- `{pattern}`: {answer.get('code', 'searched to the end')} after {ms:.0f} ms", flush=True)
    finally:
        del os.environ["SIDECAR_SEARCH_SECONDS"]


def slow(_, directory):
    workspace = directory / "slow"
    workspace.mkdir()
    with servers.sidecar(directory, workspace) as server:
        with search_peers.Connection(server) as connection:
            growth(connection, workspace)
        health_beside(server, workspace)
    budgets(directory, workspace)


def patterns():
    """Two hundred."""
    words = search_peers.WORDS
    forms = ("%s", "%s_", r"\b%s\b", "^.*%s.*;$", r"%s\(", "(?i)%s_[a-z]+", r"%s\w*\s*=\s*\w+", r"[a-z]+_%s\b")
    some = [form % word for form in forms for word in words] + [f"{a}|{b}" for a, b in zip(words, words[1:])]
    return some + [
        r"0x[0-9a-f]{8}\b", r"^\s*#\s*define\s+[A-Z_]{20,}\b", r"\bif\s*\(\s*!\w+\s*\)\s*return;", r"[A-Z]{6,}[0-9]{3}",
        "^}$", "^$", r"\t{6}", r"[^\x00-\x7f]", r"\*/$", "(ab|cd|ef){2}", "x{3}", "a.c.e.g", r"\d+\.\d+\.\d+\.\d+",
        "^static (inline )?(int|void|bool) __", "goto (out|err|fail)[a-z_]*;", r"[\w.]+@[\w.]+\.org", "//.*http",
        r"\\n\"\);$", "return -E[A-Z]+;", r"struct \w+ \*\w+ = \w+->\w+;", "[a-f0-9]{40}"]


def our_matches(server, pattern, mode):
    """All pages: (file, line) or (file, count)."""
    found, cursor = set(), None
    what = "line" if mode == "lines" else "count"
    with search_peers.Connection(server) as connection:
        while True:
            body = {"pattern": pattern, "mode": mode, "max_results": PAGE, "cursor": cursor}
            seen = connection.call("/tools/search_files", **body)
            if not seen["success"]:
                raise SystemExit(f"{pattern}: {seen['error']}")
            found.update((m["file"], m[what]) for m in seen["output"]["matches"])
            cursor = seen["output"].get("next_cursor")
            if not cursor:
                return found


def their_matches(tree, rg, pattern, mode):
    """The same of ripgrep, whose classes are told to be ASCII as ours are."""
    flags = ["-n"] if mode == "lines" else ["-c"]
    argv = [rg, *search_peers.RG_RULES, "--no-unicode", "--null", "--with-filename", *flags, "-e", pattern, "."]
    out = subprocess.run(argv, cwd=tree, capture_output=True, check=False).stdout.decode(errors="replace")
    found = set()
    for line in out.split("\n"):
        if "\0" in line:
            name, number = line.split("\0", 1)
            found.add((name[2:], int(number.split(":")[0])))
    return found


def same(options, directory):
    """Where our matching lines are not ripgrep's."""
    name, rg = list(options.rg.items())[-1]
    print(f"\nThe lines of 200 patterns beside {name}:\n")
    lines = differing = 0
    with servers.sidecar(directory, options.tree) as server:
        for pattern in patterns():
            counts = their_matches(options.tree, rg, pattern, "counts")
            number = sum(count for _, count in counts)
            mode = "lines" if number <= MOST_LINES else "counts"
            theirs = their_matches(options.tree, rg, pattern, mode) if mode == "lines" else counts
            ours = our_matches(server, pattern, mode)
            lines += number
            if ours == theirs:
                continue
            differing += 1
            print(f"- `{pattern}`: only ours {len(ours - theirs)}, only theirs {len(theirs - ours)}, "
                  f"first {min(ours ^ theirs)}", flush=True)
    print(f"{len(patterns())} patterns, {lines} lines, {differing} patterns with a difference")
