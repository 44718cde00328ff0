//! One poll of the service for a task.

use std::sync::Arc;

use jiff::Timestamp;
use rmcp::{RoleServer, service::RequestContext};

use super::{progress_capture::ProgressCapture, state::TaskState, token::TaskToken};
use crate::{
    call::{common_arguments::ToolArguments, reply::Reply},
    failure::{Code, Failure},
    mcp::tool_caller::ToolCaller,
    tools::{
        catalog::ListedTool as _,
        composite::WaitForCompletion,
        waiting::{WaitReply, WaitStatus, should_give_up},
    },
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
    let arguments = ToolArguments::from_host(WaitForCompletion::tool().info, token.arguments().clone());
    let outcome = caller.poll_once(arguments, sink, context).await;

    // An interrupted poll gives no information about the task.
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
            let is_completed = reply.completion.status == WaitStatus::Completed;
            (is_completed || is_time_over).then(|| Ok(with_totals(reply, token, state, date)))
        }
        Err(failure) => {
            state.failures += 1;
            let failing_since = *state.failing_since.get_or_insert(clock.now());
            let gives_up = should_give_up(state.failures, clock.now().saturating_sub(failing_since));
            let can_continue = failure.is_transient() && !gives_up && !is_time_over;
            state.status_message = Some(format!("the last poll failed: {failure}"));
            (!can_continue).then_some(Err(failure))
        }
    }
}

/// Returns the reply of a poll with the time and the number of polls of the whole task.
fn with_totals(mut reply: WaitReply, token: &TaskToken, state: &TaskState, date: Timestamp) -> Reply {
    let tenths = (token.elapsed(date).as_secs_f64() * 10.0).round();
    reply.completion.elapsed_seconds = tenths / 10.0;
    reply.completion.polls = state.polls;
    reply.into_reply()
}
