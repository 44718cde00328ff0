"""Reads a JUnit report with junitparser and holds it to what the sandbox's execution was."""

import sys

from junitparser import Failure, JUnitXml

report = JUnitXml.fromfile(sys.argv[1])
suites = list(report)
assert (report.tests, report.failures, report.errors) == (4, 1, 0), report
assert len(suites) == 4 and all(suite.tests == 1 for suite in suites), suites
cases = [case for suite in suites for case in suite]
failed = [case for case in cases if not case.is_passed]
assert [case.name for case in failed] == ["Pause and resume [Pixel 8]"], failed
(result,) = failed[0].result
assert isinstance(result, Failure) and result.type == "FAILED", result
assert "step 2: Pause the game" in result.text, result.text
assert {case.classname for case in cases} == {"Release smoke"}
for suite in suites:
    names = {one.name for one in suite.properties()}
    assert {"run_id", "job_id", "build_id"} <= names, names
print(f"junitparser: {report.tests} cases, {report.failures} failed, {report.time} s")
