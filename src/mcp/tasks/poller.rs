//! One poll of the service for a task.

use std::sync::Arc;

use jiff::Timestamp;
use rmcp::{RoleServer, service::RequestContext};
use serde_json::{Value, json};

use super::{progress_capture::ProgressCapture, state::TaskState, token::TaskToken};
use crate::{
    call::reply::Reply,
    failure::{Code, Failure},
    fields::Fields,
    mcp::{listed_tool::ListedTool as _, tool_caller::ToolCaller},
    service::tool::FIELDS,
    tools::{composite::WaitForCompletion, waiting::is_lasting},
};

/// Polls the service for the task of `token` and updates `state`. Returns the outcome of the task if the task has
/// ended.
pub(super) async fn poll(
    caller: &ToolCaller,
    token: &TaskToken,
    state: &mut TaskState,
    context: &RequestContext<RoleServer>,
) -> Option<Result<Reply, Failure>> {
    let progress = Arc::new(ProgressCapture::default());
    let sink = Arc::<ProgressCapture>::clone(&progress);
    let arguments = with_status(token.arguments().clone());
    let outcome = caller.poll_once(WaitForCompletion::tool_entry(), arguments, sink, context).await;

    // A poll that was interrupted says nothing about the task.
    if outcome.as_ref().is_err_and(|failure| failure.code == Code::Cancelled) {
        return None;
    }

    let clock = caller.gateway().clock();
    let date = clock.timestamp();
    let captured = progress.captured();

    state.polled_at = Some(clock.now());
    state.updated_at = Some(date);
    state.polls += 1;
    // The last poll is due at the end of the wait, even if the service asks for a longer pause.
    state.paused_until = Some(clock.now() + captured.pause.min(token.remaining(date)));

    let is_time_over = token.remaining(date).is_zero();
    match outcome {
        Ok(reply) => {
            (state.failures, state.failing_since) = (0, None);
            state.status_message = captured.message;
            let is_completed = reply.value().get("status").is_none_or(|status| status == "completed");
            (is_completed || is_time_over).then(|| Ok(with_totals(&reply, token, state, date)))
        }
        Err(failure) => {
            state.failures += 1;
            let failing_since = *state.failing_since.get_or_insert(clock.now());
            let is_lasting = is_lasting(state.failures, clock.now().saturating_sub(failing_since));
            let can_continue = failure.is_transient() && !is_lasting && !is_time_over;
            state.status_message = Some(format!("the last poll failed: {failure}"));
            (!can_continue).then_some(Err(failure))
        }
    }
}

/// Returns the reply of a poll with the time and the number of polls of the whole task.
fn with_totals(reply: &Reply, token: &TaskToken, state: &TaskState, date: Timestamp) -> Reply {
    let mut value = reply.value().clone();
    let seconds = (token.elapsed(date).as_secs_f64() * 10.0).round() / 10.0;

    for (name, total) in [("elapsed_seconds", json!(seconds)), ("polls", json!(state.polls))] {
        if let Some(field) = value.get_mut(name) {
            *field = total;
        }
    }

    Reply::from_value(value)
}

/// Adds `status` to the selected fields.
fn with_status(mut arguments: Fields) -> Fields {
    match arguments.get_mut(FIELDS) {
        Some(Value::String(names)) if names.trim_start().starts_with('[') => {
            if let Ok(Value::Array(mut list)) = serde_json::from_str(names) {
                list.push(json!("status"));
                *names = Value::Array(list).to_string();
            }
        }
        Some(Value::String(names)) => names.push_str(",status"),
        Some(Value::Array(names)) => names.push(json!("status")),
        _ => {}
    }
    arguments
}
