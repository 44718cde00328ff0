"""Derives a document for fuzzing a running sandbox from the OpenAPI document of the service.

The derived document contains the operations that have tools, each with and without its project. It offers the ids that
exist in the sandbox; otherwise nearly every answer would be 403 or 404.

Usage: python derive.py BASE_URL DOCUMENT TOOLS OUTPUT
"""

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path

from keys import ORGANIZATION
from spares import Spares

PROJECTS = ["demo", "arena"]
# Prefix of the paths of the main API. Paths of the knowledge host have no prefix.
MAIN = "/api/v1"
IN_PROJECT = "/project/{projectId}"
METHODS = ["get", "post", "put", "patch", "delete"]

# Ranges that every file has, a range that no file has, and a header that is not a range.
RANGES = {
    "name": "Range",
    "in": "header",
    "schema": {"type": "string", "enum": ["bytes=0-99", "bytes=10-", "bytes=-5", "bytes=99999999-", "lines=1-2"]},
}

# The first tag matches every file, the second none.
TAGS = {"name": "If-None-Match", "in": "header", "schema": {"type": "string", "enum": ["*", '"0cc175b9c0f1b6a8"']}}

# Resources with ids, the field of the id, and the parameters and properties that take the id.
IDS = [
    ("runs", "multiplayer_run_id", ["runId", "multiplayer_run_id", "multiplayer_run_ids"]),
    ("jobs", "job_id", ["jobId", "job_id", "job_ids"]),
    ("bugs", "id", ["bugId"]),
    ("tests", "id", ["testId", "multiplayer_test_id"]),
    ("test-folders", "id", ["folder_id", "parent_folder_id"]),
    ("shared-steps", "id", ["sharedStepId"]),
    ("builds", "id", ["buildId"]),
    ("tests", "folder_path", ["folder_path"]),
    ("test-plans", "id", ["testPlanId", "test_plan_id"]),
    ("test-plan-executions", "id", ["executionId", "test_plan_execution_id"]),
    ("test-plan-executions", "build_id", ["build_id"]),
    ("agent-configs", "id", ["agent_config_id"]),
    ("deployment-configs", "id", ["deployment_config_id"]),
]


def read(url):
    request = urllib.request.Request(url, headers={"X-Api-Key": ORGANIZATION})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def records(base_url, project, resource):
    url = f"{base_url}/project/{project}/{resource}?page_size=100"
    try:
        return read(url)["data"]
    except urllib.error.HTTPError as error:
        # A project may lack a feature.
        if error.code == 403:
            return []
        raise


def artifacts(base_url):
    """Returns the ids of the players of all runs, and the names of their files."""
    players, files = [], []
    for project in PROJECTS:
        for run in records(base_url, project, "runs"):
            detail = read(f"{base_url}/project/{project}/runs/{run['multiplayer_run_id']}")
            players += [player["id"] for player in detail["players"]]
            files += [file["filename"] for player in detail["players"] for file in player["artifacts"]]
    return players, list(dict.fromkeys(files))


def known_ids(base_url):
    """Returns the ids by the name of the parameter or property that takes them."""
    known = {}
    for resource, field, names in IDS:
        found = [record.get(field) for project in PROJECTS for record in records(base_url, project, resource)]
        found = list(dict.fromkeys(value for value in found if value))
        if not found:
            sys.exit(f"the sandbox has no {resource}")
        known.update({name: found for name in names})
    return known


def offer(schema, ids):
    """Returns the schema with the known ids as an alternative, so that they are half of the generated values."""
    if schema.get("type") == "array":
        return {**schema, "items": offer(schema["items"], ids)}
    return {"anyOf": [{"type": "string", "enum": ids}, schema]}


def with_known_ids(value, known):
    """Returns the document with the known ids as values of all parameters that take them."""
    if isinstance(value, list):
        return [with_known_ids(item, known) for item in value]
    if not isinstance(value, dict):
        return value
    value = {name: with_known_ids(item, known) for name, item in value.items()}
    if value.get("in") in ("path", "query"):
        if value["name"] == "projectId":
            return {**value, "example": PROJECTS[0], "schema": {"type": "string", "enum": [*PROJECTS, "nowhere"]}}
        if ids := known.get(value["name"]):
            return {**value, "example": ids[0], "schema": offer(value["schema"], ids)}
    return value


