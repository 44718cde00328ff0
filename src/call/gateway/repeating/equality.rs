//! Which calls are equal.

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fields::Fields;

/// What makes two calls equal, as a digest: arguments can be long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call(Vec<u8>);

impl Call {
    /// A call with checked arguments; their order means nothing, and neither does the letter case of an id.
    pub(super) fn of(tool: &str, project: Option<&str>, arguments: &Fields) -> Self {
        let mut call = json!([tool, project, arguments]);
        call.sort_all_objects();
        lower_ids(&mut call);
        let mut made = Vec::with_capacity(SHA256_OUTPUT_LEN);
        made.extend_from_slice(digest(&SHA256, call.to_string().as_bytes()).as_ref());
        Self(made)
    }
}

fn lower_ids(value: &mut Value) {
    match value {
        Value::String(text) if Uuid::try_parse(text).is_ok() => text.make_ascii_lowercase(),
        Value::Array(items) => items.iter_mut().for_each(lower_ids),
        Value::Object(fields) => fields.values_mut().for_each(lower_ids),
        _ => {}
    }
}
