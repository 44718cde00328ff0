#!/usr/bin/env python3
"""Follows each prompt, which is the skill of the same name, once against the sandbox.

usage: skills.py SERVER

Each walk makes the calls that the text tells, with all tools. A walk fails if a call fails, if it leaves out a tool that the
text names, or if a name in backticks is neither in the description of a tool nor in a reply of the walk.
"""

import json
import pathlib
import re
import sys
import tempfile

from session import Sandbox, Session

RUN, TEST = "ezhzy9x6eq4", "Pause and resume"
PLAN, EXECUTION = "8329bf5f-2912-4f3e-8b06-a97011e21eac", "4ea293c9-1c5e-4484-9aa0-aaa3664e6f27"
BUILD = "5f5cf9b5-7e80-4ebb-be07-f0d4bdd839ec"

#: Names in backticks that are words of a failure, of a test or of an export, which no walk meets.
OTHER_WORDS = {"feature_disabled", "conflict", "outcome_unknown", "error_code", "error", "no_run", "repeat", "incomplete"}


def triage_run(call):
    call("summarize_results", run_id=RUN)
    run = call("get_run", run_id=RUN)
    bugs = call("list_run_bugs", run_id=RUN)
    call("describe_record", record=bugs["data"][0]["bug_id"])
    call("list_runs", multiplayer_test_id=run["test"]["id"], newest=5)
    player = run["players"][0]
    call("get_run_artifact", run_id=player["id"], filename=player["artifacts"][0]["filename"])
    call("download_run_files", run_id=RUN, destination_dir="files")


def nightly_report(call):
    call("summarize_results", test_plan_id=PLAN, compare_with="previous")
    failed = call("summarize_results", test_plan_execution_id=EXECUTION)["failures"]
    call("get_run", run_id=failed[0]["run_ids"][0])


def release_smoke(call):
    call("find_by_name", names=[call("get_build", build_id=BUILD)["name"]])
    call("upload_build", path="game.apk", dry_run=True)
    call("describe_record", record=PLAN)
    devices = call("list_deployment_configs")["data"]
    [device, *_] = [one["id"] for one in devices if one["kind"] == "android" and one["providerType"] == "build-storage"]
    started = call("start_test_plan_run", test_plan_id=PLAN, deployment_config_id=device, build_id=BUILD)
    execution = started["test_plan_execution_id"]
    call.advance(100_000)
    call("wait_for_completion", test_plan_execution_id=execution)
    call("summarize_results", test_plan_execution_id=execution, compare_with="previous")
    call("rerun_results", test_plan_execution_id=execution, deployment_config_id=device)
    call("start_run", test_plan_id=PLAN, deployment_config_id=device, dry_run=True)


def write_a_test(call):
    test = call("find_by_name", names=[TEST], kinds=["test"])["results"][0]["records"][0]["id"]
    similar = call("get_test", test_id=test)
    collections = call("list_shared_steps")["data"]
    call("list_knowledge_files")
    call("list_test_folders")
    items = {
        "1": {"type": "collection", "collection_id": collections[0]["id"]},
        "2": {"type": "step", "goal": "Open the map", "expected_results": [{"expected": "The map is shown"}]},
    }
    player = {"name": "Player 1", "item_order": ["1", "2"], "items_by_key": items}
    written = {"name": "Open the map", "test_type": "verification", "tags": similar["tags"], "max_seconds": 900}
    written |= {"players_by_key": {"1": player}, "player_order": ["1"]}
    created = call("create_test", test=written, folder_path="Menus")
    device = call("list_deployment_configs")["data"][0]["id"]
    call("start_run", multiplayer_test_id=created["id"], deployment_config_id=device)
    patch = {"players_by_key": {"1": {"items_by_key": {"2": {"goal": "Open the map with its button"}}}}}
    call("update_test", test_id=created["id"], expected_version=created["version"], patch=patch)


def keep_flaky_tests_down(call):
    call("summarize_results", test_plan_id=PLAN, history=20)
    call("summarize_results", test_plan_execution_id=EXECUTION)
    test = call("find_by_name", names=[TEST], kinds=["test"])["results"][0]["records"][0]["id"]
    runs = call("list_runs", multiplayer_test_id=test, newest=5)["data"]
    call("get_run", run_id=runs[0]["multiplayer_run_id"])
    version = call("get_test", test_id=test)["version"]
    call("update_test", test_id=test, expected_version=version, patch={"max_seconds": 1800}, dry_run=True)
    collection = call("list_shared_steps")["data"][0]["id"]
    version = call("get_shared_step", shared_step_id=collection)["version"]
    call("update_shared_step", shared_step_id=collection, expected_version=version, patch={"name": "x"}, dry_run=True)
    device = call("list_deployment_configs")["data"][0]["id"]
    call("start_run", multiplayer_test_id=test, deployment_config_id=device, instances=5, confirm=True)


def export_results(call):
    call("summarize_results", test_plan_execution_id=EXECUTION)
    call("export_tmsys_run", test_plan_execution_id=EXECUTION, force_new_run=False)
    call("export_tmsys_run", test_plan_execution_id=EXECUTION, force_new_run=False)


#: Each skill with the arguments of its prompt.
WALKS = [
    (triage_run, {"run_id": RUN}),
    (nightly_report, {"test_plan_id": PLAN, "compare_with": "previous"}),
    (release_smoke, {"build_id": BUILD, "test_plan_id": PLAN}),
    (write_a_test, {}),
    (keep_flaky_tests_down, {"test_plan_id": PLAN}),
    (export_results, {"test_plan_execution_id": EXECUTION}),
]


class Calls:
    """Makes calls, and keeps what was called and what was replied."""

    def __init__(self, sandbox, session):
        self.session, self.advance, self.called, self.problems, self.texts = session, sandbox.advance, set(), [], []

    def __call__(self, tool, **arguments):
        text, failed = self.session.call(tool, arguments)
        self.called.add(tool)
        self.texts.append(text)
        self.problems += [f"{tool} failed: {text[:300]}"] * failed
        return json.loads(text)


def follow(server, directory, walk, arguments):
    """Returns why the walk along a prompt fails."""
    name = walk.__name__.replace("_", "-")
    settings = {"TAS_TOOLSETS": "all", "TAS_FILES_ROOT": directory}
    with Sandbox(server) as sandbox, Session(server, sandbox, settings) as session:
        prompt = session.request("prompts/get", {"name": name, "arguments": arguments})
        text = prompt["messages"][0]["content"]["text"].split("\n\nThe user has given")[0]
        calls = Calls(sandbox, session)
        try:
            walk(calls)
        except (LookupError, TypeError, ValueError) as error:
            calls.problems.append(f"{type(error).__name__}: {error}")

    quoted = set(re.findall(r"`([^`]+)`", text))
    known = json.dumps(session.tools) + " ".join(calls.texts)
    words = {word for one in quoted for word in re.findall(r"[A-Za-z_]{3,}", one)} - OTHER_WORDS
    unknown = [word for word in words if not re.search(rf"\b{word}\b", known)]
    left_out = quoted & {tool["name"] for tool in session.tools} - calls.called
    return name, [*calls.problems, *(f"unknown: {one}" for one in unknown), *(f"not called: {one}" for one in left_out)]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "game.apk").write_bytes(b"build")
        for walk, arguments in WALKS:
            name, problems = follow(sys.argv[1], directory, walk, arguments)
            failed += bool(problems)
            print(f"{'FAILED' if problems else 'ok':6} {name}", *problems, sep="\n       ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
