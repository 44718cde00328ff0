//! `tas-mcp wait`: waits for jobs, a run or an execution. The exit status reports the verdicts.

use std::sync::Arc;

use clap::{ArgMatches, Command};
use serde_json::{Value, json};

use super::{
    command_error::CommandError,
    dispatcher::build_dispatcher,
    exit_status::ExitStatus,
    tool_arguments::{self, read_arguments, wants_json},
    wait_progress::WaitProgress,
    wait_result::{self, WaitResult},
};
use crate::{
    fields::Fields,
    service::{result_kind::ResultKind, tool::FIELDS},
    settings::Settings,
    tools::{
        caller::CallerContext,
        catalog::{ToolEntry, WAIT_FOR_COMPLETION},
    },
};

/// Maximum and default of the time to wait, in seconds.
pub(super) const MAX_TIMEOUT_S: u64 = 7_200;

/// Arguments of the tool.
const TIMEOUT: &str = "timeout_seconds";
const JOB: &str = ResultKind::Job.argument();
const JOBS: &str = "job_ids";

/// Returns the definition of the command. Its flags are built only when the command is used.
pub(super) fn command() -> Command {
    let about = "Waits until jobs, a run or a plan execution have finished, and prints the verdicts";
    Command::new("wait").about(about).after_help(ExitStatus::WAIT_HELP).defer(|command| {
        let tool_command = tool_arguments::command(tool());
        let flags = tool_command.get_arguments().filter(|flag| flag.get_id() != FIELDS).cloned();

        command
            .args(flags)
            .arg(wait_result::junit_flag())
            .mut_arg(TIMEOUT, |flag| flag.help("1-7200, default 7200"))
            .mut_arg(JOB, |flag| flag.help("Job id from a start; may be repeated"))
            .mut_arg(ResultKind::Run.argument(), |flag| flag.help("Run id, instead of a job"))
            .mut_arg(ResultKind::Execution.argument(), |flag| {
                flag.help("Execution id from the start of a plan, instead of a job")
            })
    })
}

/// Waits and prints the verdicts.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let mut arguments = read_arguments(tool().tool(), matches)?;
    adapt_to_command_line(&mut arguments.own);
    let junit = wait_result::junit_file(matches)?;
    let project = arguments.common.project_id.clone();

    let dispatcher = build_dispatcher(settings);
    let caller = CallerContext { progress: Arc::new(WaitProgress::new()), ..CallerContext::silent() };
    let reply = dispatcher.wait_for_completion(arguments, caller).await?;
    let result = WaitResult { completion: reply.completion, started: None, not_started: Vec::new() };

    Ok(result.output(dispatcher.gateway(), project.as_deref(), junit, wants_json(matches)).await)
}

fn tool() -> ToolEntry {
    ToolEntry::Composite(&WAIT_FOR_COMPLETION)
}

/// Adapts the arguments of the tool to the command line: `--job-id` may be repeated, and the default of the time limit
/// is its maximum.
fn adapt_to_command_line(arguments: &mut Fields) {
    if arguments.get(JOB).is_some_and(Value::is_array)
        && let Some(jobs) = arguments.shift_remove(JOB)
    {
        arguments.insert(JOBS.to_owned(), jobs);
    }
    arguments.entry(TIMEOUT).or_insert(json!(MAX_TIMEOUT_S));
}
