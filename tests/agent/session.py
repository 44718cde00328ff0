"""A sandbox of the service, and an MCP session with the server in front of it."""

import json
import re
import subprocess
import urllib.error
import urllib.request

PROTOCOL = "2025-11-25"
DEMO_KEY = "svc_sandbox_demo"
ORGANIZATION_KEY = "svc_org_sandbox"


class Sandbox:
    """The service, in a process of its own. Its clock stands still."""

    def __init__(self, server):
        command = [server, "sandbox", "--listen", "127.0.0.1:0", "--speed", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if found := re.search(r"http://\S+/api/v1", line):
                self.base_url = found.group()
                break
        self.root = self.base_url.removesuffix("/api/v1")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def request(self, method, path, body=None, key=DEMO_KEY):
        """Returns the answer of the service, or None if it is not a success."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"X-Api-Key": key, "Content-Type": "application/json"}
        request = urllib.request.Request(self.base_url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError:
            return None

    def get(self, path, key=DEMO_KEY):
        return self.request("GET", path, key=key)

    def list(self, path, key=DEMO_KEY):
        """Returns the records of every page of a list."""
        records, page = [], 0
        separator = "&" if "?" in path else "?"
        while True:
            answer = self.get(f"{path}{separator}page={page}&page_size=100", key)
            records += answer["data"]
            page += 1
            if page >= answer["pagination"]["total_pages"]:
                return records

    def advance(self, seconds):
        """Advances the clock, so that queued jobs run and end."""
        body = json.dumps({"advance_seconds": seconds}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.root}/_sandbox/clock", body, method="POST")).close()


class Session:
    """An MCP session on standard input and output. The host cannot ask a person."""

    def __init__(self, server, sandbox, settings):
        variables = {
            "TAS_BASE_URL": sandbox.base_url,
            "TAS_KNOWLEDGE_URL": sandbox.root,
            "TAS_API_KEY": DEMO_KEY,
            **settings,
        }
        self.process = subprocess.Popen(
            [server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables
        )
        self.number = 0
        client = {"name": "agent", "version": "1"}
        parameters = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        self.instructions = self.request("initialize", parameters)["instructions"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.tools = self.request("tools/list", {})["tools"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, parameters):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    return {"content": [{"type": "text", "text": json.dumps(answer["error"])}], "isError": True}
                return answer["result"]
        raise RuntimeError("the server has ended")

    def call(self, tool, arguments):
        """Returns the text of the reply, and whether the call failed."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        return result["content"][0]["text"], result.get("isError", False)
