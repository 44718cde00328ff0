//! What commands do before a call: they build the caller that the settings describe, and ask the user at the terminal before
//! a costly or irreversible call. The service cannot undo a start or an export.

use std::io::IsTerminal as _;

use serde_json::Value;

use super::{command_names::with_action, exit_status::CommandError, output::print_error};
use crate::{
    call::{Caller, Reply, ToolArguments},
    failure::{Cause, Code, Failure},
    fields::Fields,
    mcp::with_names,
    service::{
        api::exports::ExportTmsysRun, operation::Operation as _, record_kind::ResultKind,
        tool::ToolDefinition,
    },
    settings::Settings,
    text::single_line,
    tools::{
        catalog::Tool,
        context::{CallOptions, CallerWithFiles, ToolCall},
    },
};

/// Flag that confirms a costly or irreversible call.
pub(super) const YES: &str = "yes";

const MISSING_SETTING: &str = "run `tas-mcp login`, or set them as flags or variables; `tas-mcp help settings` lists them, and `--sandbox` works without settings";

const WRONG_SETTING: &str = "correct the value; `tas-mcp status` shows where it comes from, and `tas-mcp help settings` what it may be";

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
    print_error(&format!("{} ", single_line(question)));
    let mut answer = String::new();
    let length = std::io::stdin().read_line(&mut answer)?;
    if !answer.ends_with('\n') {
        // What follows begins on a new line.
        print_error("\n");
    }

    Ok((length > 0).then(|| answer.trim().to_owned()))
}

/// Asks the user at the terminal to agree to what `statement` says. Fails with `refused` where nobody can be asked.
pub(super) fn ask(statement: &str, refused: Failure) -> Result<(), CommandError> {
    if !can_ask() {
        return Err(refused.into());
    }

    match read_answer(&format!("{statement}. Continue? [y/N]"))?.as_deref() {
        Some("y" | "Y" | "yes") => Ok(()),
        _ => Err(declined().into()),
    }
}

/// Asks the user at the terminal to agree to the call that `refused` states, with names in place of ids.
///
/// # Errors
/// `refused` if it is no question, or nobody can be asked: its hint names the flag that agrees. Otherwise that the user declined.
pub(super) async fn confirm(
    caller: &Caller,
    call: &ToolArguments,
    refused: Failure,
) -> Result<(), CommandError> {
    if refused.code != Code::ConfirmationRequired {
        return Err(refused.into());
    }

    let refused = with_names(caller, call, refused).await;
    if refused.code != Code::ConfirmationRequired {
        return Err(refused.into());
    }
    let statement = with_action(&refused.message, None).replacen("this", "This", 1);
    ask(&statement, refused)
}

/// Returns the failure of a confirmation that the user at the terminal did not give.
pub(super) fn declined() -> Failure {
    Failure::new(Code::ConfirmationRequired, "not confirmed").hint("nothing was sent")
}

/// Calls a tool. If the call needs the agreement of a user, asks first.
pub(super) async fn call_with_confirmation(
    tools: &CallerWithFiles,
    tool: Tool,
    arguments: ToolArguments,
) -> Result<Reply, CommandError> {
    if tool.name == ExportTmsysRun::NAME {
        ask_before_entry(&tools.caller, &arguments).await?;
    }
    let call = tools.tool_call(arguments, CallOptions::silent());
    let outcome = (tool.run)(call.clone()).await;
    let Err(failure) = outcome else { return Ok(outcome?) };
    confirm(&tools.caller, &call.arguments, failure).await?;

    // The first call was refused before its request, so nothing is sent twice.
    Ok((tool.run)(ToolCall { arguments: call.arguments.confirmed(), ..call }).await?)
}

/// Returns whether a call of the tool may need the agreement of a user.
pub(super) fn may_ask(tool: &ToolDefinition) -> bool {
    tool.confirmation_question.is_some() || tool.name == ExportTmsysRun::NAME
}

/// Asks before an export that creates another entry. A host does not ask: what a model exports twice can be seen and deleted.
async fn ask_before_entry(caller: &Caller, call: &ToolArguments) -> Result<(), CommandError> {
    if call.common.is_dry_run || !creates_another_entry(&call.own) {
        return Ok(());
    }

    let ids = ["multiplayer_run_id", "multiplayer_run_ids", ResultKind::Execution.argument()];
    let ids = ids.into_iter().filter_map(|argument| call.own.get(argument)).flat_map(|value| match value {
        Value::Array(ids) => ids.iter().collect(),
        id => vec![id],
    });
    let exported: Vec<_> = ids.filter_map(Value::as_str).map(|id| format!("`{id}`")).collect();
    let effect = || {
        let exported = exported.join(", ");
        format!(
            "{} creates a new entry for {exported} in the test-management system, even if it was exported before",
            ExportTmsysRun::NAME
        )
    };
    match caller.require_agreement(call.common.is_confirmed, effect) {
        Err(refused) => confirm(caller, call, refused).await,
        Ok(()) => Ok(()),
    }
}

/// Returns whether an export creates an entry in any case: an execution has one, which the service returns if it exists.
fn creates_another_entry(arguments: &Fields) -> bool {
    let returns_existing = arguments
        .get("force_new_run")
        .is_some_and(|value| value.as_bool().or_else(|| value.as_str()?.parse().ok()) == Some(false));
    !(returns_existing && arguments.contains_key(ResultKind::Execution.argument()))
}
