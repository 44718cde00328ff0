//! The service in memory: the same operations, answered by the rules of the specification.
//!
//! [`Answer`] is the sandbox's side of one operation; the catalog demands one for each.

use http::StatusCode;
use serde_json::{Value, json};

use crate::operation::{Fields, Operation};

mod answers;
mod world;

pub use world::World;

/// The sandbox's side of one operation.
#[diagnostic::on_unimplemented(
    message = "the sandbox does not answer `{O}` yet",
    label = "add `impl Answer<{O}> for World` under src/sandbox/"
)]
pub trait Answer<O: Operation> {
    /// What happens to a request that breaks a rule of the operation.
    const INVALID: Invalid = Invalid::Refused;

    /// Does what the operation asks, on behalf of `caller`.
    fn answer(&mut self, operation: O, caller: &Caller) -> Result<Answered<O::Output>, Fault>;
}

/// What the sandbox does with a request that breaks a rule. The contract has no 400 for some operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// 400 with the rule.
    Refused,
    /// The offending query parameter is passed over.
    Ignored,
    /// 404: what is asked for cannot exist.
    NotFound(&'static str),
}

/// Who asks, after authentication.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Project of the request: from the path, or that of the key.
    pub project: String,
    /// Id of the key, as records show it.
    pub key_id: &'static str,
}

/// An answer with its status.
#[derive(Debug)]
pub struct Answered<T> {
    /// HTTP status.
    pub status: StatusCode,
    /// JSON body.
    pub body: T,
}

impl<T> From<T> for Answered<T> {
    fn from(body: T) -> Self {
        Self { status: StatusCode::OK, body }
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
}

/// An operation of the sandbox without its type.
pub(crate) type Handler = fn(&mut World, Fields, &Caller) -> Result<(StatusCode, Value), Fault>;

/// Answers one request whose fields have been checked.
pub(crate) fn handle<O: Operation>(
    world: &mut World,
    fields: Fields,
    caller: &Caller,
) -> Result<(StatusCode, Value), Fault>
where
    World: Answer<O>,
{
    let operation = serde_json::from_value::<O>(Value::Object(fields))
        .map_err(|error| Fault::new(StatusCode::BAD_REQUEST, format!("invalid request: {error}")))?;
    let answered = world.answer(operation, caller)?;
    let body = serde_json::to_value(answered.body)
        .map_err(|error| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok((answered.status, body))
}
