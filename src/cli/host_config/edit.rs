//! Edits a configuration text: adds, changes or removes the entry, and keeps everything else as it is.

use serde_json::Value;

use super::{
    document::Document,
    document_error::DocumentError,
    entry::ENTRY,
    host::{Format, Host},
    json_document::JsonDocument,
    merge::merged,
    toml_document::TomlDocument,
};
use crate::fields::Fields;

/// Mark at the beginning of some files of Windows programs.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A change of the entry.
#[derive(Clone, Debug)]
pub(in crate::cli) enum Change {
    /// Add the entry, or set these fields in it.
    Set(Fields),
    Remove,
}

/// A changed text.
#[derive(Debug)]
pub(in crate::cli) struct Edited {
    pub(in crate::cli) text: String,
    /// The entry before the change.
    pub(in crate::cli) before: Option<Value>,
    /// The entry after the change.
    pub(in crate::cli) after: Option<Value>,
}

/// Returns the configuration text of `host` after `change`; `None` if there is nothing to change. An empty text is an
/// empty document.
///
/// # Errors
/// The text is invalid, or its form does not permit the change.
pub(in crate::cli) fn edit(host: Host, text: &str, change: &Change) -> Result<Option<Edited>, DocumentError> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mark = if body.len() == text.len() { "" } else { BYTE_ORDER_MARK };
    let edited = match host.format() {
        Format::Json => edit_document::<JsonDocument>(body, host.container(), change),
        Format::Toml => edit_document::<TomlDocument>(body, host.container(), change),
    };

    Ok(edited?.map(|edited| Edited { text: format!("{mark}{}", edited.text), ..edited }))
}

fn edit_document<D: Document>(
    text: &str,
    container: &'static str,
    change: &Change,
) -> Result<Option<Edited>, DocumentError> {
    let mut document = D::parse(text, container)?;
    let before = document.entry()?;
    let after = match change {
        Change::Set(fields) => Some(merged(before.as_ref(), fields)),
        Change::Remove => None,
    };
    if after.as_ref().map(Value::as_object) == before.as_ref().map(Value::as_object) {
        return Ok(None);
    }

    let others = document.value().map(|value| without_entry(value, container));
    apply(&mut document, before.as_ref(), after.as_ref())?;

    // A library that edits a rare form wrongly must not damage a file.
    let text = document.to_string();
    let changed = D::parse(&text, container)?;
    let others_after = changed.value().map(|value| without_entry(value, container));
    if changed.entry()? != after || others_after != others {
        return Err(DocumentError::Unsupported);
    }

    Ok(Some(Edited { text, before, after }))
}

/// Returns the value of a whole text without the entry, and without a field for entries that would be empty.
fn without_entry(mut document: Value, container: &str) -> Value {
    let servers = document.get_mut(container).and_then(Value::as_object_mut);
    let is_empty = servers.is_some_and(|servers| {
        servers.remove(ENTRY);
        servers.is_empty()
    });
    if let Some(fields) = document.as_object_mut().filter(|_| is_empty) {
        fields.remove(container);
    }

    document
}

