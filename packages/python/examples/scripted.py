# SPDX-License-Identifier: MIT
"""What stands for the model in the examples, so that they run without a network: it fixes a bug in four turns."""

import json
from typing import Any, Dict, List, Optional, Tuple

TASK = "The greeting has a typing error. Fix it."
SCRIPT: List[Tuple[str, Dict[str, Any]]] = [
    ("search_files", {"pattern": "wrold"}),
    ("edit_file", {"path": "hello.sh", "old_text": "wrold", "new_text": "world"}),
    ("run_command", {"command": "sh hello.sh"}),
]
CONCLUSION = "Fixed: it says Hello, world."


def turn(number: int) -> Optional[Tuple[str, Dict[str, Any]]]:
    """What the model calls in its turn; None when it has finished."""
    return SCRIPT[number] if number < len(SCRIPT) else None


def openai_chat(messages: List[Dict[str, Any]], tools: List[Any]) -> Dict[str, Any]:
    """In the place of openai.OpenAI().chat.completions.create(...).choices[0].message."""
    number = sum(message["role"] == "tool" for message in messages)
    call = turn(number)
    if call is None:
        return {"role": "assistant", "content": CONCLUSION}
    function = {"name": call[0], "arguments": json.dumps(call[1])}
    return {"role": "assistant", "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}]}


def anthropic_message(messages: List[Dict[str, Any]], tools: List[Any]) -> Dict[str, Any]:
    """In the place of anthropic.Anthropic().messages.create(...)."""
    number = sum(message["role"] == "assistant" for message in messages)
    call = turn(number)
    if call is None:
        return {"stop_reason": "end_turn", "content": [{"type": "text", "text": CONCLUSION}]}
    use = {"type": "tool_use", "id": f"call_{number}", "name": call[0], "input": call[1]}
    return {"stop_reason": "tool_use", "content": [use]}
