//! A dry run of a call: everything is checked that the call needs, and its request is shown instead of sent.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::{Caller, arguments::ToolArguments};
use crate::{
    failure::Failure,
    service::{catalog::OperationEntry, request::Request},
};

/// A request that was not sent.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RequestPreview {
    /// HTTP method.
    pub method: String,
    /// Below the address of the service.
    pub path: String,
    /// Absent if the key decides.
    pub project_id: Option<String>,
    /// JSON body.
    pub body: Option<Value>,
}

impl RequestPreview {
    pub(super) fn new(request: &Request) -> Self {
        Self {
            method: request.operation.request.method.to_string(),
            path: request.target.clone(),
            project_id: request.project.clone(),
            body: request.body.as_deref().and_then(|body| serde_json::from_slice(body).ok()),
        }
    }
}

impl Caller {
    /// Returns the request of a call that is not sent.
    ///
    /// # Errors
    /// Every failure of the call before its request.
    pub async fn preview(
        &self,
        operation: &'static OperationEntry,
        arguments: ToolArguments,
    ) -> Result<RequestPreview, Failure> {
        let checked = self.check(operation, arguments)?;
        let sender = self.sender().await?;
        Ok(RequestPreview::new(&self.request(&sender, operation, checked).await?))
    }
}
