//! Asks the user at the terminal before a costly or irreversible call.

use std::io::{IsTerminal as _, Result, Write as _};

use super::command_error::CommandError;
use crate::{
    call::{arguments::ToolArguments, reply::Reply},
    failure::{Code, Failure},
    text::single_line,
    tools::{
        call_options::CallOptions,
        catalog::Tool,
        context::{CallerWithFiles, ToolCall},
    },
};

/// Flag that confirms a costly or irreversible call.
pub(super) const YES: &str = "yes";

/// Answer to a question at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsentAnswer {
    Yes,
    No,
    /// There is no terminal, so that nobody was asked.
    NotAsked,
}

/// Asks the user at the terminal whether to continue.
pub(super) fn ask(statement: &str) -> Result<ConsentAnswer> {
    // Both streams must be terminals: the question is printed on one and answered on the other.
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(ConsentAnswer::NotAsked);
    }

    write!(anstream::stderr(), "{}. Continue? [y/N] ", single_line(statement))?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;

    Ok(if matches!(answer.trim(), "y" | "Y" | "yes") { ConsentAnswer::Yes } else { ConsentAnswer::No })
}

/// Returns whether the user at the terminal confirms the call that `failure` refused.
///
/// # Errors
/// `failure` if it is no question or nobody can be asked; otherwise that the user declined.
pub(super) fn confirm(failure: Failure) -> std::result::Result<(), CommandError> {
    if failure.code != Code::ConfirmationRequired {
        return Err(failure.into());
    }

    match ask(&failure.message)? {
        ConsentAnswer::Yes => Ok(()),
        ConsentAnswer::No => Err(declined().into()),
        ConsentAnswer::NotAsked => Err(failure.into()),
    }
}

/// Asks the user at the terminal before something on this machine is changed. `subject` begins the message of a failure.
///
/// # Errors
/// `confirmation_required`: the user declined, or nobody can be asked.
pub(super) fn confirm_change(statement: &str, subject: &str) -> std::result::Result<(), Failure> {
    let answer = ask(statement).unwrap_or(ConsentAnswer::NotAsked);
    let refusal = |reason: &str, hint: &'static str| {
        Err(Failure::new(Code::ConfirmationRequired, format!("{subject}: {reason}")).hint(hint))
    };

    match answer {
        ConsentAnswer::Yes => Ok(()),
        ConsentAnswer::No => refusal("not confirmed", "nothing was changed"),
        ConsentAnswer::NotAsked => {
            refusal("nobody can be asked without a terminal", "add `--yes` to make the change")
        }
    }
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
) -> std::result::Result<Reply, CommandError> {
    let call = tools.tool_call(arguments, CallOptions::silent());
    let outcome = (tool.run)(call.clone()).await;
    let Err(failure) = outcome else { return Ok(outcome?) };
    confirm(failure)?;

    // The first call was refused before any request, so nothing is sent twice.
    Ok((tool.run)(ToolCall { arguments: call.arguments.confirmed(), ..call }).await?)
}
