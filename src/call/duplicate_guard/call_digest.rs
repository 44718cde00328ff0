//! Equality of calls.

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fields::Fields;

/// A digest of tool, project and arguments. Two calls with the same digest are equal. The arguments themselves are not
/// kept, because they can be long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::call) struct CallDigest(Vec<u8>);

impl CallDigest {
    /// Creates the digest of a call with checked arguments. The order of the fields and the letter case of ids do not
    /// matter.
    pub(in crate::call) fn new(tool: &str, project: Option<&str>, arguments: &Fields) -> Self {
        let mut call = json!([tool, project, arguments]);
        call.sort_all_objects();
        // The service accepts ids in both letter cases.
        lower_case_ids(&mut call);

        let mut bytes = Vec::with_capacity(SHA256_OUTPUT_LEN);
        bytes.extend_from_slice(digest(&SHA256, call.to_string().as_bytes()).as_ref());

        Self(bytes)
    }

    pub(in crate::call) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

fn lower_case_ids(value: &mut Value) {
    match value {
        Value::String(text) if Uuid::try_parse(text).is_ok() => text.make_ascii_lowercase(),
        Value::Array(items) => items.iter_mut().for_each(lower_case_ids),
        Value::Object(fields) => fields.values_mut().for_each(lower_case_ids),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    fn digest_of(arguments: &str) -> CallDigest {
        CallDigest::new("start_run", Some("demo"), &serde_json::from_str(arguments).expect("an object"))
    }

    #[test]
    fn the_order_of_fields_and_the_case_of_ids_do_not_matter() {
        let call = digest_of(&format!(r#"{{"id":"{ID}","name":"a"}}"#));

        assert_eq!(call, digest_of(&format!(r#"{{"name":"a","id":"{}"}}"#, ID.to_uppercase())));
        assert_ne!(call, digest_of(&format!(r#"{{"id":"{ID}","name":"A"}}"#)));
        assert_ne!(call, CallDigest::new("start_run", None, &Fields::new()));
    }
}
