"""Reads JUnit reports with junitparser and compares them with the seed data of the sandbox."""

import sys

from junitparser import Error, Failure, JUnitXml


def check_execution(report):
    """Expects three passed tests and one failed test."""
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


def check_jobs(report):
    """Expects a passed, a failed, a stopped and a rejected job."""
    assert (report.tests, report.failures, report.errors) == (4, 1, 2), report
    results = [case.result for suite in report for case in suite]
    kinds = [[(type(one), one.type) for one in result] for result in results]
    expected = [[], [(Failure, "FAILED")], [(Error, "STOPPED")], [(Error, "no_run")]]
    assert kinds == expected, kinds
    assert results[3][0].message == "no_run: no_device_available", results[3][0].message


kind, path = sys.argv[1:]
report = JUnitXml.fromfile(path)
{"execution": check_execution, "jobs": check_jobs}[kind](report)
print(f"junitparser, {kind}: {report.tests} cases, {report.failures} failed, {report.errors} errors, {report.time} s")
