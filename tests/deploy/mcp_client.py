"""A client of the Model Context Protocol over HTTP, as small as the checks allow: one connection, plain JSON or events."""

import http.client
import itertools
import json

LEGACY = "2025-11-25"
MODERN = "2026-07-28"
DEMO_KEY = "svc_sandbox_demo"
ACCEPT = "application/json, text/event-stream"


class Failure(Exception):
    """An answer that is not the result of the request."""


# What a call that is lost raises.
LOST = (Failure, OSError, http.client.HTTPException)


class Client:
    def __init__(self, address, era, key=DEMO_KEY, timeout=60):
        self.connection = http.client.HTTPConnection(address, timeout=timeout)
        self.era = era
        self.headers = {"Content-Type": "application/json", "Accept": ACCEPT, "MCP-Protocol-Version": era}
        if key is not None:
            self.headers["X-Api-Key"] = key
        self.ids = itertools.count(1)
        if era == LEGACY:
            self.initialize()

    def initialize(self):
        client = {"name": "deploy-check", "version": "1"}
        self.request("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client})
        status, _, body = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, {})
        if status != 202:
            raise Failure(f"notifications/initialized: status {status}, {body!r}")

    def request(self, method, params):
        message = {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": dict(params)}
        headers = {}
        if self.era == MODERN:
            message["params"]["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": "deploy-check", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            headers["Mcp-Method"] = method
            if "name" in params:
                headers["Mcp-Name"] = params["name"]

        status, answer_headers, body = self.post(message, headers)
        if session := answer_headers.get("Mcp-Session-Id"):
            self.headers["Mcp-Session-Id"] = session
        answer = parse(answer_headers.get("Content-Type", ""), body, message["id"]) if status == 200 else None
        if answer is None or "result" not in answer:
            raise Failure(f"{method}: status {status}, {body[:500]!r}")
        return answer["result"]

    def post(self, message, headers, path="/mcp"):
        # A connection whose last answer had `Connection: close` is opened again by the library.
        self.connection.request("POST", path, json.dumps(message), {**self.headers, **headers})
        answer = self.connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def tools(self):
        names, cursor = [], None
        while True:
            page = self.request("tools/list", {"cursor": cursor} if cursor else {})
            names += [tool["name"] for tool in page["tools"]]
            cursor = page.get("nextCursor")
            if not cursor:
                return names

    def call(self, tool, **arguments):
        """Returns the structured content of a result. A tool error is a failure."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise Failure(f"{tool}: {result['content'][0]['text']}")
        return result["structuredContent"]

    def error_code(self, tool, **arguments):
        """Returns the code of a tool error."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if not result.get("isError"):
            raise Failure(f"{tool}: a result instead of an error")
        return json.loads(result["content"][0]["text"])["error"]["code"]


def parse(content_type, body, request_id):
    """Returns the answer to the request, also if it is the last event of a stream."""
    text = body.decode()
    if not content_type.startswith("text/event-stream"):
        return json.loads(text) if text else None
    for line in text.splitlines():
        if line.startswith("data:") and line[5:].strip():
            message = json.loads(line[5:])
            if message.get("id") == request_id:
                return message
    return None


def get(address, path, headers=None):
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
