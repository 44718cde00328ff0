//! The service in memory: the same operations, answered by the rules of the specification.
//!
//! [`Answer`] is the sandbox's side of one operation; the catalog demands one for each. A request passes `routes`
//! (the catalog as routes), `access` (keys and permissions), `reading` (path, query and body as fields), and then
//! the module of its resource, which answers from the [`World`]. `faults` and `control` are for tests and for
//! people who try out a client.

use std::{ops::Deref, sync::Arc};

use axum::body::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};

use crate::{
    fields::Fields,
    service::{
        catalog::{ListedOperation, OPERATIONS, OperationEntry, for_each_operation},
        operation::Operation,
    },
};

mod access;
mod acting;
mod artifacts;
mod attempt;
mod bugs;
mod build_storage;
mod builds;
mod clock;
mod configs;
mod content;
mod control;
mod deleting;
mod depot;
mod draft;
mod executions;
mod exporting;
mod faults;
mod files;
mod folders;
mod guide;
mod ids;
mod jobs;
mod journal;
mod knowledge;
mod launch;
mod lists;
mod live;
mod merge;
mod minions;
mod plans;
mod png;
mod presigned;
mod project;
mod reading;
mod remote;
mod routes;
mod runs;
mod script;
pub mod seed;
mod server;
mod service;
mod shared_steps;
mod starting;
mod steps;
mod stopping;
mod storage;
mod targets;
mod templates;
mod test_writing;
mod tests;
mod timeline;
mod uploads;
mod world;

pub use access::keys;
pub use server::{Sandbox, start};
pub use world::World;

/// Usual size of a part (supplement 10.4).
const PART_SIZE: u64 = 104_857_600;

/// How a sandbox behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Simulated seconds for each real one; 0: the clock stands still until it is advanced.
    pub speed: f64,
    /// Word that the deployment uses for the test-management system (`TAS_TMSYS_NAME`).
    pub tmsys_name: String,
    /// Bytes of each part of a build upload but the last.
    pub part_size: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { speed: 60.0, tmsys_name: "tmsys".to_owned(), part_size: PART_SIZE }
    }
}

/// Sees every answer of an operation, except those that an ordered fault replaced.
pub type Observer = Arc<dyn Fn(&Exchange) + Send + Sync>;

/// A request and its answer, as an [`Observer`] sees them.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Method of the request.
    pub method: Method,
    /// Path and query of the request.
    pub path: String,
    /// Status of the answer.
    pub status: u16,
    /// `Content-Type` of the answer.
    pub content_type: Option<String>,
    /// Body of the answer.
    pub body: Bytes,
}

/// The sandbox's side of one operation.
#[diagnostic::on_unimplemented(
    message = "the sandbox does not answer `{O}` yet",
    label = "add `impl Answer<{O}> for World` under src/sandbox/"
)]
pub trait Answer<O: Operation> {
    /// What happens to a request that breaks a rule of the operation.
    const INVALID: Invalid = Invalid::Refused;

    /// Does what the operation asks, on behalf of `caller`.
    fn answer(&mut self, operation: O, caller: &Caller) -> Result<Answered<O::Answer>, Fault>;
}

/// What the sandbox does with a request that breaks a rule. The contract has no 400 for some operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// 400 with the rule.
    Refused,
    /// The offending parameter, or body that cannot be read, is passed over.
    Ignored,
    /// 404: what is asked for cannot exist.
    NotFound(&'static str),
}

impl Invalid {
    /// The answer to a request that breaks `rule`.
    fn refuse(self, rule: String) -> Fault {
        match self {
            Self::Refused | Self::Ignored => Fault::new(StatusCode::BAD_REQUEST, rule),
            Self::NotFound(error) => Fault::not_found(error),
        }
    }
}

/// Who asks, after authentication.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Project of the request: from the path, or that of the key.
    pub project: String,
    /// Id of the key, as records show it.
    pub key_id: &'static str,
    /// Which part of a file is wanted, and whether it is wanted at all.
    pub conditions: Conditions,
}

/// Headers of a request that say how much of a file to answer with.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// `Range`
    pub range: Option<String>,
    /// `If-Range`
    pub if_range: Option<String>,
    /// `If-None-Match`
    pub if_none_match: Option<String>,
}

