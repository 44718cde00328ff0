"""What a client does with results: it describes, previews, changes, starts again, summarizes, follows and reads skills.

Usage: python results.py SERVER. Runs with the Python SDK over standard input and output, and over HTTP.
"""

import asyncio
import json
import re
import sys
from contextlib import asynccontextmanager

from mcp import Client, StdioServerParameters
from mcp_types import Request
from pydantic import TypeAdapter

from scenario import plain, reported, success

ALL_TOOLS = ["--sandbox", "--toolsets", "all"]

EXECUTION = "4ea293c9-1c5e-4484-9aa0-aaa3664e6f27"
PLAN = "8329bf5f-2912-4f3e-8b06-a97011e21eac"
WINDOWS = "bb2adece-e2ad-49af-a023-29c3643ce7f5"


async def results(client):
    """Runs the scenario. Raises an exception for a wrong result."""

    async def call(name, **arguments):
        return success(plain(await client.call_tool(name, {"project_id": "demo", **arguments})))

    plan = await call("describe_record", record="Release smoke")
    assert plan["kind"] == "test_plan" and len(plan["tests"]) == 4, plan
    bug = await call("describe_record", record="Player falls through the rope bridge", kind="bug")
    assert bug["occurrences"][0]["build"]["name"], bug

    rerun = {"test_plan_execution_id": EXECUTION, "which": "failed", "deployment_config_id": WINDOWS}
    preview = await call("rerun_results", **rerun, dry_run=True)
    assert preview["status"] == "dry_run" and preview["tests"][0]["request"]["method"] == "POST", preview
    first = await call("rerun_results", **rerun)
    again = await call("rerun_results", **rerun)
    assert first["job_ids"] == again["job_ids"] and again["tests"][0]["already_started"], again

    group = await call("summarize_results", job_ids=first["job_ids"], compare_with=EXECUTION)
    assert group["target_type"] == "jobs" and group["state"] == "running", group
    summary = await call("summarize_results", test_plan_id=PLAN, history=5, compare_with="latest-passed")
    assert summary["history"]["tests"] and "note" in summary["comparison"], summary

    stop = await call("stop_runs", job_ids=first["job_ids"], dry_run=True)
    assert stop["request"]["path"].endswith("/runs/stop"), stop

    change = {"test_plan_id": PLAN, "remove": [plan["tests"][-1]["id"]]}
    preview = await call("change_plan_tests", **change, dry_run=True)
    assert preview["status"] == "dry_run" and len(preview["after"]) == 3, preview
    await call("change_plan_tests", **change, confirm=True)
    assert len((await call("describe_record", record="Release smoke"))["tests"]) == 3


async def skills(client):
    """Reads skills as files, and in the revision that has the extension by its methods. Returns the number of skills."""
    [skill] = (await client.read_resource("skill://release-smoke/SKILL.md")).contents
    assert "rerun_results" in skill.text, skill

    async def request(method, **params):
        return await client.session.send_request(Request[dict, str](method=method, params=params), TypeAdapter(dict))

    if client.protocol_version < "2026-07-28":
        return "one skill"
    listed = (await request("skills/list"))["skills"]
    for skill in listed:
        assert (await request("skills/get", uri=skill["uri"]))["skill"] == skill, skill
    return f"{len(listed)} skills"


@asynccontextmanager
async def http_server(server):
    """Starts a server over HTTP with a sandbox. Yields the address of its endpoint."""
    arguments = [*ALL_TOOLS, "http", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
    process = await asyncio.create_subprocess_exec(server, *arguments, stderr=asyncio.subprocess.PIPE)
    try:
        while line := (await process.stderr.readline()).decode():
            if address := re.search(r"listening on (http\S+)", line):
                break
        # What the server logs later is read, so that it does not stop at a full pipe.
        drain = asyncio.create_task(process.stderr.read())
        yield address[1]
        drain.cancel()
    finally:
        process.terminate()
        await process.wait()


async def run(target, mode):
    async with Client(target, mode=mode) as client:
        await results(client)
        return await skills(client)


async def over_stdio(server, mode):
    return await run(StdioServerParameters(command=server, args=ALL_TOOLS), mode)


async def over_http(server, mode):
    async with http_server(server) as address:
        return await run(address, mode)


def main(server):
    failures = []
    for mode in ["legacy", "2026-07-28"]:
        for transport, run_over in [("stdio", over_stdio), ("HTTP", over_http)]:
            title = f"Python mcp, results over {transport}, {mode}"
            failures.append(reported(title, run_over(server, mode)))
    return any(failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