def with_known_fields(schema, known):
    for field, ids in known.items():
        if field in schema.get("properties", {}):
            schema["properties"][field] = offer(schema["properties"][field], ids)


def with_known_bodies(schemas, known):
    """Adds the known ids to the bodies of requests. The schemas of answers are not changed."""
    for name, schema in schemas.items():
        if name.endswith("Request") or name in ("TargetDeploymentConfig", "TestPlanItemInput"):
            with_known_fields(schema, known)
            # The fields of some bodies are nested in an object.
            for holder in schema.get("properties", {}).values():
                with_known_fields(holder, known)


def with_known_examples(value, known):
    """Returns the examples of requests with ids that exist in the first project."""
    if isinstance(value, list):
        return [with_known_examples(item, known) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {}
    for name, item in value.items():
        ids = known.get(name)
        if ids and isinstance(item, list):
            changed[name] = ids[: len(item)]
        elif ids:
            changed[name] = ids[0]
        else:
            changed[name] = with_known_examples(item, known)
    return changed


def starts_on_all_devices(known):
    """Returns starts on every device of each config. Some devices do not work, so the statuses are 201, 207 and 500."""
    subjects = {
        "test": {"multiplayer_test_id": known["multiplayer_test_id"][0]},
        "plan": {"test_plan_id": known["test_plan_id"][0]},
        "instructions": {"instructions": "Open the shop."},
    }
    starts = {}
    for number, config in enumerate(known["deployment_config_id"]):
        for subject, fields in subjects.items():
            start = {**fields, "deployment_config_id": config, "run_on_all_configured_devices": True}
            starts[f"{subject}_on_config_{number}"] = {"value": start}
    return starts


def wanted_paths(document, tools):
    paths = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            operation = item.get(method)
            if not operation or operation["operationId"] not in tools:
                continue
            if "servers" in item:
                paths.setdefault(path, {})[method] = operation
                continue
            paths.setdefault(MAIN + path, {})[method] = operation
            # Without a key, only the path can contain the project.
            if operation.get("security") == []:
                continue
            bare = MAIN + path.removeprefix(IN_PROJECT)
            without = {**operation, "operationId": operation["operationId"] + "_unprefixed"}
            here = ("ProjectId", "projectId")
            without["parameters"] = [
                parameter
                for parameter in operation.get("parameters", [])
                if not parameter.get("$ref", "").endswith(here)
            ]
            paths.setdefault(bare, {})[method] = without
    return paths


def main(base_url, document, tools, output):
    document = json.loads(Path(document).read_text())
    tools = {path.stem for path in Path(tools).glob("*.json")}
    known = known_ids(base_url)
    players, files = artifacts(base_url)
    known.update({"filename": files, "agentId": known["agent_config_id"], "testCaseId": known["testId"]})
    known.update({"agent_id": known["agentId"], "test_case_id": known["testCaseId"]})
    known["project_id"] = PROJECTS
    spares = Spares(base_url, PROJECTS[0])
    document["paths"] = wanted_paths(document, tools)
    document["servers"] = [{"url": base_url.removesuffix(MAIN)}]
    components = document["components"]
    with_known_bodies(components["schemas"], known)
    components["requestBodies"] = with_known_examples(components["requestBodies"], known)
    start = components["requestBodies"]["StartRun"]["content"]["application/json"]
    start["examples"].update(starts_on_all_devices(known))
    for item in document["paths"].values():
        for operation in item.values():
            if "requestBody" in operation:
                operation["requestBody"] = with_known_examples(operation["requestBody"], known)
    for item in document["paths"].values():
        for method, operation in item.items():
            item[method] = spares.prepared(operation)
    # The id of a player, to which artifacts belong, has the same parameter name as the id of a run.
    player = components["parameters"].pop("CompositeRunId")
    components["parameters"] = with_known_ids(components["parameters"], known)
    components["parameters"]["CompositeRunId"] = with_known_ids(player, {"runId": players})
    components["parameters"]["Range"] = RANGES
    components["parameters"]["IfNoneMatch"] = TAGS
    document["paths"] = with_known_ids(document["paths"], known)
    Path(output).write_text(json.dumps(document, indent=1))
    print(f"{sum(len(item) for item in document['paths'].values())} operations")


if __name__ == "__main__":
    main(*sys.argv[1:])
