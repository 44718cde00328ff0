#!/usr/bin/env python3
"""Checks that `tas-mcp http` serves others while thousands of connections are silent or read nothing: load.py BINARY

Prints the memory and the CPU time that connections and calls need.
"""

import json
import resource
import selectors
import socket
import statistics
import sys

from servers import started

SILENT_CONNECTIONS = 10_000

# Descriptors of each process beside its connections.
OTHER_DESCRIPTORS = 200

# Connections that are silent after a request.
IDLE_CONNECTIONS = 2_000

# Largest memory of a silent connection and of an idle one, in bytes. The values are about twice the measured ones.
MAX_SILENT_MEMORY, MAX_IDLE_MEMORY = 20 * 1024, 30 * 1024

# Connections whose clients never read, and the requests that each of them sends.
UNREADING_CONNECTIONS, UNREAD_REQUESTS = 20, 200

# Largest growth of the memory for all of them, in bytes. The answers are many times larger.
MAX_UNREAD_MEMORY = 64 * 1024 * 1024

# Requests of each kind in a round, and rounds.
REQUESTS, ROUNDS = 1_000, 5

# Largest CPU time of a call as a multiple of that of a `ping`. The value is about twice the measured one.
MAX_CALL_RATIO = 12

# Seconds after which a check fails instead of hanging.
TIME_LIMIT = 120


def check_silent_connections(server, caller):
    """Opens connections that send nothing. The server serves a caller meanwhile, and closes them."""
    before = server.memory()
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(SILENT_CONNECTIONS)]
    assert server.call(caller, "list_runs", {})["data"], "a caller is not served"
    each = (server.memory() - before) / SILENT_CONNECTIONS
    print(f"{SILENT_CONNECTIONS} silent connections: {each / 1024:.1f} KiB each, a caller is served")
    assert each <= MAX_SILENT_MEMORY, f"a silent connection takes {each:.0f} bytes"

    with selectors.DefaultSelector() as selector:
        for connection in silent:
            selector.register(connection, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(TIME_LIMIT)
            assert ready, f"{len(selector.get_map())} silent connections are not closed"
            for key, _ in ready:
                assert is_closed(key.fileobj), "a silent connection got an answer"
                selector.unregister(key.fileobj)
                key.fileobj.close()

    assert server.call(caller, "list_runs", {})["data"], "a caller is not served"
    assert server.open_files() < OTHER_DESCRIPTORS, "closed connections keep descriptors"
    print("all of them are closed by the server")


def is_closed(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def check_idle_connections(server):
    """Opens connections that send one request each."""
    before = server.memory()
    idle = [server.connect() for _ in range(IDLE_CONNECTIONS)]
    for connection in idle:
        server.request(connection, "ping", {})
    each = (server.memory() - before) / IDLE_CONNECTIONS
    print(f"{IDLE_CONNECTIONS} idle connections after a request: {each / 1024:.1f} KiB each")
    assert each <= MAX_IDLE_MEMORY, f"an idle connection takes {each:.0f} bytes"

    for connection in idle:
        connection.close()


def check_clients_that_read_nothing(server, caller):
    """Sends many requests on connections that read no response. What the server keeps for them is bounded."""
    before = server.memory()
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
    headers = "".join(f"{name}: {value}\r\n" for name, value in server.headers.items())
    request = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}Content-Length: {len(body)}\r\n\r\n{body}".encode()
    answer = len(json.dumps(server.request(caller, "tools/list", {})))

    connections = []
    for _ in range(UNREADING_CONNECTIONS):
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.settimeout(1)
        try:
            connection.sendall(request * UNREAD_REQUESTS)
        except TimeoutError:
            pass  # The server reads no further requests.
        connections.append(connection)

    assert server.call(caller, "list_runs", {})["data"], "a caller is not served"
    growth = server.memory() - before
    asked = UNREADING_CONNECTIONS * UNREAD_REQUESTS * answer
    print(f"{UNREADING_CONNECTIONS} clients that read nothing ask for {asked >> 20} MiB: {growth >> 20} MiB more memory")
    assert growth <= MAX_UNREAD_MEMORY, f"the memory has grown by {growth} bytes"
    for connection in connections:
        connection.close()


def print_cost_of_calls(server, caller):
    """Compares the CPU time of a call with that of a `ping`, which needs the transport only."""
    run = server.call(caller, "list_runs", {"project_id": "demo"})["data"][0]["multiplayer_run_id"]
    get_run = {"name": "get_run", "arguments": {"run_id": run}}
    costs = {"ping": [], "tools/call": []}
    for _ in range(ROUNDS):
        for method, params in [("ping", {}), ("tools/call", get_run)]:
            start = server.cpu_seconds()
            for _ in range(REQUESTS):
                server.request(caller, method, params)
            costs[method].append((server.cpu_seconds() - start) / REQUESTS)

    ratio = statistics.median(call / ping for ping, call in zip(costs["ping"], costs["tools/call"]))
    ping, call = (statistics.median(values) * 1e6 for values in costs.values())
    print(f"CPU time of a ping {ping:.0f} us, of get_run {call:.0f} us: {ratio:.1f} times")
    assert ratio <= MAX_CALL_RATIO, f"get_run takes {ratio:.1f} times the CPU time of a ping"


def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if most != resource.RLIM_INFINITY and most < SILENT_CONNECTIONS + OTHER_DESCRIPTORS:
        sys.exit(f"{SILENT_CONNECTIONS} connections need a higher limit of open files than {most}")

    with started(sys.argv[1]) as server:
        caller = server.connect()
        print_cost_of_calls(server, caller)
        check_silent_connections(server, server.connect())
    with started(sys.argv[1]) as server:
        check_idle_connections(server)
        check_clients_that_read_nothing(server, server.connect())


main()
