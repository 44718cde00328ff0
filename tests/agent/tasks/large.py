"""Projects with many records: 300 tests, 40 plans and 2,000 runs."""

from task import find, lacks, task

DEVICE = "bb2adece-e2ad-49af-a023-29c3643ce7f5"

TESTS = 300
PLANS = 40
RUNS = 2_000

#: Largest number of runs that one request starts.
INSTANCES = 10


def create_tests(sandbox):
    """Creates the tests and returns their ids."""
    bodies = [{"test": {"name": f"Level {number}", "test_type": "task"}} for number in range(TESTS)]
    return [sandbox.request("POST", "/tests", body)["id"] for body in bodies]


def create_plans(sandbox):
    """Creates the tests and the plans."""
    tests = create_tests(sandbox)
    for number in range(PLANS):
        items = [{"multiplayer_test_id": test} for test in tests[number * 3 : number * 3 + 3]]
        sandbox.request("POST", "/test-plans", {"test_plan": {"name": f"Regression {number}", "test_items": items}})


def create_runs(sandbox):
    """Starts runs of a new test, some each day, and lets them end. Returns the ids of the three newest runs."""
    test = sandbox.request("POST", "/tests", {"test": {"name": "Endurance", "test_type": "task"}})["id"]
    body = {"multiplayer_test_id": test, "deployment_config_id": DEVICE, "instances": INSTANCES}
    for _ in range(RUNS // INSTANCES):
        sandbox.request("POST", "/runs", body)
        sandbox.advance(86_400)

    runs = sorted(sandbox.list("/runs"), key=lambda run: run["created_at"], reverse=True)
    assert len(runs) >= RUNS, len(runs)
    return [run["multiplayer_run_id"] for run in runs[:INSTANCES]]


@task("Run Level 217 on the Windows PC.", 2)
class run_one_of_many_tests:
    prepare = create_tests

    def solve(call, _):
        test, device = find(call, "Level 217", "Windows PC")
        reply = call("start_run", multiplayer_test_id=test, deployment_config_id=device)
        return f"Started {reply['job_ids'][0]}."

    def judge(sandbox, _, answer):
        queued = [job["test_name"] for job in sandbox.list("/jobs?status=queued")]
        return [] if queued.count("Level 217") == 1 else ["the test was not started once"]


@task("Start the plan Regression 37 on the Windows PC.", 2)
class run_one_of_many_plans:
    prepare = create_plans

    def solve(call, _):
        plan, device = find(call, "Regression 37", "Windows PC")
        reply = call("start_run", test_plan_id=plan, deployment_config_id=device)
        return f"Started {len(reply['job_ids'])} jobs."

    def judge(sandbox, _, answer):
        queued = [job["test_name"] for job in sandbox.list("/jobs?status=queued")]
        return [] if "Level 111" in queued else ["the plan was not started"]


@task("Which are our ten newest runs?", 1)
class newest_of_many_runs:
    prepare = create_runs

    def solve(call, _):
        return str(call("list_runs", newest=10, fields="id")["data"])

    def judge(sandbox, newest, answer):
        return lacks(answer, *newest)
