"""Processes of the binary, what they use, and the requests that the checks send."""

import contextlib
import http.client
import json
import os
import re
import subprocess

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

# The limits of requests would be reached before the limits that this check is about.
LIMITS = {"TAS_HTTP_RATE": "100000", "TAS_HTTP_MAX_CALLS": "10000", "TAS_LOG": "warn"}


class Server:
    """`tas-mcp http` before a sandbox in another process, so that the resources of the sandbox do not count."""

    def __init__(self, binary, base_url, key):
        environment = os.environ | LIMITS | {"TAS_BASE_URL": base_url}
        arguments = [binary, "http", "--listen", "127.0.0.1:0", "--admin", "off"]
        self.process = subprocess.Popen(arguments, env=environment, stderr=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)/mcp$", self.process.stderr.readline().strip())[1])
        self.headers = {"X-Api-Key": key, "Content-Type": "application/json", "Accept": "application/json"}

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def request(self, connection, method, params):
        """Sends a request of JSON-RPC, and returns its result."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        connection.request("POST", "/mcp", json.dumps(message), self.headers)
        response = connection.getresponse()
        body = response.read()
        assert response.status == 200, (response.status, body)
        return json.loads(body)["result"]

    def call(self, connection, tool, arguments):
        result = self.request(connection, "tools/call", {"name": tool, "arguments": arguments})
        assert not result["isError"], result
        return result["structuredContent"]

    def memory(self):
        """Returns the resident memory in bytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1]) * 1024

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


@contextlib.contextmanager
def started(binary):
    """Starts the sandbox and the server, and ends both."""
    arguments = [binary, "sandbox", "--listen", "127.0.0.1:0", "--speed", "0"]
    sandbox = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    with ended(sandbox):
        lines = iter(sandbox.stdout.readline, "")
        base_url, key = (exported(lines, name) for name in ["TAS_BASE_URL", "TAS_API_KEY"])
        server = Server(binary, base_url, key)
        with ended(server.process):
            yield server


@contextlib.contextmanager
def ended(process):
    try:
        yield
    finally:
        process.kill()
        process.wait()


def exported(lines, name):
    """Returns the value of a variable that a line exports."""
    prefix = f"export {name}="
    return next(line.strip().removeprefix(prefix) for line in lines if line.strip().startswith(prefix))
