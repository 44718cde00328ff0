//! Percent-encoding of path segments and queries.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// Every character except the unreserved characters of RFC 3986, so that a value cannot change the path or the query.
pub const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes one path segment or query value.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Returns the query of the fields, without `?`.
pub(super) fn query<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let pairs = fields.map(|(name, value)| format!("{}={}", encoded(name), encoded(&value_text(value))));
    pairs.collect::<Vec<_>>().join("&")
}

/// Returns a value as a query contains it.
pub(super) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // The service separates the items of lists by commas in every query (supplement 1.3).
        Value::Array(items) => items.iter().map(value_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::query;

    #[test]
    fn a_query_has_encoded_names_and_values() {
        let table = [
            (json!({}), ""),
            (json!({"page": 2, "bugs": true}), "page=2&bugs=true"),
            (json!({"tags": ["a", "b c"]}), "tags=a%2Cb%20c"),
            (json!({"search": "x&y=z"}), "search=x%26y%3Dz"),
        ];

        for (fields, expected) in table {
            assert_eq!(query(fields.as_object().unwrap().iter()), expected);
        }
    }
}
