"""Reruns, groups of jobs, previews, and records with their names."""

from task import find, lacks, started, task

EXECUTION = "4ea293c9-1c5e-4484-9aa0-aaa3664e6f27"
FAILED_JOB = "c6d93b34-4d30-49de-b6d9-07f35d4ccea7"
FLAKY_JOB = "3763d215-b5cd-4614-96cb-8f0f221acea1"


@task(f"Start again on the Windows PC whatever failed in the execution {EXECUTION}.", 2)
class rerun_what_failed:
    def solve(call, _):
        [device] = find(call, "Windows PC", kinds=["deployment_config"])
        reply = call(
            "rerun_results", test_plan_execution_id=EXECUTION, which="failed", deployment_config_id=device
        )
        return f"Started {[test['name'] for test in reply['tests']]}."

    def judge(sandbox, _, answer):
        return started(sandbox, "Pause and resume") + lacks(answer, "Pause and resume")


@task(f"Was anything in the execution {EXECUTION} lost to the infrastructure? If so, start it again.", 1)
class rerun_without_anything_to_start:
    def solve(call, _):
        reply = call("rerun_results", test_plan_execution_id=EXECUTION)
        return reply["status"]

    def judge(sandbox, _, answer):
        return started(sandbox, "Pause and resume", 0) + lacks(answer, "nothing")


@task(f"How did the jobs {FAILED_JOB} and {FLAKY_JOB} end together, and what was flaky?", 1)
class summary_of_several_jobs:
    def solve(call, _):
        return str(call("summarize_results", job_ids=[FAILED_JOB, FLAKY_JOB]))

    def judge(sandbox, _, answer):
        return lacks(answer, "Pause and resume", "passed_after_retry", "bug_7h2k9")


@task("Show me what would be sent to start Release smoke on the Windows PC. Do not start it.", 2)
class preview_of_a_start:
    def solve(call, _):
        plan, device = find(call, "Release smoke", "Windows PC")
        return str(call("start_run", test_plan_id=plan, deployment_config_id=device, dry_run=True)["request"])

    def judge(sandbox, _, answer):
        return started(sandbox, "Finish the first level", 0) + lacks(answer, "POST", "deployment_config_id")


@task("What does the plan Release smoke consist of, and on which builds did it run lately?", 1)
class contents_of_a_plan:
    def solve(call, _):
        return str(call("describe_record", record="Release smoke", kind="test_plan"))

    def judge(sandbox, _, answer):
        return lacks(answer, "Finish the first level", "Pause and resume", "nightly 412")


@task("Which plans contain Pause and resume, and where is it in the folders?", 1)
class plans_of_a_test:
    def solve(call, _):
        test = call("describe_record", record="Pause and resume", kind="test")
        return f"{test['plans']} {test['folder_path']}"

    def judge(sandbox, _, answer):
        [test] = [test for test in sandbox.list("/tests") if test["name"] == "Pause and resume"]
        return lacks(answer, "Release smoke", test["folder_path"])
