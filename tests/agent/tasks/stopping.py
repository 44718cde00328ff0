"""Stopping and waiting."""

from task import lacks, task


@task("Stop whatever is running against the Cinder Golem.", 2)
class stop_a_running_test:
    def solve(call, _):
        jobs = call("list_jobs", status="running")["data"]
        ids = [job["job_id"] for job in jobs if "Cinder Golem" in job["test_name"]]
        call("stop_runs", job_ids=ids, confirm=True)
        return "Stopped."

    def judge(sandbox, _, answer):
        # A job that is stopped has the status STOPPING until its run has ended.
        running = [job["test_name"] for job in sandbox.list("/jobs") if job["status"] == "RUNNING"]
        return [f"{name} is running" for name in running if "Golem" in name]


@task("Cancel everything that is still queued.", 2)
class stop_all_queued_jobs:
    def solve(call, _):
        queued = [job["job_id"] for job in call("list_jobs", status="queued", page_size=100)["data"]]
        call("stop_runs", job_ids=queued, confirm=True)
        return f"Cancelled {len(queued)} jobs."

    def judge(sandbox, _, answer):
        queued, running = sandbox.list("/jobs?status=queued"), sandbox.list("/jobs?status=running")
        return [f"{len(queued)} jobs are queued"] * bool(queued) + ["a running job was stopped"] * (not running)


@task("Is job 3126ec62-851c-4a5f-bce1-dd354c0912de done, and did it pass?", 1)
class wait_for_a_job:
    def solve(call, _):
        reply = call("wait_for_completion", job_ids=["3126ec62-851c-4a5f-bce1-dd354c0912de"])
        return "It passed." if reply["all_passed"] else "It did not pass."

    def judge(sandbox, _, answer):
        return lacks(answer, "It passed")


@task("Cancel everything that is still queued. I have few tools.", 2, settings={"TAS_TOOLSETS": "lean"})
class stop_all_queued_jobs_with_few_tools:
    def solve(call, _):
        queued = [run["job_id"] for run in call("list_runs", queued=True, page_size=100)["data"]]
        call("stop_runs", job_ids=queued, confirm=True)
        return f"Cancelled {len(queued)} jobs."

    def judge(sandbox, _, answer):
        queued, running = sandbox.list("/jobs?status=queued"), sandbox.list("/jobs?status=running")
        return [f"{len(queued)} jobs are queued"] * bool(queued) + ["a running job was stopped"] * (not running)
