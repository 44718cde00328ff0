"""Results, causes and bugs."""

from task import find, lacks, task


@task("Why did run ezhzy9x6eq4 fail?", 1)
class cause_of_a_failed_run:
    def solve(call, _):
        return str(call("summarize_results", run_id="ezhzy9x6eq4")["failures"])

    def judge(sandbox, _, answer):
        return lacks(answer, "pause", "bug_7h2k9")


@task("How did the latest Release smoke go, and what is new since the one before?", 2)
class latest_result_of_a_plan:
    def solve(call, _):
        [plan] = find(call, "Release smoke", kinds=["test_plan"])
        return str(call("summarize_results", test_plan_id=plan, compare_with="previous"))

    def judge(sandbox, _, answer):
        latest, previous = "6dce3d19-5134-4267-897c-7636f2b678c5", "4ea293c9-1c5e-4484-9aa0-aaa3664e6f27"
        return lacks(answer, latest, previous, "comparison")


@task("How did the last run of Beat the Cinder Golem end?", 2)
class latest_result_of_a_test:
    def solve(call, _):
        [test] = find(call, "Beat the Cinder Golem", kinds=["test"])
        return str(call("summarize_results", multiplayer_test_id=test))

    def judge(sandbox, _, answer):
        return lacks(answer, "s3sank19vdh", "running")


@task("How is our newest run doing?", 1)
class newest_run:
    def solve(call, _):
        summary = call("summarize_results", latest=True)
        return f"{summary['target_id']}: {summary['state']}"

    def judge(sandbox, _, answer):
        newest = max(sandbox.list("/runs"), key=lambda run: run["created_at"])
        return lacks(answer, newest["multiplayer_run_id"], "running")


@task("How did the tests of Release smoke come out over its last executions, and which of them are flaky?", 2)
class history_of_a_plan:
    def solve(call, _):
        [plan] = find(call, "Release smoke", kinds=["test_plan"])
        return str(call("summarize_results", test_plan_id=plan, history=10)["history"])

    def judge(sandbox, _, answer):
        latest, previous = "6dce3d19-5134-4267-897c-7636f2b678c5", "4ea293c9-1c5e-4484-9aa0-aaa3664e6f27"
        return lacks(answer, latest, previous, "Beat the Cinder Golem", "passed_after_retry", "nightly 412")


@task("Is the latest failure of Pause and resume new since nightly 412?", 2)
class failure_against_a_build:
    def solve(call, _):
        found = call("find_by_name", names=["Pause and resume", "Emberfall 1.4.0 nightly 412"])
        [test], build = [result["records"] for result in found["results"]]
        summary = call("summarize_results", multiplayer_test_id=test["id"], compare_with=build[0]["name"])
        changes = summary["comparison"]
        return f"No, it is known: {changes['known']}" if changes["known"] else f"Yes: {changes['new']}"

    def judge(sandbox, _, answer):
        return lacks(answer, "No, it is known", "x03031trjx0")


@task("What came out of our five newest runs?", 1)
class newest_runs:
    def solve(call, _):
        return str(call("list_runs", newest=5, fields="id,result,test.name")["data"])

    def judge(sandbox, _, answer):
        runs = sorted(sandbox.list("/runs"), key=lambda run: run["created_at"], reverse=True)
        return lacks(answer, *[run["multiplayer_run_id"] for run in runs[:5]])


@task("On which devices did our runs fail?", 1)
class devices_of_failed_runs:
    def solve(call, _):
        runs = call("list_runs")["data"]
        return str({run["device"] for run in runs if run.get("result") == "FAILED"})

    def judge(sandbox, _, answer):
        failed = [run for run in sandbox.list("/runs") if run["result"] == "FAILED"]
        devices = {run["players"][0]["platform"]["config"]["device"]["name"] for run in failed}
        return lacks(answer, *devices)


@task("Did job 3763d215-b5cd-4614-96cb-8f0f221acea1 need a retry to pass?", 1)
class retried_job:
    def solve(call, _):
        summary = call("summarize_results", job_id="3763d215-b5cd-4614-96cb-8f0f221acea1")
        return f"Yes: {summary['passed_after_retry']}" if summary["passed_after_retry"] else "No."

    def judge(sandbox, _, answer):
        return lacks(answer, "Yes", "Cinder Golem")


