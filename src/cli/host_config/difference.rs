//! Shows a change of the entry to a user.

use diffy::{DiffOptions, Line};
use serde_json::{Value, json};

use super::{edit::Edited, host::Host, snippet::snippet};

/// Fields that contain no secret. The values of fields that are in neither list are hidden: a user may have written a
/// key there.
const SHOWN_FIELDS: [&str; 5] = ["command", "cwd", "env_http_headers", "env_vars", "type"];

/// Fields that contain no secret in the new entry. In an earlier entry, a user may have written a key there, so that
/// only flags and the texts of the new entry are shown.
const WRITTEN_FIELDS: [&str; 4] = ["args", "httpUrl", "serverUrl", "url"];

/// Number of equal lines around a change that are shown: more than an entry has.
const ALL_LINES: usize = 1 << 20;

/// What stands for a hidden value.
const HIDDEN: &str = "[hidden]";

/// Returns the lines of the entry, each after a space, or after `-` or `+` if the change removes or adds it. Entries of
/// other servers are not shown, because they may contain secrets.
pub(in crate::cli) fn difference(host: Host, edited: &Edited) -> String {
    let written = edited.after.as_ref().map(written_texts).unwrap_or_default();
    let text =
        |entry: &Option<Value>| entry.as_ref().map(|entry| snippet(host, &without_secrets(entry, &written)));
    let (before, after) = (text(&edited.before).unwrap_or_default(), text(&edited.after).unwrap_or_default());

    let patch = DiffOptions::new().set_context_len(ALL_LINES).create_patch(&before, &after);
    let [hunk] = patch.hunks() else { return signed(" ", &before) };
    let lines = hunk.lines().iter().map(|line| match line {
        Line::Context(line) => signed(" ", line),
        Line::Delete(line) => signed("-", line),
        Line::Insert(line) => signed("+", line),
    });

    lines.collect()
}

/// Returns the lines, each after `sign` and with its line feed.
fn signed(sign: &str, lines: &str) -> String {
    lines.lines().flat_map(|line| [sign, line, "\n"]).collect()
}

/// Returns the texts in the written fields of the new entry.
fn written_texts(entry: &Value) -> Vec<&str> {
    let values = WRITTEN_FIELDS.iter().filter_map(|name| entry.get(name));
    let texts = values.flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));

    texts.filter_map(Value::as_str).collect()
}

/// Returns the entry with placeholders for the values that may be secrets. The texts in `written` are none.
fn without_secrets(entry: &Value, written: &[&str]) -> Value {
    let Some(fields) = entry.as_object() else { return json!(HIDDEN) };
    let shown = fields.iter().map(|(name, value)| {
        let value = match name.as_str() {
            name if SHOWN_FIELDS.contains(&name) => value.clone(),
            name if WRITTEN_FIELDS.contains(&name) => {
                hidden(value, &|text| is_flag(text) || written.contains(&text))
            }
            _ => hidden(value, &is_reference),
        };
        (name.clone(), value)
    });

    Value::Object(shown.collect())
}

/// Returns the value with placeholders for its texts, except those that are no secret.
fn hidden(value: &Value, is_shown: &dyn Fn(&str) -> bool) -> Value {
    match value {
        Value::String(text) if is_shown(text) => value.clone(),
        Value::String(_) => json!(HIDDEN),
        Value::Array(values) => values.iter().map(|value| hidden(value, is_shown)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), hidden(value, is_shown))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Returns whether the text is a flag without a value, such as `--header`.
fn is_flag(text: &str) -> bool {
    let word = text.strip_prefix("--").unwrap_or_default();
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.chars().all(|character| character.is_ascii_alphanumeric() || character == '-')
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
    fn a_key_in_an_earlier_argument_or_address_is_hidden() {
        let secret = "svc_0123456789abcdef0123456789abcdef";
        let url = format!("https://tas.example/mcp?key={secret}");
        let header = format!("X-Api-Key: {secret}");
        let variable = format!("TAS_API_KEY={secret}");
        let assigned = format!("--key={secret}");
        let bridge = json!({"command": "npx", "args": ["mcp-remote", url, "--header", header]});
        let container = json!({"command": "docker", "args": ["run", "-e", variable, assigned, "--sandbox"]});
        let address = json!({"url": url, "httpUrl": url, "serverUrl": url});
        let after = json!({"command": "/new", "args": ["--sandbox"]});

        for (before, shown) in [(bridge, "--header"), (container, "--sandbox"), (address, HIDDEN)] {
            for after in [None, Some(after.clone())] {
                let edited = Edited { text: String::new(), before: Some(before.clone()), after };
                let difference = difference(Host::Cursor, &edited);
                assert!(!difference.contains(secret) && difference.contains(shown), "{difference}");
            }
        }
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
