//! The one handler of all operation routes: fault, authentication, fields, answer.

use std::sync::Arc;

use axum::http::{StatusCode, header, request::Parts};
use axum::{
    body::{Bytes, to_bytes},
    extract::{RawPathParams, Request, rejection::RawPathParamsRejection},
    response::{IntoResponse, Response},
};
use serde_json::Value;

use crate::fields::Fields;
use crate::sandbox::answers::answer::{AnswerBody, Answered, ApiError, Endpoint};
use crate::sandbox::http::faults::InjectedFault;
use crate::sandbox::http::reply::{BufferedReply, Exchange};
use crate::sandbox::http::state::{SandboxState, path_and_query};
use crate::sandbox::http::{authentication, request_fields};
use crate::service::operation::UrlBase;
use crate::service::request;
use crate::service::tool::{Access, PROJECT_ID};

const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// Handles a request for an operation, including the fault that is injected into it.
pub(super) async fn handle(
    state: Arc<SandboxState>,
    endpoint: Endpoint,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let number = state.log_request("", Some(endpoint.name), &head);
    let path = match &path {
        Ok(path) => path.iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect(),
        // A path that is not UTF-8 names nothing.
        Err(_) => Fields::new(),
    };
    let body = to_bytes(body, MAX_BODY_BYTES).await.ok();
    let request = ReceivedRequest { endpoint, path, head, body };

    let fault = state.fault_queue().take(endpoint.name);
    let mut response = match fault {
        None => state.observe(&request, state.execute(&request)).into_response(),
        Some(fault) => respond_with_fault(&state, &request, &fault).await,
    };

    // Clients compare the time of the service with their own. An injected `Date` has precedence.
    response.headers_mut().entry(header::DATE).or_insert(state.date());
    state.log_response(number, &response);

    response
}

async fn respond_with_fault(
    state: &SandboxState,
    request: &ReceivedRequest,
    fault: &InjectedFault,
) -> Response {
    // With `after`, the service carries out the operation and the answer is lost.
    let early_reply = fault.after.then(|| state.execute(request));
    fault.wait().await;
    if fault.replaces() {
        return fault.apply(early_reply);
    }

    let reply = early_reply.unwrap_or_else(|| state.execute(request));

    fault.apply(Some(state.observe(request, reply)))
}

struct ReceivedRequest {
    endpoint: Endpoint,
    /// Decoded values of the path, including the project.
    path: Fields,
    head: Parts,
    /// `None`: the body exceeds the limit.
    body: Option<Bytes>,
}

impl SandboxState {
    /// Executes a request and returns the reply, which may be an error of the service.
    fn execute(&self, request: &ReceivedRequest) -> BufferedReply {
        self.answer(request).unwrap_or_else(|error| {
            let has_code = request.endpoint.request.url_base == UrlBase::Base;
            let error = if has_code { error.with_code() } else { error };
            BufferedReply::json(error.status, &error.body)
        })
    }

    fn observe(&self, request: &ReceivedRequest, reply: BufferedReply) -> BufferedReply {
        if let Some(observer) = &self.observer {
            observer(&Exchange {
                method: request.head.method.clone(),
                path: path_and_query(&request.head),
                status: reply.status.as_u16(),
                content_type: reply.content_type(),
                body: reply.body.clone(),
            });
        }

        reply
    }

    fn answer(&self, request: &ReceivedRequest) -> Result<BufferedReply, ApiError> {
        let endpoint = request.endpoint;
        let project = self.project_of(request);
        let (headers, secret) = (&request.head.headers, &self.options.secret);
        let caller = authentication::authorize(headers, secret, project.as_deref(), endpoint.access)?;
        let fields = self.checked_fields(request)?;

        let mut world = self.world();
        // An operation without a key has no 403. Its answer reports an unknown project in another way.
        if endpoint.access != Access::NoKey {
            world.project(&caller)?;
        }

        let Answered { status, headers, body } = (endpoint.answer)(&mut world, fields, &caller)?;
        match body {
            AnswerBody::Json(mut body) => {
                rename_tmsys(&mut body, &self.options.tmsys_name);
                Ok(BufferedReply::json(status, &body))
            }
            AnswerBody::Raw(body) => Ok(BufferedReply { status, headers, body }),
        }
    }

    /// Reads and checks the fields of a request. Fields of the test-management system get the name of the contract.
    fn checked_fields(&self, request: &ReceivedRequest) -> Result<Fields, ApiError> {
        let endpoint = request.endpoint;
        let query = request.head.uri.query().unwrap_or_default();
        let body = request
            .body
            .as_ref()
            .ok_or_else(|| ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "request body too large"))?;
        let mut path = request.path.clone();
        // The project of the path is not a field: as a field it would replace the `project_id` of a body.
        path.shift_remove(PROJECT_ID);

        let mut fields = request_fields::read(&endpoint, path, query, body)?;
        request::rename_case_links(&endpoint, &mut fields, &self.options.tmsys_name, "tmsys");

        Ok(fields)
    }

    /// Returns the project of the path. On the knowledge host, where no path names a project, returns the project
    /// that owns the run of the path.
    fn project_of(&self, request: &ReceivedRequest) -> Option<String> {
        let text = |name| request.path.get(name).and_then(Value::as_str);
        if let Some(project) = text(PROJECT_ID) {
            return Some(project.to_owned());
        }

        let run = text("run_id").filter(|_| request.endpoint.request.url_base == UrlBase::Knowledge)?;
        let owner = self.world().project_with_run(run);
        if owner.is_some() {
            return owner;
        }

        // An unknown run is a 404 for an organization key too. Any project leads to this answer.
        let key = authentication::find_key(&request.head.headers, &self.options.secret)?;
        if key.project.is_some() { None } else { self.world().projects.keys().next().cloned() }
    }
}

/// Renames fields of the answer for a deployment that has its own name for the test-management system.
fn rename_tmsys(body: &mut Value, word: &str) {
    let Value::Object(fields) = body else { return };
    if word == "tmsys" {
        return;
    }

    let renamed = |name: String| match name.strip_prefix("tmsys") {
        Some(rest) if rest.is_empty() || rest.starts_with('_') => format!("{word}{rest}"),
        _ => name,
    };
    *fields = std::mem::take(fields).into_iter().map(|(name, value)| (renamed(name), value)).collect();
}