@task("Which bugs did the explorer find in run hikt0u031x0?", 1)
class bugs_of_a_run:
    def solve(call, _):
        return str([bug["title"] for bug in call("list_run_bugs", run_id="hikt0u031x0")["data"]])

    def judge(sandbox, _, answer):
        bugs = sandbox.get("/runs/hikt0u031x0/bugs")["data"]
        return lacks(answer, *[bug["title"] for bug in bugs])


@task("Which of the confirmed bugs are critical?", 1)
class critical_bugs:
    def solve(call, _):
        return str([bug["title"] for bug in call("list_bugs", severity="critical")["data"]])

    def judge(sandbox, _, answer):
        return lacks(answer, "Player falls through the rope bridge")


@task("In which runs did players fall through the rope bridge?", 1)
class occurrences_of_a_bug:
    def solve(call, _):
        bug = call("describe_record", record="Player falls through the rope bridge")
        return str([one["run_id"] for one in bug["occurrences"]])

    def judge(sandbox, _, answer):
        runs = [one["multiplayer_run_id"] for one in sandbox.get("/bugs/bug_9d3rt")["occurrences"]]
        return lacks(answer, *runs)


@task("What was the last thing the first player of run ezhzy9x6eq4 was asked to do?", 1)
class last_step_of_a_run:
    def solve(call, _):
        run = call("get_run", run_id="ezhzy9x6eq4", fields="players.steps")
        return str(run["players"][0]["steps"][-1])

    def judge(sandbox, _, answer):
        steps = sandbox.get("/runs/ezhzy9x6eq4")["players"][0]["steps"]
        return [] if str(steps[-1]["run_result"]) in answer else ["the answer is not the last step"]


@task("Which were our two newest runs on a Pixel 8?", 1)
class newest_runs_on_a_device:
    def solve(call, _):
        return str(call("list_runs", newest=2, device="Pixel 8", fields="id,device")["data"])

    def judge(sandbox, _, answer):
        def is_on_device(run):
            return any(player["platform"]["config"]["device"]["name"] == "Pixel 8" for player in run["players"])

        runs = [run for run in sandbox.list("/runs") if is_on_device(run)]
        runs.sort(key=lambda run: run["created_at"], reverse=True)
        return lacks(answer, *[run["multiplayer_run_id"] for run in runs[:2]])


@task("How does the file agent.log of run ezhzy9x6eq4 begin?", 1, settings={"TAS_TOOLSETS": "all"})
class file_of_a_run:
    def solve(call, _):
        return call("get_run_artifact", run_id="ezhzy9x6eq4", filename="agent.log", length=500)["text"]

    def judge(sandbox, _, answer):
        return lacks(answer, "ezhzy9x6eq4-1 plays", "step 1")


@task("Which files did the player leave that failed in run ih5w5636edb?", 2, settings={"TAS_TOOLSETS": "all"})
class files_of_the_player_that_failed:
    def solve(call, _):
        [failure] = call("summarize_results", run_id="ih5w5636edb")["failures"]
        return str(call("list_run_artifacts", run_id=failure["player_id"])["artifacts"])

    def judge(sandbox, _, answer):
        failed = sandbox.get("/runs/ih5w5636edb")["players"][1]
        return lacks(answer, *[file["url"] for file in failed["artifacts"]])


@task("Where was each confirmed bug seen last?", 1)
class last_places_of_bugs:
    def solve(call, _):
        return str(call("list_bugs", fields="title,newest_occurrence")["data"])

    def judge(sandbox, _, answer):
        places = []
        for bug in sandbox.list("/bugs"):
            occurrences = sandbox.get(f"/bugs/{bug['id']}")["occurrences"]
            newest = max(occurrences, key=lambda one: one["detected_at"])
            places += [bug["title"], f"{newest['multiplayer_run_id']}-{newest['player_index'] + 1}"]
        return lacks(answer, *places)


@task("Which of the confirmed bugs occurs most often?", 1)
class most_frequent_bug:
    def solve(call, _):
        [bug] = call("list_bugs", sort_by="occurrence_count", sort_order="desc", page_size=1)["data"]
        return f"{bug['title']}: {bug['occurrence_count']} times"

    def judge(sandbox, _, answer):
        most = max(sandbox.list("/bugs"), key=lambda bug: bug["occurrence_count"])
        return lacks(answer, most["title"], f"{most['occurrence_count']} times")
