# SPDX-License-Identifier: MIT
"""A command's output as it comes, and a time limit of our own."""

import tempfile

from coding_sidecar import BashOutput, PrivateSidecar, SidecarError

with tempfile.TemporaryDirectory() as workspace, PrivateSidecar(workspace) as client:
    with client.bash_stream("for i in 1 2 3; do echo line $i; done; exit 3") as events:
        for event in events:
            print(event.data.rstrip() if isinstance(event, BashOutput) else f"exit status {event.exit_code}")
    try:
        client.bash("sleep 1000", timeout=0.1)
    except SidecarError as error:
        print(error.code)  # the command has been ended, with everything that it started
