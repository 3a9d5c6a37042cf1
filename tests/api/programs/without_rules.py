"""without_rules.py in-a-sandbox NODE: tries what only Landlock would hold, in a sandbox without it; nothing is written, wherever it leads.

Prints what could be opened, which processes of the sidecar could be seen, and whether the devices of every command work.
"""
import json
import os
import pathlib
import pty
import sys

# Outside of a sandbox it would open the memory of processes, and settings of the kernel for writing.
if sys.argv[1:2] != ["in-a-sandbox"] or len(sys.argv) != 3:
    sys.exit(__doc__)

opened, above = [], set()


def attempt(path, flags):
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return
    opened.append(path)


attempt(sys.argv[2], os.O_RDONLY)
attempt("/dev/mem", os.O_RDONLY)
attempt("/proc/sys/kernel/core_pattern", os.O_WRONLY)
attempt("/proc/sysrq-trigger", os.O_WRONLY)
for process in pathlib.Path("/proc").glob("[0-9]*"):
    name = (process / "comm").read_text().strip()
    if not name.startswith("sidecar-"):
        continue
    above.add(name)
    attempt(process / "mem", os.O_RDONLY)
    for what in ("cwd", "root"):
        attempt(process / what, os.O_PATH)
    for number in range(64):
        attempt(process / "fd" / str(number), os.O_PATH)

for device in ("null", "zero", "full", "random", "urandom"):
    os.close(os.open("/dev/" + device, os.O_RDWR if device != "random" else os.O_RDONLY))
for end in pty.openpty():
    os.close(end)
print(json.dumps({"opened": [str(path) for path in opened], "above": sorted(above), "works": True}))
