//! A configuration text that contains only the entry.

use serde_json::{Map, Value, json};

use super::{
    entry::ENTRY,
    host::{Format, Host},
};

/// Returns the configuration text of `host` with this entry alone. It ends with a line break.
pub(in crate::cli) fn snippet(host: Host, entry: &Value) -> String {
    let document = Map::from_iter([(host.container().to_owned(), json!({ENTRY: entry}))]);
    // Neither form can fail for an entry: its names are texts, and it has no null.
    match host.format() {
        Format::Json => {
            serde_json::to_string_pretty(&document).map(|text| format!("{text}\n")).unwrap_or_default()
        }
        Format::Toml => toml_edit::ser::to_string_pretty(&document).unwrap_or_default(),
    }
}
