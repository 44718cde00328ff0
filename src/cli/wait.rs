//! `tas-mcp wait`: waits for what was started, and ends as its verdicts say.

use std::sync::Arc;

use anyhow::Context as _;
use clap::{ArgMatches, Command};
use serde_json::{Value, json};

use super::{
    Exit, call, complain,
    live::Live,
    verdicts::{self, Ending},
};
use crate::{
    fields::Fields,
    service::{
        result_kind::ResultKind,
        tool::{FIELDS, PROJECT_ID},
    },
    settings::Settings,
    tools::{
        caller::CallerContext,
        catalog,
        composite::{CompositeTool as _, WaitForCompletion},
        dispatcher::Dispatcher,
    },
};

/// Seconds that are waited where nobody says: the most.
pub(super) const TIMEOUT_S: u64 = 7_200;

/// Arguments of the tool.
const TIMEOUT: &str = "timeout_seconds";
const JOB: &str = ResultKind::Job.argument();
const JOBS: &str = "job_ids";

/// The command. Its flags are made only when it is used.
pub fn command() -> Command {
    let about = "Waits until jobs, a run or a plan execution are over, and prints the verdicts";
    Command::new("wait").about(about).after_help(Exit::HELP_OF_WAITING).defer(|command| {
        let Some(tool) = catalog::find_tool(WaitForCompletion::NAME) else { return command };
        let flags = call::subcommand(tool);
        let flags = flags.get_arguments().filter(|flag| flag.get_id() != FIELDS).cloned();
        command
            .args(flags)
            .arg(verdicts::flag())
            .mut_arg(TIMEOUT, |flag| flag.help("1-7200, default 7200"))
            .mut_arg(JOB, |flag| flag.help("From a start; may be repeated"))
            .mut_arg(ResultKind::Run.argument(), |flag| flag.help("Instead of a job"))
            .mut_arg(ResultKind::Execution.argument(), |flag| {
                flag.help("Instead of a job: from the start of a plan")
            })
    })
}

/// Runs the command.
pub async fn run(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<Exit> {
    let tool = catalog::find_tool(WaitForCompletion::NAME).context("there is no such tool")?;
    let mut arguments = match call::arguments(tool.tool(), matches)? {
        Ok(arguments) => arguments,
        Err(failure) => return Ok(complain(&failure)),
    };
    complete(&mut arguments);

    let report = match verdicts::report(matches) {
        Ok(report) => report,
        Err(failure) => return Ok(complain(&failure)),
    };
    let project = arguments.get(PROJECT_ID).and_then(Value::as_str).map(str::to_owned);
    let dispatcher = Dispatcher::new(settings.tools_config());
    let audience = CallerContext { watcher: Arc::new(Live::new()), ..CallerContext::silent() };
    let reply = match dispatcher.call_tool(tool, arguments, audience).await {
        Ok(reply) => reply,
        Err(failure) => return Ok(complain(&failure)),
    };
    let completion = serde_json::from_value(reply.value().clone())?;
    let ending = Ending { completion, started: None, not_started: Vec::new() };

    ending.told(dispatcher.gateway(), project.as_deref(), report, call::wants_json(matches)).await
}

/// What people mean: several jobs, and waiting to the end.
fn complete(arguments: &mut Fields) {
    if arguments.get(JOB).is_some_and(Value::is_array)
        && let Some(jobs) = arguments.shift_remove(JOB)
    {
        arguments.insert(JOBS.to_owned(), jobs);
    }
    arguments.entry(TIMEOUT).or_insert(json!(TIMEOUT_S));
}
