//! Executes one request: authentication, fields, answer.

use axum::body::Bytes;
use http::request::Parts;
use serde_json::Value;

use crate::{
    fields::Fields,
    sandbox::{
        answers::{
            answered::{AnswerBody, Answered},
            api_error::ApiError,
            endpoints::Endpoint,
        },
        http::{
            authentication,
            exchange::Exchange,
            reply::BufferedReply,
            request_fields,
            state::{SandboxState, path_and_query},
        },
    },
    service::{
        operation::UrlBase,
        request,
        tool::{Access, PROJECT_ID},
    },
};

/// A request for an operation.
pub(super) struct ReceivedRequest {
    pub(super) endpoint: Endpoint,
    /// Decoded values of the path, including the project.
    pub(super) path: Fields,
    pub(super) head: Parts,
    /// `None`: the body exceeds the limit.
    pub(super) body: Option<Bytes>,
}

impl SandboxState {
    /// Executes a request and returns the reply, which may be an error of the service.
    pub(super) fn execute(&self, request: &ReceivedRequest) -> BufferedReply {
        self.answer(request).unwrap_or_else(|error| BufferedReply::json(error.status, &error.body))
    }

    /// Passes a reply to the observer and returns the reply.
    pub(super) fn observe(&self, request: &ReceivedRequest, reply: BufferedReply) -> BufferedReply {
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
        let caller = authentication::authorize(&request.head.headers, project.as_deref(), endpoint.access)?;
        let fields = self.checked_fields(request)?;

        let mut world = self.world();
        world.update_now();

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
        let body = request.body.as_ref().ok_or_else(request_fields::too_large)?;
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
        let key = authentication::find_key(&request.head.headers)?;
        let any_project = || self.world().projects().keys().next().cloned();
        key.is_of_organization().then(any_project).flatten()
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_of_the_test_management_system_are_renamed() {
        for (word, expected) in [
            ("tmsys", json!({"tmsys": 1, "tmsys_run_id": 2, "tmsystem": 3})),
            ("railway", json!({"railway": 1, "railway_run_id": 2, "tmsystem": 3})),
        ] {
            let mut body = json!({"tmsys": 1, "tmsys_run_id": 2, "tmsystem": 3});
            rename_tmsys(&mut body, word);
            assert_eq!(body, expected, "{word}");
        }
    }
}
