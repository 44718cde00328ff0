//! The steps from the choice of a device to the verdict of the run.
#![expect(clippy::indexing_slicing, reason = "an index into a JSON value returns null for a missing field")]

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::scenario::{Scenario, records, text};
use crate::sandbox::seed;

/// Simulated seconds between two polls of a job, the interval that the service recommends.
const POLL_SECONDS: f64 = 30.0;

/// Number of polls after which the job must have finished.
const MAX_POLLS: usize = 40;

impl Scenario {
    /// Returns the id of a deployment config.
    pub(super) async fn choose_config(&mut self) -> Result<String> {
        self.transcript.step("Choose the device.");
        let page = self.call("list_deployment_configs", json!({"project_id": seed::DEMO_PROJECT})).await?;
        let configs = records(&page)?;
        let is_suitable =
            |config: &&Value| config["kind"] == "windows" && config["providerType"] == "build-storage";
        let config = configs.iter().find(is_suitable).context("no Windows config")?;

        self.transcript.result(&format!("{} configs; chosen: {}", configs.len(), text(config, "name")?));

        Ok(text(config, "id")?.to_owned())
    }

    /// Returns the id of a test that will fail.
    pub(super) async fn choose_test(&mut self) -> Result<String> {
        self.transcript.step("Choose the test.");
        let page = self.call("list_tests", json!({"project_id": seed::DEMO_PROJECT})).await?;
        let tests = records(&page)?;
        let test =
            tests.iter().find(|test| test["id"] == seed::TEST_FAILS).context("the test is not listed")?;

        let (name, kind) = (text(test, "name")?, text(test, "type")?);
        self.transcript.result(&format!("{} tests; chosen: {name} ({kind})", tests.len()));

        Ok(text(test, "id")?.to_owned())
    }

    /// Starts the test. Returns the id of the job.
    pub(super) async fn start_run(&mut self, test: &str, config: &str) -> Result<String> {
        self.transcript.step("Start it, with retries if the device or the connection fails.");
        let arguments = json!({
            "project_id": seed::DEMO_PROJECT, "multiplayer_test_id": test, "deployment_config_id": config, "retries": 2
        });
        let started = self.call("start_run", arguments).await?;
        let job = started["job_ids"][0].as_str().context("no job")?;

        self.transcript.result(&format!("job {job}"));

        Ok(job.to_owned())
    }

    /// Polls the job until it has finished. Returns the id of the run that decides its result.
    pub(super) async fn wait_for_run(&mut self, job: &str) -> Result<String> {
        self.transcript.step("Wait for it. (The demo advances the clock of the sandbox by 30 s per poll.)");
        let mut last_status = String::new();

        for _ in 0..MAX_POLLS {
            let record = self.call_silently("get_job", json!({"job_id": job})).await?;
            let status = text(&record, "status")?;

            if status != last_status {
                status.clone_into(&mut last_status);
                self.transcript.call("get_job", &json!({"job_id": job}));
                self.transcript.result(status);
            }

            if status == "COMPLETED" {
                return self.check_verdict(&record);
            }

            self.sandbox.advance(POLL_SECONDS);
        }

        bail!("the job did not finish")
    }

    /// Checks that the job has one failed run. Returns the id of the run.
    fn check_verdict(&mut self, job: &Value) -> Result<String> {
        let runs = job["runs"].as_array().context("no runs")?;
        let last = runs.iter().max_by_key(|run| run["started_at"].as_str()).context("no run")?;
        let (result, remaining) = (text(last, "result")?, &job["retries"]["remaining"]);
        ensure!(result == "FAILED" && runs.len() == 1, "a verdict must not be retried: {job}");

        self.transcript.result(&format!(
            "{result} after {} attempt, {remaining} retries left: a verdict is never retried",
            runs.len()
        ));

        Ok(text(last, "multiplayer_run_id")?.to_owned())
    }
}
