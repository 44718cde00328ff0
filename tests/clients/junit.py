"""Reads JUnit reports of the binary with junitparser and compares them with the seed data of the sandbox.
Usage: junit.py BINARY"""

import subprocess
import sys
import tempfile
from pathlib import Path

from junitparser import Error, Failure, JUnitXml

# An execution of four tests, one of which failed; and jobs that passed, failed, were stopped and were rejected.
EXECUTION = "4ea293c9-1c5e-4484-9aa0-aaa3664e6f27"
JOBS = [
    "3126ec62-851c-4a5f-bce1-dd354c0912de",
    "c6d93b34-4d30-49de-b6d9-07f35d4ccea7",
    "ea26706d-1702-4fbe-8f57-398b3819e141",
    "e701a9df-17a2-4c93-b881-5332156ffc2a",
]


def report(binary, ids):
    """Waits for results that have ended, some of them with a failure. Returns the report."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "report.xml")
        command = [binary, "--sandbox", "wait", *ids, "--junit", file]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 10, done.stderr
        return JUnitXml.fromfile(str(file))


def main(binary):
    execution = report(binary, [EXECUTION])
    assert (execution.tests, execution.failures, execution.errors) == (4, 1, 0), execution
    (failed,) = (case for suite in execution for case in suite if not case.is_passed)
    (result,) = failed.result
    assert isinstance(result, Failure) and "step 2: Pause the game" in result.text, result.text

    jobs = report(binary, JOBS)
    kinds = [[type(result) for result in case.result] for suite in jobs for case in suite]
    assert kinds == [[], [Failure], [Error], [Error]], kinds
    print("ok      junitparser: an execution and four jobs")


main(sys.argv[1])
