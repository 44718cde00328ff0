"""Runs every step of the files in `examples/ci/` with a sandbox. Usage: check_ci_examples.py ARCHIVE BINARY"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).parents[1] / "deploy"))

from processes import ROOT, Sandbox
from ci_examples import EXAMPLES, SECRETS

# Records of the sandbox: a plan one of whose tests fails, a test that passes, and devices.
PLAN = "8329bf5f-2912-4f3e-8b06-a97011e21eac"
PASSING_TEST = "424b1fee-9709-4315-85d9-5954058b4714"
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
    files["GITHUB_STEP_SUMMARY"] = directory / "summary"
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
        return [name for name in self.artifacts if any(self.work.glob(name))]


def plan_with_a_failure(name, values):
    with Example(name, values) as example:
        assert example.code == 10, f"exit code {example.code}: {example.output}"
        assert example.written() == example.artifacts, f"{example.written()}: {example.output}"
        assert "<testsuite" in (example.work / "report.xml").read_text()
        assert "<html" in (example.work / "report.html").read_text()
        summaries = [example.work / "report.md", example.work.parent / "summary"]
        assert any("❌ FAILED" in file.read_text() for file in summaries if file.exists()), example.output
        assert any(example.work.glob("report-screenshots/*-step-2.png")), example.output
        verdicts = json.loads((example.work / "verdicts.json").read_text())
        assert verdicts["verdicts"]["FAILED"] >= 1, verdicts
        sandbox = values["TAS_KNOWLEDGE_URL"]
        with urlopen(f"{sandbox}/_sandbox/builds/{verdicts['started']['build_id']}/content", timeout=10) as content:
            assert content.read() == BUILD, "another build was played"


def plan_that_passes(name, values):
    with Example(name, {**values, "PLAN_ID": values["PASSING_PLAN_ID"]}) as example:
        reports = [name for name in example.artifacts if not name.startswith("report-screenshots")]
        assert example.code == 0 and example.written() == reports, f"{example.code}: {example.output}"


def wrong_key(name, values):
    with Example(name, {**values, "TAS_API_KEY": "svc_wrong"}) as example:
        assert example.code == 1 and "401" in example.output, f"{example.code}: {example.output}"
        assert "verdicts.json" not in example.written() and "report.html" not in example.written(), example.output


def changed_archive(name, values):
    with Example(name, {**values, "ARCHIVE_SHA256": "0" * 64}) as example:
        assert example.code == 1 and "FAILED" in example.output, f"{example.code}: {example.output}"
        assert not (example.work / "tas-mcp").exists() and not example.written(), example.output


def create_passing_plan(binary, settings):
    """Returns the id of a new plan."""
    tests = json.dumps({"multiplayer_test_id": PASSING_TEST})
    command = [binary, "call", "create_test_plan", "--name", "Passing", "--test-items", tests, "--json"]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=STEP_SECONDS, check=True)
    return json.loads(done.stdout)["id"]


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
        values["PASSING_PLAN_ID"] = create_passing_plan(binary, values)
        for name in EXAMPLES:
            for check in (plan_with_a_failure, plan_that_passes, wrong_key, changed_archive):
                check(name, values)
                print(f"ok      {name}: {check.__name__.replace('_', ' ')}")


main(*sys.argv[1:])
