"""Processes that the checks start: the sandbox, replicas of `tas-mcp http`, and nginx with the shipped configuration."""

import os
import re
import socket
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 15


class Process:
    """A program whose output goes to a file. It is stopped at the end of the `with` block."""

    def __init__(self, arguments, settings=None):
        self.output = tempfile.TemporaryFile("w+")
        # Settings of the caller must not change a check.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TAS_")}
        environment.update(settings or {})
        self.process = subprocess.Popen(
            [str(argument) for argument in arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.terminate()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def terminate(self):
        self.process.terminate()

    def text(self):
        # The program writes at the position of the file that both share, so a position of its own is read.
        return os.pread(self.output.fileno(), 1 << 24, 0).decode(errors="replace")

    def find(self, pattern):
        """Waits until the output contains the pattern, and returns the match."""
        return self.until(lambda: re.search(pattern, self.text()))

    def until(self, condition):
        """Waits for a true value while the program runs, and returns it."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            if value := condition():
                return value
            time.sleep(0.02)
        if value := condition():
            return value
        code = self.process.poll()
        # A program that fails to start has no `with` block.
        self.process.kill()
        self.process.wait()
        raise AssertionError(f"{self.process.args}, exit code {code}: {self.text()[-2000:]}")


class Sandbox(Process):
    """The simulated service. If its clock stands, a run that is running stays so."""

    def __init__(self, binary, speed=0):
        super().__init__([binary, "sandbox", "--listen", "127.0.0.1:0", "--speed", speed])
        self.key = self.find(r"export TAS_API_KEY=(\S+)")[1]
        self.base_url = self.find(r"(http://\S+/api/v1)")[1]
        self.settings = {"TAS_BASE_URL": self.base_url, "TAS_KNOWLEDGE_URL": self.base_url.removesuffix("/api/v1")}


class Replica(Process):
    """`tas-mcp http` on free ports."""

    def __init__(self, binary, *arguments, settings=None):
        command = [binary, "http", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", *arguments]
        super().__init__(command, settings)
        self.address = self.find(r"listening on http://(\S+)/mcp")[1]
        self.admin = self.find(r"admin on http://(\S+)")[1]


class Nginx(Process):
    """nginx with `deploy/nginx.conf`. Only addresses and temporary files differ from what is shipped, and it can send a key."""

    def __init__(self, upstreams, port=None, key=None):
        self.directory = tempfile.TemporaryDirectory()
        self.address = f"127.0.0.1:{port or free_port()}"
        file = Path(self.directory.name, "nginx.conf")
        text = self.configuration(upstreams)
        if key:
            header = "proxy_set_header Host "
            text = replace_once(text, header, f"proxy_set_header X-Api-Key {key};\n            {header}")
        file.write_text(text)
        process_id = Path(self.directory.name, "pid")
        options = f"daemon off; pid {process_id};"
        # The worker of a master that is root would not reach the temporary directory.
        if os.geteuid() == 0:
            options += " user root;"
        super().__init__(["nginx", "-p", self.directory.name, "-c", file, "-g", options])
        self.until(lambda: accepts(self.address))

    def __exit__(self, *arguments):
        super().__exit__(*arguments)
        self.directory.cleanup()

    def configuration(self, upstreams):
        text = (ROOT / "deploy/nginx.conf").read_text()
        servers = re.findall(r"^ *server (\d+\.\d+\.\d+\.\d+:8900);$", text, re.MULTILINE)
        for server, upstream in zip(servers, upstreams, strict=True):
            text = text.replace(f"server {server};", f"server {upstream};")
        text = replace_once(text, "listen 8080;", f"listen {self.address};")
        kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        paths = "".join(f"    {kind}_temp_path {self.directory.name}/{kind};\n" for kind in kinds)
        return replace_once(text, "http {\n", f"http {{\n{paths}")


def replace_once(text, old, new):
    assert text.count(old) == 1, f"nginx.conf has {text.count(old)} times {old!r}"
    return text.replace(old, new)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def accepts(address):
    host, port = address.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True
