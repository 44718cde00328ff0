//! A dry run of a call: everything is checked that the call needs, and its request is shown instead of sent.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use super::{Caller, PreparedCall, arguments::ToolArguments, reply::Reply, request::OperationRequest};
use crate::{
    failure::Failure,
    service::{catalog::OperationEntry, tool::DRY_RUN},
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

impl Caller {
    /// Returns the request of a call that is not sent.
    ///
    /// # Errors
    /// Every failure of the call before its request.
    pub async fn preview(
        &self,
        entry: &'static OperationEntry,
        arguments: ToolArguments,
    ) -> Result<RequestPreview, Failure> {
        let checked = self.check_call(entry, arguments)?;
        let call = self.prepare(checked).await?;

        Ok(RequestPreview::new(&call.request, call.project.as_deref()))
    }

    pub(super) fn dry_run(call: &PreparedCall<'_>) -> Reply {
        let preview = RequestPreview::new(&call.request, call.project.as_deref());
        Reply::from_value(json!({DRY_RUN: true, "request": preview})).with_project(call.project.clone())
    }
}

impl RequestPreview {
    fn new(request: &OperationRequest, project: Option<&str>) -> Self {
        let http = request.to_http(project);
        let body = http.body.and_then(|body| serde_json::from_slice(body).ok());

        Self {
            method: http.method.to_string(),
            path: http.path_and_query.clone(),
            project_id: project.map(str::to_owned),
            body,
        }
    }
}
