"""The results that every Python client must get from `tas-mcp --sandbox`, in every protocol revision.

Usage: python scenario.py SERVER
"""

import asyncio
import importlib.metadata
import json
import sys

MODES = ["legacy", "auto", "2026-07-28"]


def text(result):
    """Parses the single text block of a result, which is always JSON."""
    [block] = result["content"]
    assert block["type"] == "text", block
    return json.loads(block["text"])


def success(result):
    assert not result.get("isError"), result
    assert text(result) == result["structuredContent"], "text and structure differ"
    return result["structuredContent"]


def failure(result, code):
    assert result.get("isError") is True, result
    assert result.get("structuredContent") is None, result
    error = text(result)["error"]
    assert error["code"] == code, error
    return error


async def scenario(tools, call):
    """Runs the scenario. `tools()` returns the names of the tools, `call(name, arguments)` a result as JSON."""
    names = await tools()
    for name in ["list_deployment_configs", "list_runs", "get_run", "get_job", "start_run"]:
        assert name in names, f"{name} is not offered"

    assert success(await call("list_deployment_configs", {}))["data"]

    runs = success(await call("list_runs", {"project_id": "demo", "page_size": 100}))["data"]
    run_id = min(runs, key=lambda run: run["created_at"])["multiplayer_run_id"]
    assert success(await call("get_run", {"run_id": run_id}))["multiplayer_run_id"] == run_id

    refused = failure(await call("get_job", {"job_id": "x", "colour": "red"}), "invalid_arguments")
    assert sorted(violation["path"] for violation in refused["details"]["violations"]) == ["colour", "job_id"]

    foreign = failure(await call("get_run", {"run_id": run_id, "project_id": "arena"}), "project_scope_mismatch")
    assert foreign["details"]["requested_project"] == "arena", foreign
    assert foreign["details"]["owning_project"] == "demo", foreign
    return f"{len(names)} tools"


def plain(result):
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def with_sdk(server, mode):
    from mcp import Client, StdioServerParameters

    parameters = StdioServerParameters(command=server, args=["--sandbox"])
    async with Client(parameters, mode=mode) as client:

        async def tools():
            return [tool.name for tool in (await client.list_tools()).tools]

        async def call(name, arguments):
            return plain(await client.call_tool(name, arguments))

        return await scenario(tools, call)


async def with_fastmcp(server, mode):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    transport = StdioTransport(server, ["--sandbox"], keep_alive=False)
    async with Client(transport, mode=mode) as client:

        async def tools():
            return [tool.name for tool in await client.list_tools()]

        async def call(name, arguments):
            return plain(await client.call_tool_mcp(name, arguments))

        return await scenario(tools, call)


def reported(title, outcome):
    """Runs the coroutine `outcome` of a client, and prints a line. Returns whether it failed."""
    try:
        print(f"ok      {title}: {asyncio.run(outcome)}")
        return False
    except Exception as error:  # Any exception of a client is a finding.
        print(f"FAILED  {title}: {error!r}")
        return True


def main(server):
    failures = []
    for package, run in [("mcp", with_sdk), ("fastmcp-slim", with_fastmcp)]:
        for mode in MODES:
            title = f"Python {package} {importlib.metadata.version(package)}, {mode}"
            failures.append(reported(title, run(server, mode)))
    return any(failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
