//! Removes the API key of an earlier entry, which would stay beside another source of the key.

use serde_json::Value;

use super::entry::KEY_HEADER;
use crate::{fields::Fields, settings::Settings};

/// Fields that may contain the key or refer to it, each with the name that the key has there.
const PLACES: [(&str, &str); 5] = [
    ("env", Settings::KEY_VARIABLE),
    ("env_vars", Settings::KEY_VARIABLE),
    ("headers", KEY_HEADER),
    ("http_headers", KEY_HEADER),
    ("env_http_headers", KEY_HEADER),
];

/// Removes the key from `earlier`, if the new fields refer to a key or start a server that takes it from elsewhere.
/// Otherwise a user has written the key or its reference, and the server needs it.
pub(super) fn remove_earlier_key(earlier: &mut Fields, fields: &Fields) {
    let has_reference = PLACES.iter().any(|(field, _)| fields.contains_key(*field));
    if !has_reference && !names_key_source(fields) {
        return;
    }

    // The new value of a field replaces the earlier one.
    for (field, key) in PLACES.iter().filter(|(field, _)| !fields.contains_key(*field)) {
        match earlier.get_mut(*field) {
            Some(Value::Object(values)) => values.retain(|name, _| !name.eq_ignore_ascii_case(key)),
            Some(Value::Array(names)) => names.retain(|name| name != key),
            _ => {}
        }
    }
}

/// Returns whether the command of the entry says where the server takes its key from.
fn names_key_source(fields: &Fields) -> bool {
    let arguments = fields.get("args").and_then(Value::as_array).into_iter().flatten();
    let mut flags = arguments.filter_map(|argument| argument.as_str()?.strip_prefix("--"));

    flags.any(|flag| Settings::KEY_SOURCE_FLAGS.contains(&flag))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_stays_only_if_the_new_entry_has_no_other_one() {
        let variables = json!({"env": {"A": "b", "TAS_API_KEY": "svc_x"}, "env_vars": ["A", "TAS_API_KEY"]});
        let without = json!({"env": {"A": "b"}, "env_vars": ["A"]});
        let listed = json!({"env": {"A": "b"}, "env_vars": ["A", "TAS_API_KEY"]});
        let headers = json!({"http_headers": {"A": "b", "x-api-key": "svc_x"}});
        let cases = [
            (&variables, json!({"args": ["--sandbox"]}), &without),
            (&variables, json!({"args": ["--api-key-file", "/key"]}), &without),
            (&variables, json!({"args": [], "env_vars": ["TAS_API_KEY"]}), &listed),
            (&variables, json!({"args": ["--project", "sandbox"]}), &variables),
            (&headers, json!({"env_http_headers": {"X-Api-Key": "K"}}), &json!({"http_headers": {"A": "b"}})),
            (&headers, json!({"url": "https://tas.example/mcp"}), &headers),
        ];

        for (earlier, fields, expected) in cases {
            let mut entry = earlier.as_object().cloned().expect("an object");
            remove_earlier_key(&mut entry, fields.as_object().expect("an object"));
            assert_eq!(&Value::Object(entry), expected, "{fields}");
        }
    }
}
