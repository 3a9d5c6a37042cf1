# SPDX-License-Identifier: MIT
"""An agent in Anthropic's form: the model calls tools until it has an answer. pip install coding-sidecar anthropic"""

import asyncio
import json
import pathlib
import tempfile
from typing import Any, Dict, List

from coding_sidecar import AsyncClient, PrivateSidecar
from scripted import TASK, anthropic_message


async def agent(client: AsyncClient) -> None:
    tools = await client.tools("anthropic", set="full")
    messages: List[Dict[str, Any]] = [{"role": "user", "content": TASK}]
    while True:
        # With the library: await AsyncAnthropic().messages.create(model=…, max_tokens=…, messages=messages, tools=tools)
        message = anthropic_message(messages, tools)
        messages.append({"role": "assistant", "content": message["content"]})
        calls = []
        for block in message["content"]:
            if block["type"] == "text":
                print(block["text"])
            else:
                print(block["name"], json.dumps(block["input"]))
                calls.append(client.call_tool(block))
        if message["stop_reason"] != "tool_use":
            break
        messages.append({"role": "user", "content": await asyncio.gather(*calls)})
    print((await client.bash("sh hello.sh")).stdout.strip())


with tempfile.TemporaryDirectory() as workspace:
    pathlib.Path(workspace, "hello.sh").write_text("echo Hello, wrold\n")
    sidecar = PrivateSidecar(workspace)
    with sidecar:
        asyncio.run(agent(AsyncClient(sidecar.socket_path)))
