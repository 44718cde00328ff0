//! Combines an earlier entry with the fields of the new one.

use serde_json::Value;

use super::earlier_key::remove_earlier_key;
use crate::fields::Fields;

/// Fields of an entry that say how the host reaches the server.
const START_FIELDS: [&str; 5] = ["command", "url", "httpUrl", "serverUrl", "args"];

/// Field with a list of the variables that a host passes to the server.
const PASSED_VARIABLES: &str = "env_vars";

/// Returns the entry with these fields. Other fields of the same kind of entry stay, because a user has added them.
pub(super) fn merged(before: Option<&Value>, fields: &Fields) -> Value {
    let start = START_FIELDS.iter().find(|name| fields.contains_key(**name));
    let earlier = before.and_then(Value::as_object).filter(|earlier| {
        // What belongs to a command makes an entry with an address invalid for some hosts.
        start.is_some_and(|start| earlier.contains_key(*start))
    });
    let mut entry = earlier.cloned().unwrap_or_default();
    // A second way to the server would confuse the host, and may contain a key.
    entry.retain(|name, _| fields.contains_key(name) || !START_FIELDS.contains(&name.as_str()));
    remove_earlier_key(&mut entry, fields);

    for (name, value) in fields {
        match (entry.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(added)) => inner.extend(added.clone()),
            (Some(Value::Array(inner)), Value::Array(added)) if name == PASSED_VARIABLES => {
                let missing: Vec<_> = added.iter().filter(|name| !inner.contains(name)).cloned().collect();
                inner.extend(missing);
            }
            _ => drop(entry.insert(name.clone(), value.clone())),
        }
    }

    Value::Object(entry)
}
