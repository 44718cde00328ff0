//! The steps that use the result of the run.
#![expect(clippy::indexing_slicing, reason = "an index into a JSON value returns null for a missing field")]

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::scenario::{Scenario, records, text};
use crate::sandbox::seed;

impl Scenario {
    /// Prints the failed step of the run and its bug.
    pub(super) async fn explain_failure(&mut self, run: &str) -> Result<()> {
        self.transcript.step("Find out what failed, and why.");
        let record = self.call("get_run", json!({"run_id": run})).await?;
        let steps = record["players"][0]["steps"].as_array().context("no steps")?;
        let failed = steps.iter().find(|step| step["run_result"] == "FAILED").context("no failed step")?;

        let (number, goal) = (&failed["step_number"], text(&failed["test"], "goal")?);
        self.transcript.result(&format!("step {number} of {}: {goal}", steps.len()));
        let items = failed["items"].as_array().context("no expected results")?;
        for item in items.iter().filter(|item| item["status"] == "failed") {
            self.transcript.result(&format!("expected: {}", text(item, "expected")?));
        }
        self.transcript.result(&format!("report: {}", text(failed, "report")?));

        let bugs = self.call("list_run_bugs", json!({"run_id": run})).await?;
        let bug = records(&bugs)?.first().context("no bug")?;
        let (id, severity, title) = (text(bug, "bug_id")?, text(bug, "severity")?, text(bug, "title")?);
        self.transcript.result(&format!("bug {id} ({severity}): {title}"));

        Ok(())
    }

    /// Exports the run to the test-management system.
    pub(super) async fn export_run(&mut self, run: &str) -> Result<()> {
        self.transcript.step("Export the result to the test-management system.");
        let arguments = json!({"multiplayer_run_id": run, "custom_run_name": "Nightly"});
        let result = self.call("export_tmsys_run", arguments).await?;
        ensure!(result["success"] == true, "the export failed: {result}");

        let (cases, url) = (&result["total_test_cases"], text(&result, "tmsys_run_url")?);
        self.transcript.result(&format!("cases: {cases}, {url}"));

        Ok(())
    }

    /// Exports the run again with the wrong project, which the server must refuse.
    pub(super) async fn try_wrong_project(&mut self, run: &str) -> Result<()> {
        self.transcript.step("Make a mistake: the same run with the wrong project.");
        let arguments = json!({"multiplayer_run_id": run, "project_id": seed::ARENA_PROJECT});
        self.transcript.call("export_tmsys_run", &arguments);

        let reply = self.client.call("export_tmsys_run", arguments).await?;
        let error = reply.err().context("the call was not refused")?;
        ensure!(error["code"] == "project_scope_mismatch", "refused for another reason: {error}");
        let message = text(&error, "message")?;
        ensure!(
            message.contains(seed::DEMO_PROJECT) && message.contains(seed::ARENA_PROJECT),
            "the message does not name both projects: {message}"
        );

        self.transcript.refusal(&format!("project_scope_mismatch: {message}"));

        Ok(())
    }
}
