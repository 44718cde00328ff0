//! One span for each call of a tool, and one line of the log at its end.

use std::time::Instant;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use tracing::{Span, field::Empty};

use super::call_tool::CallResponse;
use crate::{
    call::{RecordId, record_ids, reply::Reply},
    failure::{Code, Failure},
    fields::Fields,
    service::tool::{DRY_RUN, ToolDefinition},
};

/// Target of the spans of calls, and of the lines of calls that write.
pub const AUDIT_TARGET: &str = "audit";

/// Largest number of ids of one call that are logged.
const MAX_IDS: usize = 32;

/// The span of one call: the tool, the project, and the records that a writing call names or has made.
pub(super) struct CallSpan {
    pub(super) span: Span,
    started: Instant,
    writes: bool,
    ids: Vec<RecordId>,
}

impl CallSpan {
    pub(super) fn new(tool: &ToolDefinition, arguments: Option<&Fields>) -> Self {
        let is_dry_run = arguments.and_then(|fields| fields.get(DRY_RUN)) == Some(&Value::Bool(true));
        let writes = !tool.effect.is_read_only() && !is_dry_run;
        let ids = arguments.filter(|_| writes).map(|fields| record_ids(fields, MAX_IDS)).unwrap_or_default();
        let span =
            tracing::info_span!(target: AUDIT_TARGET, "call", tool = tool.name, project = Empty, ids = Empty);

        Self { span, started: Instant::now(), writes, ids }
    }

    /// Completes the span, and logs how the call has ended.
    pub(super) fn end(mut self, response: &CallResponse) {
        let outcome = match response {
            CallResponse::Ended(Ok(reply)) => {
                self.add_reply(reply);
                "done".to_owned()
            }
            CallResponse::Ended(Err(failure)) => json!(failure.code).as_str().unwrap_or_default().to_owned(),
            CallResponse::InputRequired(_) => "asked".to_owned(),
            CallResponse::Task(_) => "task".to_owned(),
        };
        let ids: Vec<_> = self.ids.iter().map(|RecordId { field, id }| format!("{field}={id}")).collect();
        if !ids.is_empty() {
            self.span.record("ids", ids.join(" "));
        }

        let _entered = self.span.enter();
        let duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if self.writes {
            tracing::info!(target: AUDIT_TARGET, outcome, duration_ms);
        } else if let CallResponse::Ended(Err(failure)) = response {
            let Failure { status, .. } = failure;
            tracing::info!(outcome, status, duration_ms, "{failure}");
        } else {
            tracing::info!(outcome, duration_ms);
        }
    }

    fn add_reply(&mut self, reply: &Reply) {
        if let Some(project) = reply.project() {
            self.span.record("project", project);
        }
        if let Some(answer) = reply.value().as_object().filter(|_| self.writes) {
            let answered = record_ids(answer, MAX_IDS - self.ids.len());
            let new: Vec<_> = answered.into_iter().filter(|id| !self.ids.contains(id)).collect();
            self.ids.extend(new);
        }
    }
}

/// Returns the code of the failure that a result tells the model.
pub fn failure_code(result: &CallToolResult) -> Option<Code> {
    let text = &result.content.first()?.as_text()?.text;
    let failure: Value = serde_json::from_str(text).ok()?;
    serde_json::from_value(failure.get("error")?.get("code")?.clone()).ok()
}
