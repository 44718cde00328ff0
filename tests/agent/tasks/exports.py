"""Exports to the test-management system."""

from task import find, lacks, task


@task("Export the last completed Release smoke to the test-management system.", 3)
class export_the_last_execution:
    def solve(call, _):
        [plan] = find(call, "Release smoke", kinds=["test_plan"])
        executions = call("list_test_plan_executions", test_plan_id=plan, status="completed", page_size=1)
        reply = call("export_tmsys_run", test_plan_execution_id=executions["data"][0]["id"], force_new_run=False)
        return str(reply)

    def judge(sandbox, _, answer):
        return lacks(answer, "'success': True", "already_exported")


@task("Export run hui4d9ilmby under the name 'First level'.", 1)
class export_a_run:
    def solve(call, _):
        return str(call("export_tmsys_run", multiplayer_run_id="hui4d9ilmby", custom_run_name="First level"))

    def judge(sandbox, _, answer):
        return lacks(answer, "'success': True")


@task("Export the execution 4ea293c9-1c5e-4484-9aa0-aaa3664e6f27, and check that a second export makes no new entry.", 2)
class export_an_execution_twice:
    def solve(call, _):
        export = {"test_plan_execution_id": "4ea293c9-1c5e-4484-9aa0-aaa3664e6f27", "force_new_run": False}
        first, second = call("export_tmsys_run", **export), call("export_tmsys_run", **export)
        return f"Exported: {first['success']}. The second: already_exported={second.get('already_exported')}"

    def judge(sandbox, _, answer):
        return lacks(answer, "Exported: True", "already_exported=True")