impl Conditions {
    fn of(headers: &HeaderMap) -> Self {
        let text =
            |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok().map(str::to_owned));
        Self {
            range: text(header::RANGE),
            if_range: text(header::IF_RANGE),
            if_none_match: text(header::IF_NONE_MATCH),
        }
    }
}

/// An answer with its status.
#[derive(Debug)]
pub struct Answered<T> {
    /// HTTP status.
    status: StatusCode,
    headers: Headers,
    body: Content<T>,
}

/// Headers of an answer, each once.
type Headers = Vec<(HeaderName, HeaderValue)>;

/// What an answer holds.
#[derive(Debug)]
enum Content<T> {
    Json(T),
    /// Bytes of the type that a header names; none without one.
    Raw(Bytes),
}

impl<T> Answered<T> {
    /// JSON with this status.
    fn json(status: StatusCode, body: T) -> Self {
        Self { status, headers: Headers::new(), body: Content::Json(body) }
    }

    /// 201.
    fn created(body: T) -> Self {
        Self::json(StatusCode::CREATED, body)
    }

    /// A file, as much of it as is wanted.
    fn file(reply: (StatusCode, Headers, Bytes)) -> Self {
        let (status, headers, bytes) = reply;
        Self { status, headers, body: Content::Raw(bytes) }
    }

    /// An address to go on to, with nothing else.
    fn redirect(status: StatusCode, location: HeaderValue) -> Self {
        Self { status, headers: vec![(header::LOCATION, location)], body: Content::Raw(Bytes::new()) }
    }
}

impl<T> From<T> for Answered<T> {
    fn from(body: T) -> Self {
        Self::json(StatusCode::OK, body)
    }
}

/// A refusal of the service.
#[derive(Debug)]
pub struct Fault {
    /// HTTP status.
    pub status: StatusCode,
    /// JSON body.
    pub body: Value,
}

impl Fault {
    /// A refusal with the general error body.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, body: json!({"error": error.into()}) }
    }

    /// 400.
    fn invalid(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// 403.
    fn forbidden(error: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, error)
    }

    /// 409.
    fn conflict(error: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }

    /// 409 when a writer has not seen the `latest` version (specification, Shared steps; supplement 6.4).
    fn unless_latest(expected: u64, latest: u32) -> Result<(), Self> {
        if expected == u64::from(latest) {
            return Ok(());
        }
        let error = "version conflict";
        let body = json!({"error": error, "expected_version": expected, "latest_version": latest});
        Err(Self { status: StatusCode::CONFLICT, body })
    }

    /// 404.
    fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }
}

/// An operation of the sandbox without its type.
pub(crate) type Handler = fn(&mut World, Fields, &Caller) -> Result<Answered<Value>, Fault>;

/// Answers one request whose fields have been checked.
pub(crate) fn handle<O: Operation>(
    world: &mut World,
    fields: Fields,
    caller: &Caller,
) -> Result<Answered<Value>, Fault>
where
    World: Answer<O>,
{
    let operation = serde_json::from_value::<O>(Value::Object(fields))
        .map_err(|error| World::INVALID.refuse(format!("invalid request: {error}")))?;
    let Answered { status, headers, body } = world.answer(operation, caller)?;
    let body = match body {
        Content::Json(body) => Content::Json(
            serde_json::to_value(body)
                .map_err(|error| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?,
        ),
        Content::Raw(bytes) => Content::Raw(bytes),
    };

    Ok(Answered { status, headers, body })
}

/// An operation with the sandbox's answer to it.
#[derive(Clone, Copy)]
pub(crate) struct Endpoint {
    entry: &'static OperationEntry,
    /// Answers a checked request.
    pub(crate) answer: Handler,
    /// The treatment of a request that breaks a rule.
    pub(crate) invalid: Invalid,
}

impl Endpoint {
    fn of<O: ListedOperation>() -> Self
    where
        World: Answer<O>,
    {
        Self { entry: O::entry(), answer: handle::<O>, invalid: World::INVALID }
    }
}

impl Deref for Endpoint {
    type Target = OperationEntry;
    fn deref(&self) -> &OperationEntry {
        self.entry
    }
}

macro_rules! list_endpoints {
    ($($resource:ident::$operation:ident,)*) => {
        /// The endpoints of all operations.
        pub(crate) fn endpoints() -> [Endpoint; OPERATIONS.len()] {
            [$(Endpoint::of::<crate::service::api::$resource::$operation>()),*]
        }
    };
}
for_each_operation!(list_endpoints);
