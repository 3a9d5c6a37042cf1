# SPDX-License-Identifier: MIT
"""The forms in which providers' libraries take definitions of tools, give calls of models, and take their results."""

import inspect
import json
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple


@dataclass(frozen=True)
class ToolError:
    """Why a tool failed, in words for a model."""

    code: str
    message: str
    more: Dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Observation:
    """What a tool for models answers. A tool that fails is one with ``success`` False, not an exception."""

    success: bool
    tool: str
    output: Optional[Dict[str, Any]]
    error: Optional[ToolError]
    changes: Optional[Dict[str, Any]] = None
    """What it changed; its ``id`` is for ``undo_change``."""
    more: Dict[str, Any] = field(default_factory=dict)


def plain(call: Any) -> Dict[str, Any]:
    """A call as a dict: that of a library (OpenAI, Anthropic) is an object with ``model_dump``."""
    if hasattr(call, "model_dump"):
        return dict(call.model_dump(exclude_none=True))
    return dict(call)


def reply_format(call: Mapping[str, Any]) -> Optional[str]:
    """Whose message answers this call; None: its own form says it, as that of a provider's built-in tool."""
    kind, called = call.get("type"), call.get("function")
    if called is not None:
        return "openai" if isinstance(called.get("arguments"), str) else "ollama"
    if kind == "function_call":
        return "openai"
    if kind == "tool_use":
        return "anthropic"
    return "gemini" if "args" in call else None


def is_langchain(call: Mapping[str, Any]) -> bool:
    return call.get("type") == "tool_call"


def langchain_call(call: Mapping[str, Any]) -> Dict[str, Any]:
    """LangChain's call in the form of OpenAI, in whose form LangChain also takes the reply."""
    return {"id": call.get("id"), "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["args"])}}


_TYPES: Dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "array": List[Any],
                          "object": Dict[str, Any]}


class ToolFunction:
    """A tool as a function that says what it takes: for LangChain, and for everything that reads signatures.

    Calling it with the arguments as keywords gives the observation as JSON, for the model. Of ``AsyncClient`` it is a
    coroutine function.
    """

    def __init__(self, definition: Mapping[str, Any], run: Callable[[str, Dict[str, Any]], Any]) -> None:
        about = definition["function"]
        self.name: str = about["name"]
        self.description: str = about["description"]
        self.args_schema: Dict[str, Any] = about["parameters"]
        self.__name__ = self.name
        self.__qualname__ = self.name
        self.__doc__ = self.description
        self.__signature__ = _signature(self.args_schema)
        self.__annotations__ = {one.name: one.annotation for one in self.__signature__.parameters.values()}
        self.__annotations__["return"] = str
        self._run = run

    def __call__(self, **arguments: Any) -> Any:
        return self._run(self.name, arguments)


def _signature(schema: Mapping[str, Any]) -> inspect.Signature:
    required = schema.get("required", [])

    def annotation(about: Mapping[str, Any]) -> Tuple[Any, Any]:
        kind = about.get("type", "string")
        return _TYPES.get(kind if isinstance(kind, str) else kind[0], Any), inspect.Parameter.empty

    parameters = []
    for name, about in schema.get("properties", {}).items():
        kind, default = annotation(about)
        if name not in required:
            kind, default = Optional[kind], None
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default))
    return inspect.Signature(parameters, return_annotation=str)
