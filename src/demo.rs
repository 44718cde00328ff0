//! `tas-mcp demo`: a session of an assistant with the real server and an embedded sandbox. It prints each step, and fails if the
//! result of a step is not the expected one.
#![expect(clippy::indexing_slicing, reason = "an index into a JSON value returns null for a missing field")]

use std::{io::Write as _, net::SocketAddr, process::Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use clap::builder::styling::{AnsiColor, Style};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::{
    cli::{terminal_width, wrapped},
    sandbox::{self, Options, Sandbox, keys, seed},
    settings::{HOME_VARIABLES, SETTINGS},
};

const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const CALL: Style = Style::new().dimmed();
const PLAIN: Style = Style::new();

/// Runs the demo.
///
/// # Errors
/// The first step whose result is not the expected one.
pub async fn run() -> Result<()> {
    let options = Options { speed: 6_000.0, ..Options::default() };
    let sandbox = sandbox::start(SocketAddr::from(([127, 0, 0, 1], 0)), options, None).await?;
    let mut session = Session::start(&sandbox).await?;

    let job = start_a_test(&mut session).await?;
    let run = wait_for(&mut session, &job).await?;
    explain(&mut session, &run).await?;
    export(&mut session, &run).await?;

    drop(session.input);
    ensure!(session.server.wait().await?.success(), "the server did not end well");
    print(HEADING, "\nEvery step had the expected result.");
    print(PLAIN, "Next: `tas-mcp install claude-code --sandbox` says how to connect an assistant.");

    Ok(())
}

async fn start_a_test(session: &mut Session) -> Result<String> {
    print(HEADING, "\n1. Choose the device.");
    let configs = session.call("list_deployment_configs", json!({"project_id": seed::DEMO_PROJECT})).await?;
    let configs = configs["data"].as_array().context("no list of devices")?;
    let config = configs.iter().find(|config| config["name"] == "Windows PC").context("no Windows device")?;
    fact(&format!("{} configs; chosen: {}", configs.len(), text(&config["name"])?));

    print(HEADING, "\n2. Choose the test.");
    let tests = session.call("list_tests", json!({"project_id": seed::DEMO_PROJECT})).await?;
    let tests = tests["data"].as_array().context("no list of tests")?;
    let test = tests.iter().find(|test| test["id"] == seed::TEST_FAILS).context("the test is not listed")?;
    fact(&format!("{} tests; chosen: {} ({})", tests.len(), text(&test["name"])?, text(&test["type"])?));

    print(HEADING, "\n3. Start it, with retries if the device or the connection fails.");
    let start = json!({
        "project_id": seed::DEMO_PROJECT, "multiplayer_test_id": test["id"],
        "deployment_config_id": config["id"], "retries": 2
    });
    let started = session.call("start_run", start).await?;
    let job = text(&started["job_ids"][0])?.to_owned();
    fact(&format!("job {job}"));

    Ok(job)
}

/// Returns the id of the run that has failed.
async fn wait_for(session: &mut Session, job: &str) -> Result<String> {
    print(HEADING, "\n4. Wait for it. (An hour of the sandbox takes less than a second here.)");
    let result = session.call("wait_for_completion", json!({"job_id": job})).await?;
    let item = &result["items"][0];
    let is_verdict = item["result"] == "FAILED" && item["attempts"].is_null();
    ensure!(is_verdict, "a verdict must not be retried: {result}");
    fact("FAILED after one attempt, although retries are left: a verdict is never retried");

    Ok(text(&item["run_id"])?.to_owned())
}

/// Shows the failed step of the run and its bug.
async fn explain(session: &mut Session, run: &str) -> Result<()> {
    print(HEADING, "\n5. Find out what failed, and why.");
    let record = session.call("get_run", json!({"run_id": run})).await?;
    let steps = record["players"][0]["steps"].as_array().context("no steps")?;
    let failed = steps.iter().find(|step| step["run_result"] == "FAILED").context("no failed step")?;
    fact(&format!("step {} of {}: {}", failed["step_number"], steps.len(), text(&failed["test"]["goal"])?));

    let items = failed["items"].as_array().context("no expected results")?;
    for item in items.iter().filter(|item| item["status"] == "failed") {
        fact(&format!("expected: {}", text(&item["expected"])?));
    }
    fact(&format!("report: {}", text(&failed["report"])?));

    let bugs = session.call("list_run_bugs", json!({"run_id": run})).await?;
    let bug = &bugs["data"][0];
    fact(&format!("bug {} ({}): {}", text(&bug["bug_id"])?, text(&bug["severity"])?, text(&bug["title"])?));

    Ok(())
}

/// Exports the run to the test-management system, and once more with the wrong project, which the server must refuse.
async fn export(session: &mut Session, run: &str) -> Result<()> {
    print(HEADING, "\n6. Export the result to the test-management system.");
    let export = json!({"multiplayer_run_id": run, "custom_run_name": "Nightly"});
    let result = session.call("export_tmsys_run", export).await?;
    ensure!(result["success"] == true, "the export failed: {result}");
    fact(&format!("cases: {}, {}", result["total_test_cases"], text(&result["tmsys_run_url"])?));

    print(HEADING, "\n7. Make a mistake: the same run with the wrong project.");
    let mistake = json!({"multiplayer_run_id": run, "project_id": seed::ARENA_PROJECT});
    let Err(error) = session.call("export_tmsys_run", mistake).await else {
        bail!("the wrong project was not refused");
    };
    let error: Value = serde_json::from_str(&error.to_string())?;
    let (code, message) = (text(&error["error"]["code"])?, text(&error["error"]["message"])?);
    let names_both = message.contains(seed::DEMO_PROJECT) && message.contains(seed::ARENA_PROJECT);
    ensure!(code == "project_scope_mismatch" && names_both, "another refusal: {error}");
    fact(&format!("{code}: {message}"));

    Ok(())
}

/// A session with the real server: this binary as a child process, with JSON-RPC over its standard streams.
struct Session {
    server: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    last_id: u64,
}

impl Session {
    async fn start(sandbox: &Sandbox) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        // Settings and files of the user must not change the demo: there is no such home directory.
        for setting in SETTINGS.iter().filter(|setting| !setting.variable.is_empty()) {
            command.env_remove(setting.variable);
        }
        command.envs(HOME_VARIABLES.map(|name| (name, "/nonexistent")));
        let projects = format!("{},{}", seed::DEMO_PROJECT, seed::ARENA_PROJECT);
        command.env("TAS_BASE_URL", sandbox.base_url()).env("TAS_PROJECTS", projects);
        command.env("TAS_API_KEY", keys::ORGANIZATION).env("TAS_LOG", "error");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);

        let mut server = command.spawn()?;
        let input = server.stdin.take().context("no input")?;
        let output = BufReader::new(server.stdout.take().context("no output")?).lines();
        let mut session = Self { server, input, output, last_id: 0 };
        session.initialize().await?;

        Ok(session)
    }

    async fn initialize(&mut self) -> Result<()> {
        let client = json!({"name": "demo", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let revision = self.request("initialize", hello).await?["protocolVersion"].clone();
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        let tools = self.request("tools/list", json!({})).await?;
        let tools = tools["tools"].as_array().context("no tools")?.len();

        print(Style::new().bold(), "An assistant tests a game");
        let revision = text(&revision)?;
        let served =
            format!("tas-mcp serves {tools} tools over MCP {revision}, with a sandbox of the service.");
        print(PLAIN, &served);

        Ok(())
    }

    /// Prints the call of a tool, and calls it. Returns the structured content of the result; the text of a failure is the error.
    async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let shown =
            arguments.as_object().into_iter().flatten().map(|(name, value)| format!("{name}: {value}"));
        print(CALL, &format!("   > {tool}({})", shown.collect::<Vec<_>>().join(", ")));

        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        ensure!(result["isError"] != true, "{}", text(&result["content"][0]["text"])?);
        Ok(result["structuredContent"].clone())
    }

    async fn request(&mut self, method: &str, parameters: Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})).await?;

        // Notifications that arrive before the response are skipped.
        while let Some(line) = self.output.next_line().await? {
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                ensure!(message["error"].is_null(), "{method}: {}", message["error"]);
                return Ok(message["result"].clone());
            }
        }

        bail!("the server ended during {method}")
    }

    async fn send(&mut self, message: &Value) -> Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(self.input.flush().await?)
    }
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().with_context(|| format!("{value} is no text"))
}

fn fact(text: &str) {
    print(PLAIN, &format!("     {text}"));
}

fn print(style: Style, text: &str) {
    // If standard output is closed, the demo still checks all steps.
    let text = wrapped(text, terminal_width());
    drop(writeln!(anstream::stdout(), "{style}{text}{style:#}"));
}
