"""How schemathesis calls the sandbox, and what it takes for a failure."""

import json
import os
import zlib
from pathlib import Path

import schemathesis
from keys import DEMO, ORGANIZATION, WEAK
from schemathesis.core import NOT_SET

# One request in so many goes out with a weak key.
WEAK_SHARE = 20

TALLY = Path(os.environ["FUZZ_TALLY"])


def names_project(path):
    """Whether a key of the organization may be used, which has no project of its own."""
    return not path.startswith("/api/v1/") or path.startswith("/api/v1/project/")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives the request its key: the same request always gets the same one. Some operations take none."""
    if case.operation.definition.raw.get("security") == []:
        return
    body = None if case.body is NOT_SET else case.body
    chance = zlib.crc32(repr((case.operation.label, case.path_parameters, case.query, body)).encode())
    key = ORGANIZATION if names_project(case.operation.path) else DEMO
    if chance % WEAK_SHARE == 0:
        key = WEAK[chance // WEAK_SHARE % len(WEAK)]
    if key is not None:
        case.headers = {**(case.headers or {}), "X-Api-Key": key}


@schemathesis.hook
def after_call(context, case, response):
    """Counts the answers by operation and status."""
    operation = case.operation.definition.raw["operationId"].removesuffix("_unprefixed")
    with TALLY.open("a") as tally:
        tally.write(f"{operation} {case.method} {response.status_code}\n")


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Lets pass what only looks like a failure.

    A part of a JSON file is no JSON. One server error is documented: no device could be started, and the answer says
    why for each.
    """
    if response.status_code == 206:
        return "JSON" not in type(failure).__name__.upper()
    if response.status_code != 500 or type(failure).__name__ != "ServerError":
        return True
    answer = json.loads(response.content)
    devices = answer.get("results") or answer.get("device_runs")
    return not (answer.get("ok") is False and devices and not any(device["ok"] for device in devices))
