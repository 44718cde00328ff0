//! A configuration text in TOML.

use std::fmt;

use serde::Serialize as _;
use serde_json::Value;
use toml_edit::{DocumentMut, Item, RawString, Table, TableLike, de, ser::ValueSerializer};

use super::{document::Document, document_error::DocumentError, entry::ENTRY};
use crate::fields::Fields;

/// A parsed text.
pub(super) struct TomlDocument {
    document: DocumentMut,
    container: &'static str,
    /// Whether every line ends as in Windows. The library writes plain line feeds.
    has_carriage_returns: bool,
}

impl TomlDocument {
    fn servers(&mut self) -> Result<Option<&mut dyn TableLike>, DocumentError> {
        let not_an_object = DocumentError::NotAnObject(self.container.to_owned());
        match self.document.get_mut(self.container) {
            None => Ok(None),
            Some(item) => item.as_table_like_mut().map(Some).ok_or(not_an_object),
        }
    }
}

impl Document for TomlDocument {
    fn parse(text: &str, container: &'static str) -> Result<Self, DocumentError> {
        let pairs = text.matches("\r\n").count();
        if pairs > 0 && pairs < text.matches('\n').count() {
            return Err(DocumentError::MixedLineEnds);
        }

        let plain = text.replace("\r\n", "\n");
        let document = plain.parse().map_err(|error: toml_edit::TomlError| {
            // The message quotes the line, which may contain a secret.
            let before = error.span().and_then(|span| plain.get(..span.start));
            let line = before.map(|before| before.matches('\n').count() + 1);
            let place = line.map(|line| format!(" near line {line}")).unwrap_or_default();
            DocumentError::Syntax(format!("{}{place}", error.message()))
        })?;

        Ok(Self { document, container, has_carriage_returns: pairs > 0 })
    }

    fn value(&self) -> Option<Value> {
        de::from_str(&self.document.to_string()).ok()
    }

    fn entry(&self) -> Result<Option<Value>, DocumentError> {
        let Some(servers) = self.document.get(self.container) else { return Ok(None) };
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

        self.document.entry(self.container).or_insert_with(|| {
            let mut servers = Table::new();
            servers.set_implicit(true);
            Item::Table(servers)
        });
        let is_inline = self.document.get(self.container).is_some_and(Item::is_inline_table);
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
            keep_comments(&mut self.document, &table);
        }

        Ok(())
    }
}

impl fmt::Display for TomlDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.document.to_string();
        if self.has_carriage_returns {
            return formatter.write_str(&text.replace('\n', "\r\n"));
        }
        formatter.write_str(&text)
    }
}

/// Moves the comments above the removed table to the table below it, or to the end of the text.
fn keep_comments(document: &mut DocumentMut, removed: &Table) {
    let comments = removed.decor().prefix().and_then(RawString::as_str).unwrap_or_default();
    if !comments.contains('#') {
        return;
    }

    let mut below: Option<isize> = None;
    visit_tables(document.as_table_mut(), &mut |table| {
        let position = table.position().filter(|position| Some(*position) > removed.position());
        below = below.into_iter().chain(position).min();
    });

    if below.is_none() {
        let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
        document.set_trailing(format!("{comments}{trailing}"));
    }
    visit_tables(document.as_table_mut(), &mut |table| {
        if below.is_some() && table.position() == below {
            let prefix = table.decor().prefix().and_then(RawString::as_str).unwrap_or_default();
            let prefix = format!("{comments}{prefix}");
            table.decor_mut().set_prefix(prefix);
        }
    });
}

/// Passes a table and all tables in it to `act`.
fn visit_tables(table: &mut Table, act: &mut dyn FnMut(&mut Table)) {
    act(table);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(table) => visit_tables(table, act),
            Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| visit_tables(table, act)),
            Item::None | Item::Value(_) => {}
        }
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

/// Puts `changed` in the place of an earlier value. The comments above and beside that value stay.
fn assign(table: &mut dyn TableLike, name: &str, mut changed: Item) {
    let Some(earlier) = table.get_mut(name) else {
        table.insert(name, changed);
        return;
    };

    if let (Some(earlier), Some(changed)) = (earlier.as_value(), changed.as_value_mut()) {
        *changed.decor_mut() = earlier.decor().clone();
    }
    *earlier = changed;
}

/// Returns a value in the form that the library inserts.
fn item(value: &Value) -> Result<Item, DocumentError> {
    let value = value.serialize(ValueSerializer::new());
    value.map(Item::Value).map_err(|_| DocumentError::Unsupported)
}
