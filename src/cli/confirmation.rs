//! Asks the person at the terminal before a costly or irreversible call.

use std::io::{IsTerminal as _, Result, Write as _};

use super::command_error::CommandError;
use crate::{
    call::{common_arguments::ToolArguments, reply::Reply},
    failure::{Code, Failure},
    text::single_line,
    tools::{caller::CallerContext, catalog::ToolEntry, dispatcher::Dispatcher},
};

/// Returns whether `failure` asks for a confirmation and the person at the terminal confirms. Without a terminal
/// nobody can confirm.
pub(super) fn is_confirmed(failure: &Failure) -> Result<bool> {
    // Both streams must be terminals: the question is printed on one and answered on the other.
    let is_question = failure.code == Code::ConfirmationRequired;
    if !is_question || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(false);
    }

    write!(anstream::stderr(), "{}. Continue? [y/N] ", single_line(&failure.message))?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;

    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Calls a tool. If the tool requires a confirmation and the person at the terminal confirms, calls it again.
pub(super) async fn call_with_confirmation(
    dispatcher: &Dispatcher,
    tool: ToolEntry,
    arguments: ToolArguments,
) -> std::result::Result<Reply, CommandError> {
    let outcome = dispatcher.call_tool(tool, arguments.clone(), CallerContext::silent()).await;
    let Err(failure) = outcome else { return Ok(outcome?) };
    if !is_confirmed(&failure)? {
        return Err(failure.into());
    }

    // The first call was refused before any request, so nothing is sent twice.
    Ok(dispatcher.call_tool(tool, arguments.confirmed(), CallerContext::silent()).await?)
}
