"""Runs every step of the files in `examples/ci/` with a sandbox. Usage: check_ci_examples.py ARCHIVE BINARY"""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "deploy"))

from processes import ROOT, Sandbox
from ci_examples import EXAMPLES, SECRETS

# A plan of the sandbox, one of whose tests fails, and its devices.
PLAN = "8329bf5f-2912-4f3e-8b06-a97011e21eac"
CONFIG = "26826e3d-682b-4c41-92ec-333c534526d9"
BUILD = b"PK"

# An hour takes six seconds.
SPEED = 600
STEP_SECONDS = 60


def run(step, directory, variables):
    """Runs a step without a terminal. Returns its exit code and its output."""
    home = {"HOME": str(directory), "PATH": os.environ["PATH"]}
    script = directory / "step.sh"
    script.write_text(step.script)
    done = subprocess.run(
        ["bash", *step.options, script],
        cwd=directory / "work",
        env={**home, **step.variables, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        timeout=STEP_SECONDS,
    )
    return done.returncode, done.stdout.decode()


def run_all(steps, directory):
    """Runs the steps as a CI system does. Returns the first exit code that is not 0, and the output of all steps."""
    files = {"GITHUB_ENV": directory / "environment", "GITHUB_PATH": directory / "path"}
    failure, output = 0, ""
    for step in steps:
        if failure and not step.always:
            continue
        for file in files.values():
            file.touch()
        variables = dict(line.split("=", 1) for line in files["GITHUB_ENV"].read_text().splitlines())
        variables["PATH"] = ":".join([*files["GITHUB_PATH"].read_text().split(), os.environ["PATH"]])
        code, text = run(step, directory, {**variables, **{name: str(file) for name, file in files.items()}})
        failure, output = failure or code, output + text
    return failure, output


class Example:
    """One file, with a directory of its own for each run."""

    def __init__(self, name, values):
        self.values = values
        self.steps, self.artifacts = EXAMPLES[name]((ROOT / "examples/ci" / name).read_text(), values)
        self.directory = tempfile.TemporaryDirectory()
        self.work = Path(self.directory.name, "work")
        self.work.mkdir()
        (self.work / "game.apk").write_bytes(BUILD)

    def __enter__(self):
        self.code, self.output = run_all(self.steps, Path(self.directory.name))
        assert all(self.values[name] not in self.output for name in SECRETS), "the output has a secret"
        return self

    def __exit__(self, *_):
        self.directory.cleanup()

    def written(self):
        return [name for name in self.artifacts if (self.work / name).exists()]


def plan_with_a_failure(name, values):
    with Example(name, values) as example:
        assert example.code == 10, f"exit code {example.code}: {example.output}"
        assert example.written() == example.artifacts, f"{example.written()}: {example.output}"
        assert "<testsuite" in (example.work / "report.xml").read_text()
        assert "<html" in (example.work / "report.html").read_text()
        assert "FAILED" in (example.work / "verdicts.json").read_text()


def wrong_key(name, values):
    with Example(name, {**values, "TAS_API_KEY": "svc_wrong"}) as example:
        assert example.code == 1 and "401" in example.output, f"{example.code}: {example.output}"
        assert "verdicts.json" not in example.written() and "report.html" not in example.written(), example.output


def changed_archive(name, values):
    with Example(name, {**values, "ARCHIVE_SHA256": "0" * 64}) as example:
        assert example.code == 1 and "FAILED" in example.output, f"{example.code}: {example.output}"
        assert not (example.work / "tas-mcp").exists() and not example.written(), example.output


def main(archive, binary):
    archive = Path(archive).resolve()
    with Sandbox(binary, SPEED) as sandbox:
        values = {
            **sandbox.settings,
            "TAS_API_KEY": sandbox.key,
            "ARCHIVE_URL": archive.as_uri(),
            "ARCHIVE_SHA256": hashlib.sha256(archive.read_bytes()).hexdigest(),
            "PLAN_ID": PLAN,
            "CONFIG_ID": CONFIG,
        }
        for name in EXAMPLES:
            for check in (plan_with_a_failure, wrong_key, changed_archive):
                check(name, values)
                print(f"ok      {name}: {check.__name__.replace('_', ' ')}")


main(*sys.argv[1:])
