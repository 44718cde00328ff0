//! `tas-mcp demo`: an assistant's session with the real server against an embedded sandbox, told as it happens.
//!
//! Every step says what it expects, and the demo fails if it is not so.
#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value that is read by name gives null where there is nothing"
)]

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

mod session;
mod transcript;

use self::{session::Session, transcript::Transcript};
use crate::sandbox::{self, Options, Sandbox, keys, seed};

/// Simulated seconds between two looks at a job: as often as the service asks to be polled.
const POLL_SECONDS: f64 = 30.0;

/// Looks at a job before it must have ended.
const MOST_LOOKS: usize = 40;

/// Runs the demo; an error when any step is not as expected.
pub async fn run() -> Result<()> {
    let options = Options { speed: 0.0, ..Options::default() };
    let sandbox = sandbox::start(SocketAddr::from(([127, 0, 0, 1], 0)), options, None).await?;
    let environment = [
        ("TAS_BASE_URL", sandbox.base_url()),
        ("TAS_API_KEY", keys::ORGANIZATION.to_owned()),
        ("TAS_PROJECTS", format!("{},{}", seed::DEMO_PROJECT, seed::ARENA_PROJECT)),
    ];
    let session = Session::start(&environment).await?;
    let mut demo = Demo { sandbox, session, transcript: Transcript::new() };

    demo.greet()?;
    let config = demo.find_config().await?;
    let test = demo.find_test().await?;
    let job = demo.start(&test, &config).await?;
    let run = demo.wait(&job).await?;

    demo.read_failure(&run).await?;
    demo.export(&run).await?;
    demo.be_refused(&run).await?;

    let Demo { session, mut transcript, .. } = demo;
    session.end().await?;
    transcript.end("Every step went as expected.");

    Ok(())
}

struct Demo {
    sandbox: Sandbox,
    session: Session,
    transcript: Transcript,
}

impl Demo {
    fn greet(&mut self) -> Result<()> {
        let tools = self.session.tools().len();
        ensure!(tools > 0, "the server offers no tools");
        self.transcript.title("An assistant tests a game");
        self.transcript.said(&format!(
            "tas-mcp serves {tools} tools over MCP {}, in global scope, against a sandbox of the service.",
            self.session.revision()
        ));

        Ok(())
    }

    async fn find_config(&mut self) -> Result<String> {
        self.transcript.step("On which device shall it run?");
        let page = self.call("list_deployment_configs", json!({"project_id": seed::DEMO_PROJECT})).await?;
        let configs = records(&page)?;
        let found = configs
            .iter()
            .find(|config| config["kind"] == "windows" && config["providerType"] == "build-storage");
        let config = found.context("no Windows config")?;

        self.transcript.found(&format!("{} configs; taken: {}", configs.len(), text(config, "name")?));

        Ok(text(config, "id")?.to_owned())
    }

    async fn find_test(&mut self) -> Result<String> {
        self.transcript.step("Which test?");
        let page = self.call("list_tests", json!({"project_id": seed::DEMO_PROJECT})).await?;
        let tests = records(&page)?;
        let test =
            tests.iter().find(|test| test["id"] == seed::TEST_FAILS).context("the test is not listed")?;

        self.transcript.found(&format!(
            "{} tests; taken: {} ({})",
            tests.len(),
            text(test, "name")?,
            text(test, "type")?
        ));

        Ok(text(test, "id")?.to_owned())
    }

    async fn start(&mut self, test: &str, config: &str) -> Result<String> {
        self.transcript.step("Start it, and try again if the device or the connection fails.");
        let arguments = json!({
            "project_id": seed::DEMO_PROJECT, "multiplayer_test_id": test, "deployment_config_id": config, "retries": 2
        });
        let started = self.call("start_run", arguments).await?;
        let job = started["job_ids"][0].as_str().context("no job")?;

        self.transcript.found(&format!("job {job}"));

        Ok(job.to_owned())
    }