/// Changes `before` to `after`: field by field if all fields of `before` stay.
fn apply(
    document: &mut impl Document,
    before: Option<&Value>,
    after: Option<&Value>,
) -> Result<(), DocumentError> {
    let Some(after) = after.and_then(Value::as_object) else { return document.remove() };
    let earlier = before
        .and_then(Value::as_object)
        .filter(|earlier| earlier.keys().all(|name| after.contains_key(name)));
    let Some(earlier) = earlier else { return document.put(after) };

    for (name, value) in after.iter().filter(|(name, value)| earlier.get(*name) != Some(*value)) {
        document.set_field(name, value)?;
    }

    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::toml_text::TomlTextError;
    use serde_json::json;

    use super::*;

    fn set(entry: &Value) -> Change {
        Change::Set(entry.as_object().cloned().expect("an object"))
    }

    fn command() -> Change {
        set(&json!({"command": "/tas", "args": ["--sandbox"]}))
    }

    /// Returns the changed text, or the text as it was if there is nothing to change.
    fn changed(host: Host, text: &str, change: &Change) -> String {
        edit(host, text, change).expect("valid").map_or(text.to_owned(), |edited| edited.text)
    }

    #[test]
    fn an_entry_is_added_and_removed_without_a_trace_and_added_once() {
        let json = r#"
    "tas": {
      "command": "/tas",
      "args": ["--sandbox"]
    }"#;
        let toml = "[mcp_servers.tas]\ncommand = \"/tas\"\nargs = [\"--sandbox\"]\n";
        let windows = |text: &str| text.replace('\n', "\r\n");
        let cases = [
            // Comments, trailing commas, order, and other fields.
            (
                Host::Zed,
                "// mine\n{\n  \"theme\": \"x\", // dark\n  \"context_servers\": {\n    /* a */ \"b\": {\"command\": \"c\"},\n  },\n  \"z\": 1\n}\n".to_owned(),
                "// mine\n{\n  \"theme\": \"x\", // dark\n  \"context_servers\": {\n    /* a */ \"b\": {\"command\": \"c\"},\n    \"tas\": {\n      \"command\": \"/tas\",\n      \"args\": [\"--sandbox\"],\n    },\n  },\n  \"z\": 1\n}\n".to_owned(),
            ),
            // Tabs, Windows line ends and a byte order mark.
            (
                Host::Cursor,
                "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n".to_owned(),
                "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t\t\"tas\": {\r\n\t\t\t\"command\": \"/tas\",\r\n\t\t\t\"args\": [\"--sandbox\"]\r\n\t\t}\r\n\t}\r\n}\r\n".to_owned(),
            ),
            (
                Host::VsCode,
                "{\n  \"inputs\": [],\n  \"servers\": {}\n}".to_owned(),
                format!("{{\n  \"inputs\": [],\n  \"servers\": {{{json}\n  }}\n}}"),
            ),
            (Host::Codex, String::new(), toml.to_owned()),
            (
                Host::Codex,
                "# mine\nmodel = \"x\" # fast\n\n[mcp_servers.a]\ncommand = 'b'\n\n[tools]\nweb = true\n".to_owned(),
                format!("# mine\nmodel = \"x\" # fast\n\n[mcp_servers.a]\ncommand = 'b'\n\n{toml}\n[tools]\nweb = true\n"),
            ),
            (
                Host::Codex,
                windows("\u{feff}model = \"x\"\n# end\n"),
                windows(&format!("\u{feff}model = \"x\"\n\n{toml}# end\n")),
            ),
            (
                Host::Codex,
                "mcp_servers = { a = { command = \"b\" } }\n".to_owned(),
                "mcp_servers = { a = { command = \"b\" } , tas = { command = \"/tas\", args = [\"--sandbox\"] } }\n".to_owned(),
            ),
        ];

        for (host, without, with) in cases {
            assert_eq!(changed(host, &without, &command()), with, "{host:?}");
            assert_eq!(changed(host, &with, &command()), with, "{host:?}: again");
            assert_eq!(changed(host, &with, &Change::Remove), without, "{host:?}: removed");
            assert_eq!(changed(host, &without, &Change::Remove), without, "{host:?}: removed again");
        }
    }

    #[test]
    fn an_empty_text_becomes_a_document_with_the_entry() {
        for text in ["", "\n", "{}"] {
            let document: Value =
                serde_json::from_str(&changed(Host::Cursor, text, &command())).expect("JSON");
            let expected = json!({"mcpServers": {"tas": {"command": "/tas", "args": ["--sandbox"]}}});
            assert_eq!(document, expected, "{text:?}");
        }
    }

    #[test]
    fn fields_that_a_person_has_added_stay_with_their_comments() {
        let json = "{\"mcpServers\": {\"tas\": {\n  // ours\n  \"command\": \"/old\",\n  \"timeout\": 60, // slow\n  \"args\": [\"--sandbox\"]\n}}}";
        let toml = "[mcp_servers.tas]\n# start\ncommand = \"/old\" # ours\nstartup_timeout_sec = 60 # slow\nargs = [\"--sandbox\"]\n\n[mcp_servers.tas.env]\nA = \"b\"\n";

        for (host, text) in [(Host::Cursor, json), (Host::Codex, toml)] {
            let now = changed(host, text, &command());
            assert_eq!(now, text.replace("/old", "/tas"), "{host:?}");
        }
    }

    #[test]
    fn variables_of_a_person_stay_beside_the_reference_to_the_key() {
        let json = r#"{"mcpServers": {"tas": {"command": "/tas", "env": {"A": "b"}}}}"#;
        let toml = "[mcp_servers.tas]\ncommand = \"/tas\"\nenv_vars = [\"A\"]\n";
        let reference = json!({"TAS_API_KEY": "$TAS_API_KEY"});
        let both = json!({"A": "b", "TAS_API_KEY": "$TAS_API_KEY"});
        for (host, text, field, value, expected) in [
            (Host::Gemini, json, "env", reference, both),
            (Host::Codex, toml, "env_vars", json!(["TAS_API_KEY"]), json!(["A", "TAS_API_KEY"])),
        ] {
            let change = set(&json!({"command": "/tas", field: value}));
            let edited = edit(host, text, &change).expect("valid").expect("a change");

            assert_eq!(edited.after.expect("an entry")[field], expected, "{host:?}");
            assert!(edit(host, &edited.text, &change).expect("valid").is_none(), "{host:?}: again");
        }
    }

    #[test]
    fn a_replaced_table_keeps_its_place_and_the_comments_above_it() {
        let text = "# ours\n[mcp_servers.tas]\nurl = \"https://tas.example/mcp\"\n\n[tools]\nweb = true\n";
        let expected =
            "# ours\n[mcp_servers.tas]\ncommand = \"/tas\"\nargs = [\"--sandbox\"]\n\n[tools]\nweb = true\n";
        assert_eq!(changed(Host::Codex, text, &command()), expected);

        let text = "[mcp_servers]\n# ours\ntas = { url = \"https://tas.example/mcp\" } # mine\n";
        let expected = "[mcp_servers]\n# ours\ntas = { command = \"/tas\", args = [\"--sandbox\"] } # mine\n";
        assert_eq!(changed(Host::Codex, text, &command()), expected);
    }

    #[test]
    fn comments_in_a_changed_table_stay() {
        let text = "[mcp_servers.tas]\nurl = \"/mcp\"\n\n# mine\n[mcp_servers.tas.env_http_headers]\nA = \"B\" # b\n";
        let address = set(&json!({"url": "/mcp", "env_http_headers": {"X-Api-Key": "TAS_API_KEY"}}));

        assert_eq!(changed(Host::Codex, text, &address), format!("{text}X-Api-Key = \"TAS_API_KEY\"\n"));
    }

    #[test]
    fn an_entry_of_another_kind_is_replaced() {
        let address = json!({"url": "https://tas.example/mcp"});
        for (host, text) in [
            (Host::Cursor, r#"{"mcpServers": {"tas": {"command": "/old", "env": {"A": "b"}}}}"#),
            (Host::Cursor, r#"{"mcpServers": {"tas": "disabled"}}"#),
            (
                Host::Cursor,
                r#"{"mcpServers": {"tas": {"url": "/old", "args": ["svc_x"], "httpUrl": "?key=svc_x"}}}"#,
            ),
            (Host::Codex, "[mcp_servers.tas]\ncommand = \"/old\"\nenv = { A = \"b\" }\n"),
        ] {
            let edited = edit(host, text, &set(&address)).expect("valid").expect("a change");
            assert_eq!(edited.after, Some(address.clone()), "{text}");
        }
    }

    #[test]
    fn comments_above_a_removed_table_stay() {
        let entry = "# a note\n[mcp_servers.tas]\ncommand = \"/tas\"\n[mcp_servers.tas.env]\nA = \"b\"\n";
        let below = "# tools\n[tools]\nweb = true\n[[list]]\nx = 1\n";
        let text = format!("model = \"x\"\n{entry}");

        assert_eq!(changed(Host::Codex, &text, &Change::Remove), "model = \"x\"\n# a note\n");
        assert_eq!(
            changed(Host::Codex, &format!("{text}{below}"), &Change::Remove),
            format!("model = \"x\"\n# a note\n{below}")
        );
    }

    /// A document that loses the other entries when the entry is set.
    struct Lossy(JsonDocument);

    impl Document for Lossy {
        fn parse(text: &str, container: &'static str) -> Result<Self, DocumentError> {
            JsonDocument::parse(text, container).map(Self)
        }

        fn value(&self) -> Option<Value> {
            self.0.value()
        }

        fn entry(&self) -> Result<Option<Value>, DocumentError> {
            self.0.entry()
        }

        fn put(&mut self, entry: &Fields) -> Result<(), DocumentError> {
            self.0 = JsonDocument::parse("", "mcpServers")?;
            self.0.put(entry)
        }

        fn set_field(&mut self, name: &str, value: &Value) -> Result<(), DocumentError> {
            self.0.set_field(name, value)
        }

        fn remove(&mut self) -> Result<(), DocumentError> {
            self.0.remove()
        }
    }

    impl std::fmt::Display for Lossy {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.fmt(formatter)
        }
    }

    #[test]
    fn a_change_that_damages_other_entries_is_refused() {
        let edit = |text| edit_document::<Lossy>(text, "mcpServers", &command());

        assert!(edit("{\"mcpServers\": {}}").expect("valid").is_some());
        for text in ["{\"mcpServers\": {\"a\": {}}}", "{\"theme\": 1}"] {
            assert_eq!(edit(text).expect_err("damage"), DocumentError::Unsupported, "{text}");
        }
    }

    #[test]
    fn invalid_texts_are_refused() {
        let syntax = DocumentError::Syntax(String::new());
        let duplicate = DocumentError::Duplicate;
        let not_an_object = |name: &str| DocumentError::NotAnObject(name.to_owned());
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let cases = [
            (Host::Cursor, "{\"mcpServers\": {", syntax.clone()),
            (Host::Cursor, "{a: 1}", syntax.clone()),
            (Host::Cursor, "{} {}", syntax.clone()),
            (Host::Cursor, &nested, syntax.clone()),
            (Host::Cursor, "[]", DocumentError::NoObject),
            (Host::Cursor, "{\"mcpServers\": null}", not_an_object("mcpServers")),
            (
                Host::Cursor,
                "{\"mcpServers\": {}, \"mcp\\u0053ervers\": {}}",
                duplicate("mcpServers".to_owned()),
            ),
            (Host::Cursor, "{\"mcpServers\": {\"tas\": {}, \"tas\": {}}}", duplicate("tas".to_owned())),
            (Host::Codex, "model = ", syntax.clone()),
            (Host::Codex, "a = 1\na = 2\n", syntax.clone()),
            (Host::Codex, "mcp_servers = 1\n", not_an_object("mcp_servers")),
            (Host::Codex, "[[mcp_servers]]\n", not_an_object("mcp_servers")),
            (Host::Codex, "a = 1\r\nb = 2\n", TomlTextError::MixedLineEnds.into()),
        ];

        for (host, text, expected) in cases {
            for change in [command(), Change::Remove] {
                let error = match edit(host, text, &change).expect_err("invalid") {
                    DocumentError::Syntax(_) | DocumentError::Toml(TomlTextError::Syntax(_)) => {
                        syntax.clone()
                    }
                    other => other,
                };
                assert_eq!(error, expected, "{}", text.get(..60).unwrap_or(text));
            }
        }
    }

    #[test]
    fn an_error_names_the_line_and_quotes_nothing() {
        for (host, text, line) in [
            (Host::Cursor, "{\n  \"key\": secret\n}", "line 2"),
            (Host::Codex, "a = 1\nkey = secret secret\n", "line 2"),
            (Host::Codex, "a = 1\nb = 2\na = 'secret'\n", "line 3"),
            (Host::Codex, "a = 1\r\nb = 2\r\na = 'secret'\r\n", "line 3"),
        ] {
            let error = edit(host, text, &command()).expect_err("invalid").to_string();
            assert!(error.contains(line) && !error.contains("secret"), "{error}");
        }
    }
}
