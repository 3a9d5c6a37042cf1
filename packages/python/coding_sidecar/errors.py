# SPDX-License-Identifier: MIT
"""What this package raises."""

import json
from typing import Any, Dict, Optional


class SidecarError(Exception):
    """Every failure of this package.

    ``code`` is a code of the server (``operations.ERROR_CODES``), or one of the client's own:

    - ``NOT_READY``: no sidecar answered in time; nothing was sent
    - ``CONNECTION_LOST``: the connection ended before the answer; the call may have run
    - ``UNAUTHORIZED``: the token is missing or wrong
    - ``CANCELLED``: the stream was closed while it ran
    - ``TIMED_OUT``: no answer within the timeout
    - ``BAD_ANSWER``: what answered is not a sidecar, or a newer one
    - ``INVALID_CONFIG``: the client cannot be made from these arguments

    ``status`` is that of the HTTP answer, if there was one. ``details`` is the rest of the answer: with ``CONFLICT``
    its ``conflicts``, with ``NOT_SAVED`` its ``paths``. Of a command that was cancelled, timed out or lost: ``call``, the
    number of its call, whose ``change`` ``watched_call`` knows once it has ended.
    """

    def __init__(self, code: str, message: str, *, status: Optional[int] = None,
                 details: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.details = details or {}


class PathNotAllowedError(SidecarError):
    """The path leads out of the directories that may be used; ``get_allowed_paths`` lists them. ``code`` says in which way."""


def error_of_answer(status: int, body: bytes) -> SidecarError:
    """The error that an answer other than 2xx stands for."""
    try:
        details = dict(json.loads(body))
    except (ValueError, TypeError):
        details = {}  # something in between answered, in its own words
    details.pop("ok", None)
    message = details.pop("error", f"The server answered with status {status}")
    code = details.pop("code", None) or _CODES.get(status, "BAD_ANSWER")
    kind = PathNotAllowedError if code in _NOT_ALLOWED else SidecarError
    return kind(str(code), str(message), status=status, details=details)


_NOT_ALLOWED = ("PATH_OUTSIDE_WORKSPACE", "SYMLINK_OUTSIDE_WORKSPACE", "PATH_NOT_ALLOWED")
_CODES = {401: "UNAUTHORIZED", 403: "UNAUTHORIZED", 400: "INVALID_ARGUMENTS", 404: "INVALID_ARGUMENTS",
          405: "INVALID_ARGUMENTS", 413: "FILE_TOO_LARGE", 408: "TOO_BUSY", 503: "TOO_BUSY"}
