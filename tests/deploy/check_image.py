"""Builds the image from prepared files, runs it and calls it. Usage: check_image.py CONTEXT"""

import contextlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from mcp_client import MODERN, Client
from processes import ROOT, Process, Sandbox


class Buildah:
    """Runs buildah with a storage of its own, without namespaces, because a container may have to do without."""

    def __init__(self, directory):
        self.command = ["buildah", "--storage-driver", "vfs", "--root", f"{directory}/storage", "--runroot", f"{directory}/run"]

    def __call__(self, *arguments):
        done = subprocess.run([*self.command, *arguments], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"buildah {arguments}: {done.stderr[-2000:]}"
        return done.stdout.strip()

    def build(self, context, target):
        file = ROOT / "deploy/Containerfile"
        options = ["--isolation", "chroot", "--build-arg", "FILES=prepared", "--target", target, "--file", str(file)]
        self("bud", "--quiet", *options, "--tag", target, context)
        return self("from", "--pull-never", f"localhost/{target}")

    def run(self, container, command, settings):
        variables = [part for name, value in settings.items() for part in ("--env", f"{name}={value}")]
        return Process([*self.command, "run", "--isolation", "chroot", *variables, container, "--", *command])


def check_configuration(configuration):
    assert configuration["Entrypoint"] == ["/tas-mcp"] and configuration["Cmd"] == ["http"], configuration
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", configuration["User"]), configuration
    assert configuration["ExposedPorts"] == {"8900/tcp": {}}, configuration
    assert configuration["StopSignal"] == "SIGTERM", configuration


def users(name):
    """Returns the users of the running programs with this name."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
            if (status.parent / "exe").readlink().name == name and fields["Name"] == name:
                found.add(fields["Uid"].split()[0])
    return found


def probe(address):
    """Returns the health check of compose.yaml with another address."""
    lines = re.findall(r"^ *test: \[CMD, (.*), \"http:.*\"\]$", (ROOT / "deploy/compose.yaml").read_text(), re.MULTILINE)
    assert len(lines) == 1, lines
    return [*lines[0].split(", "), address]


def main(context):
    with contextlib.ExitStack() as stack:
        buildah = Buildah(stack.enter_context(tempfile.TemporaryDirectory()))
        container = buildah.build(context, "probed")
        configuration = json.loads(buildah("inspect", "--type", "image", "localhost/probed"))["OCIv1"]["config"]
        check_configuration(configuration)
        files = [path for path in Path(context, "files/image").rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        print(f"ok      image: {len(files)} files, {size / 1e6:.1f} MB")

        sandbox = stack.enter_context(Sandbox(Path(context, "files/image/tas-mcp")))
        # The container shares the network of the machine, whose ports may be taken.
        settings = {**sandbox.settings, "TAS_HTTP_LISTEN": "0.0.0.0:0", "TAS_HTTP_ADMIN": "127.0.0.1:0"}
        command = configuration["Entrypoint"] + configuration["Cmd"]
        server = stack.enter_context(buildah.run(container, command, settings))
        port = server.find(r"listening on http://\S+:(\d+)/mcp")[1]
        admin = server.find(r"admin on (http://\S+)")[1]

        client = Client(f"127.0.0.1:{port}", MODERN)
        count = len(client.tools())
        assert client.call("list_runs", project_id="demo", page_size=3)["data"]
        user = configuration["User"].split(":")[0]
        assert user in users("tas-mcp"), f"{users('tas-mcp')} instead of {user}"
        print(f"ok      image: runs as user {user} and serves {count} tools")

        for path, code in (("healthz", 0), ("nothing", 1)):
            with buildah.run(container, probe(f"{admin}/{path}"), {}) as process:
                assert process.process.wait(timeout=20) == code, f"{path}: {process.text()}"
        print("ok      image: the health check of compose.yaml succeeds")


main(sys.argv[1])
