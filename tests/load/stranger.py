#!/usr/bin/env python3
"""Checks that a stranger who sends 10 MB/s, without a credential or with a key of its own, disturbs nobody: stranger.py BINARY

The server has its usual limits. The stranger has the address 127.0.0.1, and the caller, whose key is accepted, 127.0.0.2.
"""

import http.client
import json
import os
import sys
import threading
import time

import servers
from servers import started

# What the stranger sends in a second, in bytes, on how many connections, and for how long each attack lasts, in seconds.
RATE, CONNECTIONS, SECONDS = 10_000_000, 16, 8

# Limits: the time of a call of the other caller in seconds, for 99 of 100 calls, and the memory of the server in bytes.
MAX_TIME, MAX_MEMORY = 0.050, 300 * 1024 * 1024

# Pause of the other caller between two calls, in seconds.
PAUSE = 0.06


def message(method, params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


LIST = message("tools/list", {})
DENSE = json.dumps([0] * 30_000, separators=(",", ":"))

# The key of another project, which the service accepts.
KEY = {"X-Api-Key": "svc_sandbox_arena"}

# Each attack: the headers and the body of its requests.
ATTACKS = {
    "a long name of a tool": ({}, message("tools/call", {"name": "x" * 4_000_000, "arguments": {}})),
    "a name of 60 kB": ({}, message("tools/call", {"name": "x" * 60_000, "arguments": {}})),
    "notifications of many values": ({}, b'{"jsonrpc":"2.0","method":"n","params":{"a":%b}}' % DENSE.encode()),
    "many words in a header": ({"X-MCP-Exclude-Tools": "a," * 30_000}, LIST),
    "completions of long projects": (
        {},
        message(
            "completion/complete",
            {
                "ref": {"type": "ref/prompt", "name": "triage_run"},
                "argument": {"name": "run_id", "value": "a"},
                "context": {"arguments": {"project": "p" * 60_000}},
            },
        ),
    ),
    "invented keys": ({"X-Api-Key": "svc_invented_1"}, message("tools/call", {"name": "list_runs", "arguments": {}})),
    "long arguments of an accepted key": (
        KEY,
        message("tools/call", {"name": "list_runs", "arguments": {"tags": ["x" * 4_000_000]}}),
    ),
    "many arguments of an accepted key": (
        KEY,
        message("tools/call", {"name": "list_runs", "arguments": {"tags": ["x" * 10] * 200_000}}),
    ),
    "deep nesting": ({}, b'{"jsonrpc":"2.0","id":1,"method":"a","params":%b}' % (b"[" * 30_000 + b"]" * 30_000)),
}


def attack(port, headers, body, end):
    """Sends requests until `end`, at a share of the rate."""
    pause = len(body) * CONNECTIONS / RATE
    while time.monotonic() < end:
        start = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10, source_address=("127.0.0.1", 0))
        try:
            connection.request("POST", "/mcp", body, {"Content-Type": "application/json", **headers})
            connection.getresponse().read()
        except OSError:
            pass  # The server may end the connection.
        finally:
            connection.close()
        time.sleep(max(0.0, pause - (time.monotonic() - start)))


def times_of_calls(server, end):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60, source_address=("127.0.0.2", 0))
    times = []
    while time.monotonic() < end:
        start = time.monotonic()
        server.call(connection, "list_runs", {"project_id": "demo", "page_size": 1})
        times.append(time.monotonic() - start)
        time.sleep(PAUSE)
    return sorted(times)


def check(server, name, headers, body):
    end = time.monotonic() + SECONDS
    threads = [threading.Thread(target=attack, args=(server.port, headers, body, end)) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    times = times_of_calls(server, end)
    memory = server.memory()
    for thread in threads:
        thread.join()

    late = times[int(len(times) * 0.99)]
    print(f"{name}: others wait {late * 1000:.0f} ms (99 of 100 calls), memory {memory >> 20} MiB")
    assert late < MAX_TIME, f"{name}: others wait {late * 1000:.0f} ms"
    assert memory < MAX_MEMORY, f"{name}: the memory is {memory >> 20} MiB"


def main():
    # The usual limits, below which the caller stays.
    servers.LIMITS = {"TAS_LOG": "error"}
    os.environ.pop("TAS_API_KEY", None)
    with started(sys.argv[1]) as server:
        times_of_calls(server, time.monotonic() + 1)
        for name, (headers, body) in ATTACKS.items():
            check(server, name, headers, body)
            time.sleep(1)


main()
