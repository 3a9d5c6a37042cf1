# SPDX-License-Identifier: MIT
"""An agent in OpenAI's form: the model calls tools until it has an answer. pip install coding-sidecar openai"""

import pathlib
import tempfile
from typing import Any, Dict, List

from coding_sidecar import PrivateSidecar
from scripted import TASK, openai_chat

with tempfile.TemporaryDirectory() as workspace:
    pathlib.Path(workspace, "hello.sh").write_text("echo Hello, wrold\n")
    with PrivateSidecar(workspace) as client:  # or Client(socket_path) for a sidecar that runs already
        tools = client.tools("openai", set="full")
        messages: List[Dict[str, Any]] = [{"role": "user", "content": TASK}]
        while True:
            # With the library: OpenAI().chat.completions.create(model=…, messages=messages, tools=tools)
            message = openai_chat(messages, tools)
            messages.append(message)
            if not message.get("tool_calls"):
                print(message["content"])
                break
            for call in message["tool_calls"]:
                print(call["function"]["name"], call["function"]["arguments"])
                messages.append(client.call_tool(call))
        print(client.bash("sh hello.sh").stdout.strip())
