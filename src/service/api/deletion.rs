//! What all deletions have in common: the confirmation question and the answer.
#![expect(missing_docs, reason = "the names are those of the contract")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::apply;

use crate::service::view::{lenient, objects};

use crate::fields::Fields;

/// Returns the confirmation question. Control characters and backticks of the id are replaced, so that an id cannot add
/// text to the question.
pub(super) fn deletion_question(record: &str, argument: &str, arguments: &Fields) -> String {
    let id = arguments.get(argument).and_then(Value::as_str).unwrap_or_default();
    let id: String = id.chars().map(|one| if one == '`' || one.is_control() { '?' } else { one }).collect();
    format!("would delete {record} `{id}` permanently")
}

/// The answer to a deletion (supplement 4.5, 6.5, 8).
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Deleted {
    pub id: String,
    pub deleted: bool,
}

objects!(Deleted);
