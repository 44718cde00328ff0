"""Starting runs by names."""

from task import find, lacks, started, task


@task("Run Pause and resume on the Windows PC.", 2)
class run_a_test:
    def solve(call, _):
        test, device = find(call, "Pause and resume", "Windows PC")
        reply = call("start_run", multiplayer_test_id=test, deployment_config_id=device)
        return f"Started job {reply['job_ids'][0]}."

    def judge(sandbox, _, answer):
        return started(sandbox, "Pause and resume")


@task("Start the plan Release smoke on our Android phones please", 2)
class run_a_plan:
    def solve(call, _):
        plan, device = find(call, "Release smoke", "Android phones")
        reply = call("start_run", test_plan_id=plan, deployment_config_id=device)
        return f"Started {len(reply['job_ids'])} jobs."

    def judge(sandbox, _, answer):
        return started(sandbox, "Finish the first level") + lacks(answer, "4 jobs")


@task("Test 'Finish the first level' on the Windows PC with the Windows nightly 413.", 2)
class run_a_test_with_a_build:
    def solve(call, _):
        test, device, build = find(
            call, "Finish the first level", "Windows PC", "Emberfall 1.4.0 nightly 413 (Windows)"
        )
        reply = call("start_run", multiplayer_test_id=test, deployment_config_id=device, build_id=build)
        return f"Started with build {reply['build_id']}."

    def judge(sandbox, _, answer):
        build = "e1bc3319-334c-4672-9365-3ed6872edb3f"
        return started(sandbox, "Finish the first level") + lacks(answer, build)


@task("Start Cross-play party: the PC slot on Windows PC, the phone on the iPhone 15, the console on the PlayStation 5.", 2)
class run_a_plan_with_slots:
    def solve(call, _):
        found = call("find_by_name", names=["Cross-play party", "Windows PC", "iPhone 15", "PlayStation 5"])
        plan, pc, phone, console = [result["records"][0] for result in found["results"]]
        slots = {name: number for number, name in plan["slots"].items()}
        devices = {
            slots["Phone"]: {"deployment_config_id": phone["id"]},
            slots["Console"]: {"deployment_config_id": console["id"]},
        }
        reply = call(
            "start_test_plan_run",
            test_plan_id=plan["id"],
            deployment_config_id=pc["id"],
            slot_deployment_configs=devices,
        )
        return f"Started {len(reply['job_ids'])} jobs."

    def judge(sandbox, _, answer):
        return started(sandbox, "Cross-play: three lanterns") + lacks(answer, "2 jobs")


@task("Have someone check on the Windows PC that the settings menu opens and closes.", 2)
class run_instructions:
    def solve(call, _):
        [device] = find(call, "Windows PC", kinds=["deployment_config"])
        text = "Open the settings menu, then close it."
        reply = call("start_run", instructions=text, deployment_config_id=device)
        return f"Started job {reply['job_ids'][0]}."

    def judge(sandbox, _, answer):
        return started(sandbox, "[api] ephemeral test")


@task("Run Co-op: light the beacon three times on the Windows PC, and retry each up to two times.", 2)
class run_a_test_several_times:
    def solve(call, _):
        test, device = find(call, "Co-op: light the beacon", "Windows PC")
        several = {"instances": 3, "retries": 2, "confirm": True}
        reply = call("start_run", multiplayer_test_id=test, deployment_config_id=device, **several)
        return f"Started {len(reply['job_ids'])} jobs."

    def judge(sandbox, _, answer):
        return started(sandbox, "Co-op: light the beacon", 3)


@task("Run Pause and resume on all of our Android phones. Yes, on every one of them.", 3)
class run_a_test_on_all_devices:
    def solve(call, _):
        test, device = find(call, "Pause and resume", "Android phones")
        start = {"multiplayer_test_id": test, "deployment_config_id": device, "run_on_all_configured_devices": True}
        assert "every device" in call("start_run", **start)["error"]["message"]
        return f"Started {call('start_run', **start, confirm=True)['started_count']} runs."

    def judge(sandbox, _, answer):
        return started(sandbox, "Pause and resume", 3) + lacks(answer, "3 runs")
