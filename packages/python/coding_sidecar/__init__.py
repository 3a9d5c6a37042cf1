# SPDX-License-Identifier: MIT
"""coding-sidecar: tools for coding agents inside one workspace.

``Client`` and ``AsyncClient`` talk to a sidecar that is already running; ``PrivateSidecar`` starts one for this process.
"""

from .aio import AsyncClient
from .client import Client, Stream
from .errors import PathNotAllowedError, SidecarError
from .models import Observation, ToolError, ToolFunction
from .program import PrivateSidecar, program_path
from .wire import BashDone, BashEvent, BashOutput, BashResult, McpAnswer

__all__ = [
    "AsyncClient", "BashDone", "BashEvent", "BashOutput", "BashResult", "Client", "McpAnswer", "Observation",
    "PathNotAllowedError", "PrivateSidecar", "SidecarError", "Stream", "ToolError", "ToolFunction", "program_path",
]
