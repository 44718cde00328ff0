//! What commands do before a call: they build the caller that the settings describe, and ask the user at the terminal before
//! a costly or irreversible call. The service cannot undo a start or an export.

use std::io::{IsTerminal as _, Write as _};

use clap::Args;
use serde_json::Value;

use super::{
    command_names::with_action,
    exit_status::{CommandError, ExitStatus},
    output::Output,
};
use crate::{
    call::{Caller, arguments::ToolArguments, reply::Reply},
    failure::{Cause, Code, Failure},
    fields::Fields,
    service::{
        api::{exports::ExportTmsysRun, runs::StartRun},
        catalog::OperationEntry,
        operation::Operation as _,
        record_kind::ResultKind,
    },
    settings::Settings,
    text::single_line,
    tools::{
        call_options::CallOptions,
        catalog::Tool,
        context::{CallerWithFiles, ToolCall},
    },
};

/// Flag that confirms a costly or irreversible call.
pub(super) const YES: &str = "yes";

const MISSING_SETTING: &str = "run `tas-mcp login`, or set them as flags or variables; `tas-mcp help settings` lists them, and `--sandbox` works without settings";

const WRONG_SETTING: &str = "correct the value; `tas-mcp status` shows where it comes from, and `tas-mcp help settings` what it may be";

/// What a user must agree to before an export.
pub(super) const NEW_ENTRY: &str =
    "This creates a new entry in the test-management system, even if these results were exported before";

pub(super) fn build_caller(settings: &Settings) -> Result<Caller, Failure> {
    Ok(build_caller_with_files(settings)?.caller)
}

/// Returns the caller that the settings describe, for commands that read or write files or call any tool.
pub(super) fn build_caller_with_files(settings: &Settings) -> Result<CallerWithFiles, Failure> {
    settings.tools_config().map(CallerWithFiles::new).map_err(|failure| {
        let is_missing = failure.facts.cause == Some(Cause::MissingSetting);
        failure.hint(if is_missing { MISSING_SETTING } else { WRONG_SETTING })
    })
}

pub(super) fn can_ask() -> bool {
    // Both streams must be terminals: the question is printed on one and answered on the other.
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Prints a question and returns the answer; `None` if the user has closed the input.
pub(super) fn read_answer(question: &str) -> std::io::Result<Option<String>> {
    write!(anstream::stderr(), "{} ", single_line(question))?;
    let mut answer = String::new();
    let length = std::io::stdin().read_line(&mut answer)?;
    if !answer.ends_with('\n') {
        // What follows begins on a new line.
        writeln!(anstream::stderr())?;
    }

    Ok((length > 0).then(|| answer.trim().to_owned()))
}

/// Asks the user at the terminal to agree to what `statement` says. `unasked` decides where nobody can be asked.
pub(super) fn ask(statement: &str, unasked: Result<(), Failure>) -> Result<(), CommandError> {
    if !can_ask() {
        return Ok(unasked?);
    }

    match read_answer(&format!("{statement}. Continue? [y/N]"))?.as_deref() {
        Some("y" | "Y" | "yes") => Ok(()),
        _ => Err(declined().into()),
    }
}

/// Asks the user at the terminal to confirm the call that `failure` refused.
///
/// # Errors
/// `failure` if it is no question or nobody can be asked; otherwise that the user declined.
pub(super) fn confirm(failure: Failure) -> Result<(), CommandError> {
    if failure.code != Code::ConfirmationRequired {
        return Err(failure.into());
    }
    let statement = with_action(&failure.message, None).into_owned();
    ask(&statement, Err(failure))
}

// A doc comment here would become the description of the command.
#[derive(Args)]
pub(super) struct DryRunFlag {
    /// Check everything and show the request, and send nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// Prints the request of a call, which is not sent.
pub(super) async fn show_request(
    caller: &Caller,
    entry: &'static OperationEntry,
    mut arguments: ToolArguments,
    output: &Output,
) -> Result<ExitStatus, CommandError> {
    arguments.common.is_dry_run = true;
    let reply = caller.call(entry, arguments).await?;

    output.print(ExitStatus::Success, reply.value(), || format!("{:#}\n", reply.value()))
}

/// Returns the failure of a confirmation that the user at the terminal did not give.
pub(super) fn declined() -> Failure {
    Failure::new(Code::ConfirmationRequired, "not confirmed").hint("nothing was sent")
}

/// Calls a tool. If the tool requires a confirmation and the user at the terminal confirms, calls it again.
pub(super) async fn call_with_confirmation(
    tools: &CallerWithFiles,
    tool: Tool,
    arguments: ToolArguments,
) -> Result<Reply, CommandError> {
    let call = tools.tool_call(arguments, CallOptions::silent());
    let outcome = (tool.run)(call.clone()).await;
    let Err(failure) = outcome else { return Ok(outcome?) };
    confirm(failure)?;

    // The first call was refused before any request, so nothing is sent twice.
    Ok((tool.run)(ToolCall { arguments: call.arguments.confirmed(), ..call }).await?)
}

/// Returns whether calls of the tool `tool` may cost more than a user expects.
pub(super) fn may_ask(tool: &str) -> bool {
    [StartRun::NAME, ExportTmsysRun::NAME].contains(&tool)
}

/// Asks the user at the terminal before several starts, and before an entry that may be a second one. Without a terminal nobody
/// is asked: a CI job has named what it wants.
pub(super) fn ask_before_cost(tool: &str, arguments: &Fields) -> Result<(), CommandError> {
    let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    let runs = arguments.get("instances").and_then(number).unwrap_or_default();
    if tool == StartRun::NAME && runs > 1 {
        ask(&format!("This starts {runs} runs, and each costs as much as one run"), Ok(()))?;
    }

    if tool == ExportTmsysRun::NAME && creates_another_entry(arguments) {
        ask(NEW_ENTRY, Ok(()))?;
    }
    Ok(())
}

/// Returns whether an export creates an entry in any case: an execution has one, which the service returns if it exists.
fn creates_another_entry(arguments: &Fields) -> bool {
    let returns_existing = arguments
        .get("force_new_run")
        .is_some_and(|value| value.as_bool().or_else(|| value.as_str()?.parse().ok()) == Some(false));
    !(returns_existing && arguments.contains_key(ResultKind::Execution.argument()))
}