    /// Polls the job; gives the run that decides.
    async fn wait(&mut self, job: &str) -> Result<String> {
        self.transcript.step("Wait for it. (The sandbox's clock is advanced by 30 s for each look.)");
        let mut seen = String::new();

        for _ in 0..MOST_LOOKS {
            let record = self.quiet_call("get_job", json!({"job_id": job})).await?;
            let status = text(&record, "status")?;

            if status != seen {
                status.clone_into(&mut seen);
                self.transcript.call("get_job", &json!({"job_id": job}));
                self.transcript.found(status);
            }

            if status == "COMPLETED" {
                return self.verdict(&record);
            }

            self.sandbox.advance(POLL_SECONDS);
        }

        bail!("the job did not end")
    }

    fn verdict(&mut self, job: &Value) -> Result<String> {
        let runs = job["runs"].as_array().context("no runs")?;
        let last = runs.iter().max_by_key(|run| run["started_at"].as_str()).context("no run")?;
        let (result, left) = (text(last, "result")?, &job["retries"]["remaining"]);

        ensure!(result == "FAILED" && runs.len() == 1, "a verdict must not be retried: {job}");
        self.transcript.found(&format!(
            "{result} after {} attempt, {left} retries left: a verdict is never retried",
            runs.len()
        ));

        Ok(text(last, "multiplayer_run_id")?.to_owned())
    }

    async fn read_failure(&mut self, run: &str) -> Result<()> {
        self.transcript.step("What failed, and why?");
        let record = self.call("get_run", json!({"run_id": run})).await?;
        let steps = record["players"][0]["steps"].as_array().context("no steps")?;
        let failed = steps.iter().find(|step| step["run_result"] == "FAILED").context("no failed step")?;

        self.transcript.found(&format!(
            "step {} of {}: {}",
            failed["step_number"],
            steps.len(),
            text(&failed["test"], "goal")?
        ));
        let items = failed["items"].as_array().context("no expected results")?;

        for item in items.iter().filter(|item| item["status"] == "failed") {
            self.transcript.found(&format!("expected: {}", text(item, "expected")?));
        }

        self.transcript.found(&format!("report: {}", text(failed, "report")?));
        let bugs = self.call("list_run_bugs", json!({"run_id": run})).await?;
        let bug = records(&bugs)?.first().context("no bug")?;

        self.transcript.found(&format!(
            "bug {} ({}): {}",
            text(bug, "bug_id")?,
            text(bug, "severity")?,
            text(bug, "title")?
        ));

        Ok(())
    }

    async fn export(&mut self, run: &str) -> Result<()> {
        self.transcript.step("Put the result where the team looks.");
        let result = self
            .call("export_tmsys_run", json!({"multiplayer_run_id": run, "custom_run_name": "Nightly"}))
            .await?;
        ensure!(result["success"] == true, "the export failed: {result}");
        self.transcript.found(&format!(
            "cases: {}, {}",
            result["total_test_cases"],
            text(&result, "tmsys_run_url")?
        ));

        Ok(())
    }

    async fn be_refused(&mut self, run: &str) -> Result<()> {
        self.transcript.step("A slip: the same run, but the wrong project.");
        let arguments = json!({"multiplayer_run_id": run, "project_id": seed::ARENA_PROJECT});
        self.transcript.call("export_tmsys_run", &arguments);

        let error =
            self.session.call("export_tmsys_run", arguments).await?.err().context("it was not refused")?;
        ensure!(error["code"] == "project_scope_mismatch", "refused otherwise: {error}");

        let message = text(&error, "message")?;
        ensure!(
            message.contains(seed::DEMO_PROJECT) && message.contains(seed::ARENA_PROJECT),
            "a project is not named: {message}"
        );
        self.transcript.refused(&format!("project_scope_mismatch: {message}"));

        Ok(())
    }

    /// Calls a tool that must succeed, and tells so.
    async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        self.transcript.call(tool, &arguments);
        self.quiet_call(tool, arguments).await
    }

    async fn quiet_call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        match self.session.call(tool, arguments).await? {
            Ok(reply) => Ok(reply),
            Err(error) => bail!("{tool} failed: {error}"),
        }
    }
}

fn records(page: &Value) -> Result<&Vec<Value>> {
    page["data"].as_array().context("not a list")
}

fn text<'a>(record: &'a Value, field: &str) -> Result<&'a str> {
    record[field].as_str().with_context(|| format!("no `{field}` in {record}"))
}
