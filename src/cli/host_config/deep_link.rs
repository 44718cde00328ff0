//! Addresses that open a host with the entry to confirm.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use form_urlencoded::byte_serialize;
use serde_json::Value;

use super::{entry::ENTRY, host::Host};
use crate::{fields::Fields, service::request::encoded};

/// Returns the address with which `host` adds the entry; `None` if the host has no such addresses.
pub(in crate::cli) fn deep_link(host: Host, entry: &Fields) -> Option<String> {
    match host {
        Host::Cursor => {
            let entry = BASE64_STANDARD.encode(Value::Object(entry.clone()).to_string());
            let entry: String = byte_serialize(entry.as_bytes()).collect();
            Some(format!("cursor://anysphere.cursor-deeplink/mcp/install?name={ENTRY}&config={entry}"))
        }
        Host::VsCode => {
            let mut named = Fields::from_iter([("name".to_owned(), ENTRY.into())]);
            named.extend(entry.clone());
            Some(format!("vscode:mcp/install?{}", encoded(&Value::Object(named).to_string())))
        }
        Host::ClaudeDesktop | Host::ClaudeCode | Host::Codex | Host::Gemini | Host::Windsurf | Host::Zed => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_link_contains_the_entry() {
        let entry = json!({"command": "/tas"});
        let entry = entry.as_object().expect("an object");
        let links = [Host::Cursor, Host::VsCode, Host::Zed].map(|host| deep_link(host, entry));

        assert_eq!(
            links.each_ref().map(Option::as_deref),
            [
                Some(
                    "cursor://anysphere.cursor-deeplink/mcp/install?name=tas&config=eyJjb21tYW5kIjoiL3RhcyJ9"
                ),
                Some("vscode:mcp/install?%7B%22name%22%3A%22tas%22%2C%22command%22%3A%22%2Ftas%22%7D"),
                None,
            ]
        );
    }
}
