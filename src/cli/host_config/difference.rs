//! Shows a change of the entry to a person.

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::{edit::Edited, host::Host, snippet::snippet};

/// Fields that contain no secret. The values of all others are hidden: a person may have written a key there.
const SHOWN_FIELDS: [&str; 9] =
    ["args", "command", "cwd", "env_http_headers", "env_vars", "httpUrl", "serverUrl", "type", "url"];

/// What stands for a hidden value.
const HIDDEN: &str = "[hidden]";

/// Returns the lines of the entry, each after a space, or after `-` or `+` if the change removes or adds it. Entries of other
/// servers are not shown, because they may contain secrets.
pub(in crate::cli) fn difference(host: Host, edited: &Edited) -> String {
    let text = |entry: &Option<Value>| entry.as_ref().map(|entry| snippet(host, &without_secrets(entry)));
    let (before, after) = (text(&edited.before).unwrap_or_default(), text(&edited.after).unwrap_or_default());

    let difference = TextDiff::from_lines(&before, &after);
    let lines = difference.iter_all_changes().map(|change| {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        format!("{sign}{change}")
    });

    lines.collect()
}

/// Returns the entry with placeholders for the values of fields that may contain secrets.
fn without_secrets(entry: &Value) -> Value {
    let Some(fields) = entry.as_object() else { return json!(HIDDEN) };
    let shown = fields.iter().map(|(name, value)| {
        let is_shown = SHOWN_FIELDS.contains(&name.as_str());
        (name.clone(), if is_shown { value.clone() } else { hidden(value) })
    });

    Value::Object(shown.collect())
}

/// Returns the value with placeholders for its texts. A reference to a variable is not a secret.
fn hidden(value: &Value) -> Value {
    match value {
        Value::String(text) if is_reference(text) => value.clone(),
        Value::String(_) => json!(HIDDEN),
        Value::Array(values) => values.iter().map(hidden).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), hidden(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Returns whether the text is the name of a variable, such as `$KEY` or `${env:KEY}`.
fn is_reference(text: &str) -> bool {
    let name = text.strip_prefix('$').unwrap_or_default();
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    !name.is_empty()
        && name.chars().all(|character| character.is_ascii_uppercase() || "_:env".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_line_by_line_without_secrets() {
        let before = json!({"command": "/old", "env": {"TAS_API_KEY": "svc_secret", "OTHER": "$OTHER"}});
        let after = json!({"command": "/new", "env": {"TAS_API_KEY": "svc_secret", "OTHER": "$OTHER"}});
        let edited = Edited { text: String::new(), before: Some(before), after: Some(after) };
        let expected = " {
   \"mcpServers\": {
     \"tas\": {
-      \"command\": \"/old\",
+      \"command\": \"/new\",
       \"env\": {
         \"TAS_API_KEY\": \"[hidden]\",
         \"OTHER\": \"$OTHER\"
       }
     }
   }
 }
";

        assert_eq!(difference(Host::Cursor, &edited), expected);
    }

    #[test]
    fn a_new_entry_has_only_added_lines() {
        let after = json!({"command": "/new", "args": ["--sandbox"]});
        let edited = Edited { text: String::new(), before: None, after: Some(after) };
        let expected = "+[mcp_servers.tas]\n+command = \"/new\"\n+args = [\"--sandbox\"]\n";

        assert_eq!(difference(Host::Codex, &edited), expected);
    }

    #[test]
    fn only_a_text_that_is_the_name_of_a_variable_is_a_reference() {
        for (text, expected) in [
            ("$KEY", true),
            ("${TAS_API_KEY}", true),
            ("${env:KEY}", true),
            ("$2b$10$secret", false),
            ("key", false),
            ("$", false),
        ] {
            assert_eq!(is_reference(text), expected, "{text}");
        }
    }
}
