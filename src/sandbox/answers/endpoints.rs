//! The endpoints: every operation with the sandbox's answer to it.

use std::ops::Deref;

use serde_json::Value;

use crate::{
    fields::Fields,
    sandbox::{
        answers::{
            answer::{Answer, InvalidRequestPolicy},
            answered::{AnswerBody, Answered},
            api_error::ApiError,
            caller::Caller,
        },
        model::world::World,
    },
    service::{
        catalog::{ListedOperation, OPERATIONS, OperationEntry, for_each_operation},
        operation::Operation,
    },
};

/// Answers one operation whose type is erased: fields in, JSON or bytes out.
type ErasedAnswer = fn(&mut World, Fields, &Caller) -> Result<Answered<Value>, ApiError>;

/// An operation with the sandbox's answer to it.
#[derive(Clone, Copy)]
pub(crate) struct Endpoint {
    entry: &'static OperationEntry,
    /// Answers a request whose fields have been checked.
    pub(crate) answer: ErasedAnswer,
    /// What happens to a request that breaks a rule.
    pub(crate) on_invalid: InvalidRequestPolicy,
}

impl Endpoint {
    fn for_operation<O: ListedOperation>() -> Self
    where
        World: Answer<O>,
    {
        Self { entry: O::entry(), answer: answer_fields::<O>, on_invalid: World::ON_INVALID }
    }
}

impl Deref for Endpoint {
    type Target = OperationEntry;
    fn deref(&self) -> &OperationEntry {
        self.entry
    }
}

/// Deserializes checked fields into the operation, answers it, and serializes the answer.
fn answer_fields<O: Operation>(
    world: &mut World,
    fields: Fields,
    caller: &Caller,
) -> Result<Answered<Value>, ApiError>
where
    World: Answer<O>,
{
    let operation = serde_json::from_value::<O>(Value::Object(fields))
        .map_err(|error| World::ON_INVALID.error(format!("invalid request: {error}")))?;

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
