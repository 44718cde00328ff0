"""Tests, plans, folders and shared steps."""

from task import find, lacks, task


@task("Rename the test Pause and resume to 'Pause, then resume'.", 2)
class rename_a_test:
    def solve(call, _):
        test = call("describe_record", record="Pause and resume", kind="test")
        patch = {"name": "Pause, then resume"}
        call("update_test", test_id=test["id"], expected_version=test["version"], patch=patch)
        return "Renamed."

    def judge(sandbox, _, answer):
        names = [test["name"] for test in sandbox.list("/tests")]
        return ["the test is not renamed"] * (names.count("Pause, then resume") != 1 or "Pause and resume" in names)


@task("Make a folder Caves for the tests, inside Levels, World 3. World 3 does not exist yet.", 1)
class create_nested_folders:
    def solve(call, _):
        call("create_test_folder", name="Caves", parent_path="Levels/World 3", create_intermediate_parents=True)
        return "Created."

    def judge(sandbox, _, answer):
        paths = [folder["path"] for folder in sandbox.list("/test-folders")]
        return lacks(" ".join(paths), "Levels/World 3/Caves")


@task("Write a short test 'Open the map' in Menus: the player opens the map, and the map is shown.", 1)
class create_a_test:
    def solve(call, _):
        step = {"type": "step", "goal": "Open the map", "expected_results": [{"expected": "The map is shown"}]}
        player = {"items_by_key": {"1": step}, "item_order": ["1"]}
        test = {"name": "Open the map", "test_type": "verification", "players_by_key": {"1": player}}
        call("create_test", test=test | {"player_order": ["1"]}, folder_path="Menus")
        return "Created."

    def judge(sandbox, _, answer):
        tests = [test["folder_path"] for test in sandbox.list("/tests") if test["name"] == "Open the map"]
        return [] if tests == ["Menus"] else [f"tests: {tests}"]


@task("Move Explore the Ashen Woods to the folder Levels.", 2)
class move_a_test:
    def solve(call, _):
        test = call("describe_record", record="Explore the Ashen Woods", kind="test")
        version = test["version"]
        call("update_test", test_id=test["id"], expected_version=version, patch={}, folder_path="Levels")
        return "Moved."

    def judge(sandbox, _, answer):
        [test] = [test for test in sandbox.list("/tests") if test["name"] == "Explore the Ashen Woods"]
        return [] if test["folder_path"] == "Levels" else [f"it is in {test['folder_path']}"]


@task("Add Switch every language to the plan Release smoke.", 3)
class add_a_test_to_a_plan:
    def solve(call, _):
        plan, test = find(call, "Release smoke", "Switch every language")
        items = call("get_test_plan", test_plan_id=plan)["test_items"]
        items = [{key: item[key] for key in ("multiplayer_test_id", "retries")} for item in items]
        call("update_test_plan", test_plan_id=plan, patch={"test_items": items + [{"multiplayer_test_id": test}]})
        return "Added."

    def judge(sandbox, _, answer):
        items = sandbox.get("/test-plans/8329bf5f-2912-4f3e-8b06-a97011e21eac")["test_items"]
        return [] if len(items) == 5 else [f"the plan has {len(items)} tests"]


@task("Which saved tests do we have, in whatever folder? I only need their names.", 1)
class every_saved_test:
    def solve(call, _):
        tests = call("list_tests", all_folders=True, fields="name")
        assert "unread" not in tests and "warning" not in tests
        return str([test["name"] for test in tests["data"]])

    def judge(sandbox, _, answer):
        return lacks(answer, *[test["name"] for test in sandbox.list("/tests")])


@task("How many players has Co-op: light the beacon, and which slots has Cross-play party?", 1)
class players_and_slots:
    def solve(call, _):
        found = call("find_by_name", names=["Co-op: light the beacon", "Cross-play party"])
        test, plan = [result["records"][0] for result in found["results"]]
        return f"{len(test['players'])} players; slots {', '.join(plan['slots'].values())}"

    def judge(sandbox, _, answer):
        return lacks(answer, "2 players", "PC", "Phone", "Console")


