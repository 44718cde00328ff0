"""Runs the conformance suite against the server with the first revision. With `--all`: every revision, also behind nginx
with three replicas. Usage: run.py NODE SUITE OUTPUT BINARY [--all]"""

import argparse
import contextlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "deploy"))

from processes import Nginx, Replica, Sandbox, free_port  # noqa: E402

REVISIONS = ("2025-11-25", "2026-07-28")
# The suite runs these without counting them, or they belong to extensions.
UNSCORED = {
    "2025-11-25": ("server-session-lifecycle", "server-sse-polling"),
    "2026-07-28": ("http-header-validation", "sep-2640-skills-enumeration", "sep-2640-skills-manifest"),
}
# The suite sends requests as fast as it can, with one credential.
SETTINGS = {"TAS_HTTP_RATE": "10000", "TAS_HTTP_CONCURRENCY": "512"}
SECONDS = 300


class Suite:
    def __init__(self, node, script, output):
        self.command = [node, script, "server"]
        self.output = Path(output)

    def run(self, *arguments):
        command = [*self.command, *map(str, arguments)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
        return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)

    def check(self, title, url, revision, baseline, unscored):
        """Runs the required scenarios of a revision, prints a line, and returns whether the result is the expected one."""
        results = self.output / title.replace(" ", "-") / revision
        began = time.monotonic()
        code, text = self.run("--url", url, "--requirements", revision, "--expected-failures", baseline, "-o", results)
        total = re.search(r"^Total: (\d+) passed", text, re.MULTILINE)
        errors = [] if code == 0 else unexpected(text, results)

        for scenario in unscored:
            directory = results / "unscored"
            # Scenarios of extensions belong to no revision, and are skipped without `--force`.
            options = ("--scenario", scenario, "--spec-version", revision, "--force", "-o", directory)
            code, text = self.run("--url", url, *options)
            errors += [] if code == 0 else [f"  {scenario}", *failures(directory).get(scenario, [text[-1000:]])]

        line = f"conformance, {title}: revision {revision}, {total[1] if total else 0} checks passed"
        print("\n".join([f"FAILED  {line}", *errors]) if errors else f"ok      {line} in {time.monotonic() - began:.0f} s")
        return not errors


def unexpected(text, results):
    """Returns what differs from the baseline: failures that it lacks, with messages, and entries that pass."""
    differences = re.split(r"^(?=Unexpected failures|Stale)", text, maxsplit=1, flags=re.MULTILINE)
    if len(differences) == 1:
        return [text[-1000:]]
    entries = re.findall(r"^  \S (\S+)$", differences[1], re.MULTILINE)
    messages = failures(results)
    return [differences[1].strip(), *(line for entry in entries for line in messages.get(entry, []))]


def failures(directory):
    """Returns messages by scenario, and by scenario and check."""
    messages = {}
    for file in sorted(directory.rglob("checks.json")):
        scenario = re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", file.parent.name)
        for check in json.loads(file.read_text()):
            if check["status"] not in ("SUCCESS", "INFO", "SKIPPED"):
                line = f"  {check['status']} {check['id']}: {check.get('errorMessage', '')[:300]}"
                messages.setdefault(f"{scenario}:{check['id']}", []).append(line)
                messages.setdefault(scenario, []).append(line)
    return messages


@contextlib.contextmanager
def direct(arguments):
    with Replica(arguments.server, "--sandbox", settings=SETTINGS) as server:
        yield f"http://{server.address}/mcp"


@contextlib.contextmanager
def behind_nginx(arguments):
    with contextlib.ExitStack() as stack:
        sandbox = stack.enter_context(Sandbox(arguments.server))
        # The suite sends no credential, and a server behind a proxy serves its own key to nobody: nginx adds one.
        port = free_port()
        origins = f"http://localhost:{port},http://127.0.0.1:{port}"
        settings = {**SETTINGS, **sandbox.settings, "TAS_HTTP_ALLOWED_ORIGINS": origins}
        replicas = [stack.enter_context(Replica(arguments.server, settings=settings)) for _ in range(3)]
        nginx = stack.enter_context(Nginx([replica.address for replica in replicas], port, "svc_sandbox_demo"))
        yield f"http://{nginx.address}/mcp"


def main():
    parser = argparse.ArgumentParser()
    for name in ("node", "suite", "output", "server"):
        parser.add_argument(name)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()

    suite = Suite(arguments.node, arguments.suite, arguments.output)
    servers = {"direct": direct}
    if arguments.all:
        servers["three replicas behind nginx"] = behind_nginx

    results = []
    for title, start in servers.items():
        for revision in REVISIONS if arguments.all else REVISIONS[:1]:
            baseline = HERE / f"server-{revision}.yaml"
            with start(arguments) as url:
                results.append(suite.check(title, url, revision, baseline, UNSCORED[revision]))
    sys.exit(not all(results))


main()
