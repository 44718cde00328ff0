//! A configuration text in TOML.

use std::fmt;

use serde::Serialize as _;
use serde_json::Value;
use toml_edit::{Item, Table, TableLike, de, ser::ValueSerializer};

use super::{document::Document, document_error::DocumentError, entry::ENTRY};
use crate::{
    fields::Fields,
    toml_text::{TomlText, assign},
};

/// A parsed text.
pub(super) struct TomlDocument {
    text: TomlText,
    container: &'static str,
}

impl TomlDocument {
    fn servers(&mut self) -> Result<Option<&mut dyn TableLike>, DocumentError> {
        let not_an_object = DocumentError::NotAnObject(self.container.to_owned());
        match self.text.document.get_mut(self.container) {
            None => Ok(None),
            Some(item) => item.as_table_like_mut().map(Some).ok_or(not_an_object),
        }
    }
}

impl Document for TomlDocument {
    fn parse(text: &str, container: &'static str) -> Result<Self, DocumentError> {
        Ok(Self { text: TomlText::parse(text)?, container })
    }

    fn value(&self) -> Option<Value> {
        de::from_str(&self.text.document.to_string()).ok()
    }

    fn entry(&self) -> Result<Option<Value>, DocumentError> {
        let Some(servers) = self.text.document.get(self.container) else { return Ok(None) };
        if !servers.is_table_like() {
            return Err(DocumentError::NotAnObject(self.container.to_owned()));
        }

        let document = self.value().ok_or(DocumentError::Unsupported)?;
        Ok(document.get(self.container).and_then(|servers| servers.get(ENTRY)).cloned())
    }

    fn put(&mut self, entry: &Fields) -> Result<(), DocumentError> {
        let mut table = Table::new();
        for (name, value) in entry {
            table.insert(name, item(value)?);
        }

        self.text.document.entry(self.container).or_insert_with(|| {
            let mut servers = Table::new();
            servers.set_implicit(true);
            Item::Table(servers)
        });
        let is_inline = self.text.document.get(self.container).is_some_and(Item::is_inline_table);
        let servers = self.servers()?.ok_or(DocumentError::Unsupported)?;
        if let Some(earlier) = servers.get(ENTRY).and_then(Item::as_table) {
            *table.decor_mut() = earlier.decor().clone();
            table.set_position(earlier.position());
        }
        let is_inline = is_inline || servers.get(ENTRY).is_some_and(Item::is_value);
        let entry =
            if is_inline { Item::Value(table.into_inline_table().into()) } else { Item::Table(table) };
        assign(servers, ENTRY, entry);

        Ok(())
    }

    fn set_field(&mut self, name: &str, value: &Value) -> Result<(), DocumentError> {
        let entry = self.servers()?.and_then(|servers| servers.get_mut(ENTRY)?.as_table_like_mut());
        set(entry.ok_or(DocumentError::Unsupported)?, name, value)
    }

    fn remove(&mut self) -> Result<(), DocumentError> {
        let removed = self.servers()?.and_then(|servers| servers.remove(ENTRY));
        if let Some(Item::Table(table)) = removed {
            self.text.keep_comments(&table);
        }

        Ok(())
    }
}

impl fmt::Display for TomlDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(formatter)
    }
}

/// Sets a field of `table`. The comments in an earlier table stay.
fn set(table: &mut dyn TableLike, name: &str, value: &Value) -> Result<(), DocumentError> {
    let earlier = table.get_mut(name).and_then(Item::as_table_like_mut);
    let (Some(earlier), Some(fields)) = (earlier, value.as_object()) else {
        assign(table, name, item(value)?);
        return Ok(());
    };

    let names: Vec<_> = earlier.iter().map(|(name, _)| name.to_owned()).collect();
    for removed in names.iter().filter(|name| !fields.contains_key(*name)) {
        earlier.remove(removed);
    }
    for (name, value) in fields {
        set(earlier, name, value)?;
    }

    Ok(())
}

/// Returns a value in the form that the library inserts.
fn item(value: &Value) -> Result<Item, DocumentError> {
    let value = value.serialize(ValueSerializer::new());
    value.map(Item::Value).map_err(|_| DocumentError::Unsupported)
}
