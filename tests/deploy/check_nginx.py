"""Checks what the shipped configuration of nginx does, with three servers of this script. Usage: check_nginx.py"""

import contextlib
import http.client
import re
import socket
import threading

from processes import Nginx, free_port

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"


def answer(connection):
    connection.sendall(HEAD + b"{}")


def hang_up(connection):
    connection.close()


class Server:
    """Keeps the requests, and calls a function with the connection of each."""

    def __init__(self, respond):
        self.respond = respond
        self.requests = []
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.connections += 1
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            while request := read_request(connection):
                self.requests.append(request)
                self.respond(connection)


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)^content-length: *(\d+)", head, re.MULTILINE)
    while length and len(body) < int(length.group(1)):
        body += connection.recv(65536)
    return head.decode() + "\r\n\r\n" + body.decode()


def post(address, body="{}", path="/mcp", headers=None):
    connection = http.client.HTTPConnection(address, timeout=20)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def a_sent_post_is_not_repeated():
    with Server(hang_up) as one, Server(hang_up) as two, Server(hang_up) as three:
        with Nginx([one.address, two.address, three.address]) as nginx:
            status = post(nginx.address)
        count = sum(len(server.requests) for server in (one, two, three))
        assert (status, count) == (502, 1), f"status {status} after {count} requests"


def a_refused_connection_moves_the_post_to_another_server():
    refusing = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    with Server(answer) as server, Nginx([*refusing, server.address]) as nginx:
        statuses = {post(nginx.address) for _ in range(6)}
    assert statuses == {200}, f"statuses {statuses}"
    assert len(server.requests) == 6, f"{len(server.requests)} requests"


def headers_arrive_and_connections_are_kept():
    with Server(answer) as one, Server(answer) as two, Server(answer) as three:
        servers = (one, two, three)
        with Nginx([server.address for server in servers]) as nginx:
            for _ in range(30):
                assert post(nginx.address, headers={"X-Api-Key": "planted-key", "X-Forwarded-For": "192.0.2.1"}) == 200
        requests = [request for server in servers for request in server.requests]
        connections = sum(server.connections for server in servers)
    assert len(requests) == 30
    for request in requests:
        assert request.startswith("POST /mcp HTTP/1.1\r\n"), request
        assert f"Host: {nginx.address}\r\n" in request, request
        assert "X-Forwarded-For: 192.0.2.1, 127.0.0.1\r\n" in request, request
        assert "X-Api-Key: planted-key\r\n" in request, request
        assert "connection: close" not in request.lower(), request
    # One connection for each server and worker.
    assert connections < 30, f"{connections} connections for 30 requests"


def a_body_of_4_mib_passes_and_a_larger_one_does_not():
    limit = 4 * 1024 * 1024
    with Server(answer) as server, Nginx([server.address] * 3) as nginx:
        assert post(nginx.address, "x" * limit) == 200
        assert post(nginx.address, "x" * (limit + 1)) == 413
    assert [len(request.partition("\r\n\r\n")[2]) for request in server.requests] == [limit]


def the_beginning_of_an_answer_arrives_at_once():
    read = threading.Event()

    def pause(connection):
        connection.sendall(HEAD + b"{")
        assert read.wait(10)
        connection.sendall(b"}")

    with Server(pause) as server, Nginx([server.address] * 3) as nginx:
        connection = http.client.HTTPConnection(nginx.address, timeout=10)
        connection.request("POST", "/mcp", "{}")
        stream = connection.getresponse()
        assert stream.read(1) == b"{"
        read.set()
        assert stream.read() == b"}"
        connection.close()


def the_server_sees_that_the_client_has_gone():
    gone = threading.Event()

    def wait(connection):
        if connection.recv(1) == b"":
            gone.set()

    with Server(wait) as server, Nginx([server.address] * 3) as nginx:
        connection = http.client.HTTPConnection(nginx.address, timeout=10)
        connection.request("POST", "/mcp", "{}")
        nginx.until(lambda: server.requests)
        connection.close()
        assert gone.wait(10), "the connection to the server stays open"


def logs_have_no_query_and_no_header():
    refusing = [f"127.0.0.1:{free_port()}" for _ in range(3)]
    with Server(answer) as server, Nginx([server.address] * 3) as nginx:
        post(nginx.address, path="/mcp?token=planted-query", headers={"Authorization": "Bearer planted-header"})
        # nginx writes the line after the answer.
        nginx.find("POST /mcp 200")
        served = nginx.text()
    with Nginx(refusing) as nginx:
        post(nginx.address, path="/mcp?token=planted-query", headers={"Authorization": "Bearer planted-header"})
        nginx.find("POST /mcp 502")
        failed = nginx.text()
    assert "planted" not in served + failed, served + failed


for check in (
    a_sent_post_is_not_repeated,
    a_refused_connection_moves_the_post_to_another_server,
    headers_arrive_and_connections_are_kept,
    a_body_of_4_mib_passes_and_a_larger_one_does_not,
    the_beginning_of_an_answer_arrives_at_once,
    the_server_sees_that_the_client_has_gone,
    logs_have_no_query_and_no_header,
):
    check()
    print(f"ok      nginx: {check.__name__.replace('_', ' ')}")
