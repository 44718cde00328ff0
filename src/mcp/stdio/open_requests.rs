//! The requests of the host that are not answered yet.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use rmcp::{
    RoleServer,
    model::{ClientNotification, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
};

/// Ids of the requests that are not answered yet.
#[derive(Debug, Default)]
pub(super) struct OpenRequests(Mutex<BTreeSet<String>>);

impl OpenRequests {
    /// Adds the id of a request. Returns `false` if an earlier request with this id is not answered yet.
    pub(super) fn open(&self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        match message {
            JsonRpcMessage::Request(request) => self.ids().insert(key(&request.id)),
            JsonRpcMessage::Notification(notification) => {
                // A cancelled request may get no answer.
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    self.close(cancelled.params.request_id.as_ref());
                }
                true
            }
            _ => true,
        }
    }

    /// Removes the id of the request that `message` answers.
    pub(super) fn close_answered(&self, message: &TxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Response(response) => self.close(Some(&response.id)),
            JsonRpcMessage::Error(error) => self.close(error.id.as_ref()),
            _ => {}
        }
    }

    fn close(&self, id: Option<&RequestId>) {
        if let Some(id) = id {
            self.ids().remove(&key(id));
        }
    }

    fn ids(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the JSON of an id, so that the number 1 and the text `1` differ.
fn key(id: &RequestId) -> String {
    match id {
        RequestId::Number(number) => number.to_string(),
        RequestId::String(text) => format!("\"{text}\""),
    }
}
