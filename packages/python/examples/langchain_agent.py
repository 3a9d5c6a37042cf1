# SPDX-License-Identifier: MIT
"""Tools as functions with names, documentation and signatures, for LangChain and others that take such."""

import inspect
import json
import pathlib
import tempfile

from coding_sidecar import PrivateSidecar
from scripted import CONCLUSION, SCRIPT

with tempfile.TemporaryDirectory() as workspace:
    pathlib.Path(workspace, "hello.sh").write_text("echo Hello, wrold\n")
    with PrivateSidecar(workspace) as client:
        # With the library: create_agent(model, tools=client.tools("langchain")), or for one tool
        # StructuredTool.from_function(f, name=f.name, description=f.description, args_schema=f.args_schema)
        tools = {function.__name__: function for function in client.tools("langchain", set="full")}
        for name, args in SCRIPT:
            inspect.signature(tools[name]).bind(**args)
            print(name, json.dumps(args))
            tools[name](**args)
        print(CONCLUSION)
        print(client.bash("sh hello.sh").stdout.strip())