@task("Create a plan 'Menus only' with all tests of the folder Menus.", 2, settings={"TAS_TOOLSETS": "all"})
class create_a_plan_of_a_folder:
    def solve(call, _):
        tests = call("list_tests", folder_path="Menus", fields="id")["data"]
        items = [{"multiplayer_test_id": test["id"]} for test in tests]
        call("create_test_plan", name="Menus only", test_items=items)
        return "Created."

    def judge(sandbox, _, answer):
        plans = [plan["test_count"] for plan in sandbox.list("/test-plans") if plan["name"] == "Menus only"]
        return [] if plans == [3] else [f"plans: {plans}"]


@task("In the shared steps 'Sign in', change the goal to 'Sign in as a guest'.", 3)
class change_shared_steps:
    def solve(call, _):
        [steps] = find(call, "Sign in", kinds=["shared_step"])
        current = call("get_shared_step", shared_step_id=steps)
        key = current["step_order"][0]
        patch = {"steps_by_key": {key: {"goal": "Sign in as a guest"}}}
        call("update_shared_step", shared_step_id=steps, expected_version=current["version"], patch=patch)
        return "Changed."

    def judge(sandbox, _, answer):
        steps = sandbox.get("/shared-steps/ssc_sign_in")
        return lacks(str(steps["steps_by_key"]), "Sign in as a guest", "The profile name is shown")


@task("Delete the build nightly 412 for good. Yes, I am sure.", 2)
class delete_a_build:
    def solve(call, _):
        [build] = find(call, "Emberfall 1.4.0 nightly 412", kinds=["build"])
        call("delete_build", build_id=build, confirm=True)
        return "Deleted."

    def judge(sandbox, _, answer):
        names = [build["name"] for build in sandbox.list("/builds")]
        return ["a wrong set of builds is left"] * (len(names) != 4 or any("412" in name for name in names))


@task("Which tests do we have in the folder Levels, with everything below it?", 1)
class tests_below_a_folder:
    def solve(call, _):
        return str(call("list_tests", all_folders=True, folder_path="Levels")["data"])

    def judge(sandbox, _, answer):
        tests = [test for test in sandbox.list("/tests") if test["folder_path"].startswith("Levels")]
        return lacks(answer, *[test["id"] for test in tests])


@task("Which tests in Menus and below it have not been run since they were written?", 1)
class tests_that_were_never_run:
    def prepare(sandbox):
        menus = {"test": {"name": "Open the credits", "test_type": "task"}, "folder_path": "Menus"}
        sandbox.request("POST", "/tests", menus)

    def solve(call, _):
        tests = call("list_tests", all_folders=True, folder_path="Menus", fields="name,last_run_at")
        assert "unread" not in tests
        return str([test["name"] for test in tests["data"] if not test["last_run_at"]])

    def judge(sandbox, _, answer):
        return [] if answer == "['Open the credits']" else [f"the answer is {answer}"]


@task("Delete the build 11111111-2222-4333-8444-555555555555. Yes, for good.", 1)
class delete_a_build_that_does_not_exist:
    def solve(call, _):
        error = call("delete_build", build_id="11111111-2222-4333-8444-555555555555")["error"]
        return f"Nothing was deleted: {error['code']}"

    def judge(sandbox, _, answer):
        return lacks(answer, "not_found") + ["a build was deleted"] * (len(sandbox.list("/builds")) != 5)


@task("Make a folder Bosses in the folder 11111111-2222-4333-8444-555555555555.", 1)
class create_a_folder_in_an_unknown_one:
    def solve(call, _):
        parent = "11111111-2222-4333-8444-555555555555"
        return str(call("create_test_folder", name="Bosses", parent_folder_id=parent)["error"])

    def judge(sandbox, _, answer):
        names = [folder["name"] for folder in sandbox.list("/test-folders")]
        problems = ["a folder was made"] * ("Bosses" in names)
        return problems + lacks(answer, "not_found") + ["bad advice"] * ("create_intermediate_parents" in answer)
