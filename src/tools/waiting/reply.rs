//! The typed reply of `wait_for_completion`.

use serde_json::json;

use super::completion::Completion;
use crate::call::reply::{FieldSelection, Reply};

/// The result of a wait, with the fields that the caller selected.
#[derive(Debug)]
pub struct WaitReply {
    /// The complete result, whatever the caller selected.
    pub completion: Completion,
    pub(in crate::tools) selection: Option<FieldSelection>,
}

impl WaitReply {
    /// Returns the reply: the selected fields of the result, and always the field `status`.
    pub fn into_reply(self) -> Reply {
        let status = json!(self.completion.status);
        let mut reply = Reply::from_value(json!(self.completion));
        if let Some(selection) = self.selection {
            reply.select(selection);
        }

        let mut value = reply.into_value();
        if let Some(fields) = value.as_object_mut() {
            // Without the status, a caller could not decide whether to call again.
            fields.entry("status").or_insert(status);
        }

        Reply::from_value(value)
    }
}
