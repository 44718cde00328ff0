"""Creates unfinished uploads and records for the operations that complete, cancel or delete them."""

import copy
import json
import urllib.parse
import urllib.request

from keys import ORGANIZATION

BYTES = b"a build"

STEP = {"goal": "Start the first level", "hint_manual": [], "pause_game": False, "performance_monitoring": False, "screenshots": 1}
STEPS = {"name": "Spare", "step_order": ["1"], "steps_by_key": {"1": STEP}}
PLAYER = {"name": "Player 1", "item_order": ["1"], "items_by_key": {"1": {**STEP, "type": "step"}}}
TEST = {"name": "Spare", "test_type": "verification", "player_order": ["1"], "players_by_key": {"1": PLAYER}}


class Spares:
    """Creates an upload or a record for each operation that needs one to succeed."""

    def __init__(self, base_url, project):
        self.project = project
        self.base_url = f"{base_url}/project/{project}"

    def prepared(self, operation):
        """Returns the operation with examples that refer to an upload or record of its own."""
        prepare = {
            "get_build_upload_parts": self.with_parts,
            "complete_build_upload": self.with_completion,
            "cancel_build_upload": self.with_upload,
            "delete_build": self.with_build,
            "delete_test": lambda operation: with_id(operation, "TestId", self.made("/tests", {"test": TEST})),
            "delete_test_plan": lambda operation: with_id(operation, "TestPlanId", self.plan()),
            "delete_shared_step": lambda operation: with_id(
                operation, "SharedStepId", self.made("/shared-steps", {"shared_step": STEPS})
            ),
        }.get(operation["operationId"].removesuffix("_unprefixed"))
        return prepare(copy.deepcopy(operation)) if prepare else operation

    def with_parts(self, operation):
        upload = self.begin(multipart=True)
        return with_parameters(operation, {**upload, "part_numbers": "1"})

    def with_upload(self, operation):
        return with_parameters(operation, self.begin(multipart=True))

    def with_build(self, operation):
        upload = self.begin(multipart=False)
        self.put(upload["upload_url"])
        self.ask("POST", "/builds/upload/complete", {"build_id": upload["build_id"]})
        return with_id(operation, "BuildId", upload["build_id"])

    def plan(self):
        item = {"multiplayer_test_id": self.made("/tests", {"test": TEST})}
        return self.made("/test-plans", {"test_plan": {"name": "Spare", "test_items": [item]}})

    def made(self, path, body):
        return self.ask("POST", path, body)["id"]

    def with_completion(self, operation):
        examples = operation["requestBody"]["content"]["application/json"]["examples"]
        single = self.begin(multipart=False)
        self.put(single["upload_url"])
        examples["single_part"] = {"value": {"build_id": single["build_id"]}}
        upload = self.begin(multipart=True)
        query = urllib.parse.urlencode({**named(upload), "part_numbers": "1"})
        part = self.ask("GET", f"/builds/upload/parts?{query}")["upload_urls"][0]
        etag = self.put(part["url"]).strip('"')
        parts = [{"part_number": part["part_number"], "etag": etag}]
        examples["multipart"] = {"value": {**named(upload), "build_id": upload["build_id"], "parts": parts}}
        return operation

    def begin(self, multipart):
        return self.ask("POST", "/builds/upload", {
            "project_id": self.project, "name": "fuzzed", "file_name": "fuzzed.apk", "file_size": len(BYTES),
            "platform": "android", "multipart": multipart,
        })

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"X-Api-Key": ORGANIZATION, "Content-Type": "application/json"}
        request = urllib.request.Request(self.base_url + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def put(self, url):
        """Uploads the bytes without a key. Returns the ETag unchanged."""
        headers = {"Content-Type": "application/octet-stream"}
        with urllib.request.urlopen(urllib.request.Request(url, BYTES, headers, method="PUT")) as answer:
            return answer.headers["ETag"]


def named(upload):
    return {name: upload[name] for name in ("upload_id", "object_key")}


def with_id(operation, parameter, value):
    """Returns the operation with this id, or with an id that does not exist."""
    name = parameter[0].lower() + parameter[1:]
    schema = {"anyOf": [{"enum": [value]}, {"type": "string", "format": "uuid"}]}
    own = {"name": name, "in": "path", "required": True, "example": value, "schema": schema}
    operation["parameters"] = [
        own if one.get("$ref", "").endswith("/" + parameter) else one for one in operation["parameters"]
    ]
    return operation


def with_parameters(operation, values):
    """Returns the operation with these values as examples of its query parameters, and as half of the generated values."""
    for parameter in operation["parameters"]:
        value = values.get(parameter.get("name"))
        if value is not None:
            parameter["example"] = value
            parameter["schema"] = {"anyOf": [{"type": "string", "enum": [value]}, parameter["schema"]]}
    return operation
