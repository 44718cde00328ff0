//! What the sandbox answers to an operation: [`Answer`] is its side of one operation, and an [`Endpoint`] is an operation
//! with the sandbox's answer to it.

use std::ops::Deref;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::fields::Fields;
use crate::sandbox::model::records::find;
use crate::sandbox::model::world::Project;
use crate::sandbox::model::world::World;
use crate::service::catalog::{ListedOperation, OPERATIONS, OperationEntry, for_each_operation};
use crate::service::operation::Operation;

/// The sandbox's side of one operation.
#[diagnostic::on_unimplemented(
    message = "the sandbox does not answer `{O}` yet",
    label = "add `impl Answer<{O}> for World` under src/sandbox/answers/"
)]
pub trait Answer<O: Operation> {
    /// Carries out `operation` for `caller` and returns the answer.
    fn answer(&mut self, operation: O, caller: &Caller) -> AnswerResult<O::Answer>;
}

/// An answer, or an error of the service.
pub type AnswerResult<T> = Result<Answered<T>, ApiError>;

/// An answer with its status.
#[derive(Debug)]
pub struct Answered<T> {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderList,
    pub(crate) body: AnswerBody<T>,
}

/// Headers of an answer, each name once.
pub(crate) type HeaderList = Vec<(HeaderName, HeaderValue)>;

#[derive(Debug)]
pub(crate) enum AnswerBody<T> {
    Json(T),
    /// Bytes whose type is in the `Content-Type` header. They are empty if there is no such header.
    Raw(Bytes),
}

impl<T> Answered<T> {
    pub(crate) fn json(status: StatusCode, body: T) -> Self {
        Self { status, headers: HeaderList::new(), body: AnswerBody::Json(body) }
    }

    pub(crate) fn created(body: T) -> Self {
        Self::json(StatusCode::CREATED, body)
    }

    pub(crate) fn file((status, headers, bytes): (StatusCode, HeaderList, Bytes)) -> Self {
        Self { status, headers, body: AnswerBody::Raw(bytes) }
    }

    pub(super) fn redirect(status: StatusCode, address: &str) -> Result<Self, ApiError> {
        let location = HeaderValue::from_str(address).map_err(|error| ApiError::internal(&error))?;
        Ok(Self { status, headers: vec![(header::LOCATION, location)], body: AnswerBody::Raw(Bytes::new()) })
    }
}

impl<T> From<T> for Answered<T> {
    fn from(body: T) -> Self {
        Self::json(StatusCode::OK, body)
    }
}

/// An error response of the service.
#[derive(Debug)]
pub struct ApiError {
    /// HTTP status.
    pub status: StatusCode,
    /// JSON body.
    pub body: Value,
}

impl ApiError {
    /// Creates an error with the general error body.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, body: json!({"error": error.into()}) }
    }

    /// Adds `code` and `details`, which the errors of the Minion route have (service.md 1.5).
    pub(crate) fn with_code(mut self) -> Self {
        let code = self.status.canonical_reason().unwrap_or_default().to_uppercase().replace(' ', "_");
        if let Value::Object(body) = &mut self.body {
            body.entry("code").or_insert(code.into());
            body.entry("details").or_insert(json!({}));
        }

        self
    }

    pub(crate) fn invalid(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    pub(crate) fn unauthorized(error: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, error)
    }

    pub(crate) fn forbidden(error: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, error)
    }

    pub(super) fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    pub(super) fn conflict(error: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }

    /// Creates a 500 for an error that the sandbox itself causes.
    pub(super) fn internal(error: &impl ToString) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

pub(super) fn existing<'a, T>(
    records: &'a IndexMap<String, T>,
    id: &str,
    error: &str,
) -> Result<&'a T, ApiError> {
    find(records, id).ok_or_else(|| ApiError::not_found(error))
}

/// Checks that a writer has seen the latest version of a record (service.md 6.4, 8).
pub(super) fn check_version(expected: u64, latest: u32) -> Result<(), ApiError> {
    if expected == u64::from(latest) {
        return Ok(());
    }

    let error = "version conflict";
    let body = json!({"error": error, "expected_version": expected, "latest_version": latest});

    Err(ApiError { status: StatusCode::CONFLICT, body })
}

/// The caller of an operation, after authentication.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Project of the request: from the path, or the project of the key.
    pub project: String,
    /// Id of the key, as records show it.
    pub key_id: &'static str,
    /// Headers that select a part of a file.
    pub conditions: FileConditions,
}

/// Headers of a request that select how much of a file the answer contains.
#[derive(Clone, Debug, Default)]
pub struct FileConditions {
    /// `Range`
    pub range: Option<String>,
    /// `If-Range`
    pub if_range: Option<String>,
}

impl FileConditions {
    /// Reads the conditions from the headers of a request. A header that is not text counts as absent.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        let text = |name: HeaderName| {
            let value = headers.get(name)?;
            value.to_str().ok().map(str::to_owned)
        };

        Self { range: text(header::RANGE), if_range: text(header::IF_RANGE) }
    }
}

impl World {
    pub(crate) fn project(&self, caller: &Caller) -> Result<&Project, ApiError> {
        self.projects.get(&caller.project).ok_or_else(unknown_project)
    }

    pub(super) fn project_mut(&mut self, caller: &Caller) -> Result<&mut Project, ApiError> {
        self.projects.get_mut(&caller.project).ok_or_else(unknown_project)
    }
}

/// Creates the error for an unknown project. The error is a 403, because some operations have no 404.
fn unknown_project() -> ApiError {
    ApiError::forbidden("API key does not match the project")
}

/// Answers one operation whose type is erased: fields in, JSON or bytes out.
type ErasedAnswer = fn(&mut World, Fields, &Caller) -> AnswerResult<Value>;

/// An operation with the sandbox's answer to it.
#[derive(Clone, Copy)]
pub(crate) struct Endpoint {
    entry: &'static OperationEntry,
    pub(crate) answer: ErasedAnswer,
}

impl Endpoint {
    fn for_operation<O: ListedOperation>() -> Self
    where
        World: Answer<O>,
    {
        Self { entry: O::entry(), answer: answer_fields::<O> }
    }
}

impl Deref for Endpoint {
    type Target = OperationEntry;
    fn deref(&self) -> &OperationEntry {
        self.entry
    }
}

/// Deserializes checked fields into the operation, answers it, and serializes the answer.
fn answer_fields<O: Operation>(world: &mut World, fields: Fields, caller: &Caller) -> AnswerResult<Value>
where
    World: Answer<O>,
{
    let operation = serde_json::from_value::<O>(Value::Object(fields))
        .map_err(|error| ApiError::invalid(format!("invalid request: {error}")))?;

    let Answered { status, headers, body } = world.answer(operation, caller)?;
    let body = match body {
        AnswerBody::Json(body) => {
            AnswerBody::Json(serde_json::to_value(body).map_err(|error| ApiError::internal(&error))?)
        }
        AnswerBody::Raw(bytes) => AnswerBody::Raw(bytes),
    };

    Ok(Answered { status, headers, body })
}

macro_rules! list_endpoints {
    ($($resource:ident::$operation:ident,)*) => {
        /// Returns the endpoints of all operations. An operation without an `impl Answer` does not compile here.
        pub(crate) fn endpoints() -> [Endpoint; OPERATIONS.len()] {
            [$(Endpoint::for_operation::<crate::service::api::$resource::$operation>()),*]
        }
    };
}
for_each_operation!(list_endpoints);
