//! The entry in the file of a host: what changes, what a user sees of it, and the replacement of the file.
//!
//! The file belongs to the user: comments, order and all other fields stay, and the earlier content is kept in a backup.

use std::{fmt::Display, path::Path};

use diffy::{DiffOptions, Line};
use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode},
};
use serde_json::{Value, json};

use super::hosts::{ENTRY, Host, KEY_HEADER};
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    settings::Settings,
    text_file::{TextFile, TextFileError},
};

/// Largest file that is read.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// Ending of the backup, after the name of the file.
const BACKUP: &str = ".tas-backup";

/// Mark at the beginning of some files of Windows programs.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// What is permitted beyond JSON.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Fields of an entry that say how the host reaches the server.
const START_FIELDS: [&str; 5] = ["command", "url", "httpUrl", "serverUrl", "args"];

/// Number of equal lines around a change that are shown: more than an entry has.
const ALL_LINES: usize = 1 << 20;

/// A changed text.
pub(super) struct Edited {
    text: String,
    /// The entry before the change.
    pub(super) before: Option<Value>,
    /// The entry after the change.
    pub(super) after: Option<Value>,
}

/// Reads the file, if it exists.
///
/// # Errors
/// `file_error`: not a regular file, too large, not UTF-8, read-only or unreadable.
pub(super) fn read(path: &Path) -> Result<TextFile, Failure> {
    let file = TextFile::read(path, MAX_BYTES).and_then(|file| file.check_writable().map(|()| file));
    file.map_err(|error| unusable(path, &error))
}

/// Returns the failure for a file that is left as it is.
pub(super) fn unusable(path: &Path, reason: &dyn Display) -> Failure {
    let message = format!("{} cannot be changed: {reason}", path.display());
    Failure::new(Code::FileError, message)
        .hint("the file was left as it is: correct it, or change it by hand")
}

/// Returns the text after the entry has got these fields, or has been removed if there are none. `None` if there is nothing
/// to change. The entries of all servers are in the field `container`.
///
/// # Errors
/// The reason for which the text cannot be changed.
pub(super) fn edit(text: &str, container: &str, fields: Option<&Fields>) -> Result<Option<Edited>, String> {
    let body = text.strip_prefix(BYTE_ORDER_MARK);
    let root = parse(body.unwrap_or(text))?;
    let object = root.object_value().ok_or("it does not contain an object")?;
    let not_an_object = || format!("`{container}` is not an object");
    let servers = find(&object, container)?.map(|field| field.object_value().ok_or_else(not_an_object));
    let servers = servers.transpose()?;
    let field = servers.as_ref().map(|servers| find(servers, ENTRY)).transpose()?.flatten();

    let before = field.as_ref().and_then(|field| field.value()?.to_serde_value());
    let after = fields.map(|fields| merged(before.as_ref(), fields));
    if before == after {
        return Ok(None);
    }

    let expected = root.to_serde_value().and_then(|value| with_entry(value, container, after.as_ref()));
    match (field, &after) {
        (Some(field), Some(after)) => change(&field, after)?,
        (None, Some(after)) => {
            let servers = servers.unwrap_or_else(|| object.object_value_or_set(container));
            servers.append(ENTRY, input(after));
        }
        (field, None) => field.into_iter().for_each(CstObjectProp::remove),
    }

    // A library that edits a rare form wrongly must not damage a file.
    let text = root.to_string();
    if expected.is_none() || parse(&text)?.to_serde_value() != expected {
        return Err("its form is not supported".to_owned());
    }
    let mark = if body.is_some() { BYTE_ORDER_MARK } else { "" };

    Ok(Some(Edited { text: format!("{mark}{text}"), before, after }))
}

/// Replaces the file by the changed text. Returns the path of the backup with the earlier text, if there was a file.
///
/// # Errors
/// `conflict` if the file has changed since it was read; `file_error` if it cannot be written.
pub(super) fn replace(path: &Path, file: &TextFile, edited: &Edited) -> Result<Option<String>, Failure> {
    let replaced = || {
        let new = file.sibling(&edited.text)?;
        let backup = file.exists().then(|| file.sibling(file.text())).transpose()?;
        file.check_unchanged()?;

        let mut name = file.target().as_os_str().to_owned();
        name.push(BACKUP);
        let shown = backup.is_some().then(|| name.display().to_string());
        backup.map(|backup| backup.persist(&name)).transpose().map_err(|error| error.error)?;
        file.persist(new)?;
        Ok(shown)
    };

    replaced().map_err(|error| match error {
        TextFileError::Changed => {
            let message = format!("another program has changed {} in the meantime", path.display());
            Failure::new(Code::Conflict, message).hint("the file was left as it is: run the command again")
        }
        error => unusable(path, &error),
    })
}

/// Returns the lines of the entry, each after a space, or after `-` or `+` if the change removes or adds it. Entries of other
/// servers are not shown, because they may contain secrets. `written` are the new fields, which contain none.
pub(super) fn difference(host: Host, edited: &Edited, written: Option<&Fields>) -> String {
    let written = json!(written).to_string();
    let text = |entry: &Option<Value>| {
        entry.as_ref().and_then(|entry| host.snippet(&without_secrets("", entry, &written)))
    };
    let (before, after) = (text(&edited.before).unwrap_or_default(), text(&edited.after).unwrap_or_default());

    let signed =
        |sign: &str, text: &str| -> String { text.lines().flat_map(|line| [sign, line, "\n"]).collect() };
    let patch = DiffOptions::new().set_context_len(ALL_LINES).create_patch(&before, &after);
    let [hunk] = patch.hunks() else { return signed(" ", &before) };
    let lines = hunk.lines().iter().map(|line| match line {
        Line::Context(line) => signed(" ", line),
        Line::Delete(line) => signed("-", line),
        Line::Insert(line) => signed("+", line),
    });

    lines.collect()
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| format!("it is not valid: {error}"))?;
    if root.value().is_none() {
        root.set_value(CstInputValue::Object(Vec::new()));
    }

    Ok(root)
}

/// Returns the field `name`. A host would read only one of two fields with the same name.
fn find(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, String> {
    let fields = object.properties().into_iter();
    let mut found = fields.filter(|field| field.decoded_name().is_some_and(|found| found == name));

    match (found.next(), found.next()) {
        (_, Some(_)) => Err(format!("it contains `{name}` twice")),
        (field, None) => Ok(field),
    }
}

/// Returns the document with this entry, or without an entry.
fn with_entry(mut document: Value, container: &str, entry: Option<&Value>) -> Option<Value> {
    let servers = document.as_object_mut()?.entry(container).or_insert_with(|| json!({})).as_object_mut()?;
    match entry {
        Some(entry) => servers.insert(ENTRY.to_owned(), entry.clone()),
        None => servers.remove(ENTRY),
    };

    Some(document)
}

/// Changes the entry field by field, so that the comments between its fields stay.
fn change(entry: &CstObjectProp, after: &Value) -> Result<(), String> {
    let (Some(object), Some(fields)) = (entry.object_value(), after.as_object()) else {
        entry.set_value(input(after));
        return Ok(());
    };

    let is_gone = |field: &CstObjectProp| field.decoded_name().is_none_or(|name| !fields.contains_key(&name));
    object.properties().into_iter().filter(is_gone).for_each(CstObjectProp::remove);
    for (name, value) in fields {
        match find(&object, name)? {
            Some(field)
                if field.value().and_then(|earlier| earlier.to_serde_value()).as_ref() == Some(value) => {}
            Some(field) => field.set_value(input(value)),
            None => drop(object.append(name, input(value))),
        }
    }

    Ok(())
}

/// Returns a value in the form that the library inserts.
fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// Returns the entry with these fields. Other fields of the same kind of entry stay, because a user has added them.
fn merged(before: Option<&Value>, fields: &Fields) -> Value {
    let start = START_FIELDS.iter().find(|name| fields.contains_key(**name));
    let earlier = before.and_then(Value::as_object).filter(|earlier| {
        // What belongs to a command makes an entry with an address invalid for some hosts.
        start.is_some_and(|start| earlier.contains_key(*start))
    });
    let mut entry = earlier.cloned().unwrap_or_default();
    // An entry with both a command and an address is ambiguous, and the earlier address may contain a key.
    entry.retain(|name, _| fields.contains_key(name) || !START_FIELDS.contains(&name.as_str()));
    remove_earlier_key(&mut entry, fields);

    for (name, value) in fields {
        match (entry.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(added)) => inner.extend(added.clone()),
            _ => drop(entry.insert(name.clone(), value.clone())),
        }
    }

    Value::Object(entry)
}

/// Removes the key of an earlier entry, if the new fields refer to a key or start a server that takes it from elsewhere.
/// Otherwise the server needs the key that a user has written.
fn remove_earlier_key(entry: &mut Fields, fields: &Fields) {
    let arguments = fields.get("args").and_then(Value::as_array).into_iter().flatten();
    let mut flags = arguments.filter_map(|argument| argument.as_str()?.strip_prefix("--"));
    let names_source = flags.any(|flag| Settings::KEY_SOURCE_FLAGS.contains(&flag));

    for (field, key) in [("env", Settings::KEY_VARIABLE), ("headers", KEY_HEADER)] {
        if let Some(Value::Object(values)) = entry.get_mut(field)
            && (names_source || fields.contains_key(field))
        {
            values.retain(|name, _| !name.eq_ignore_ascii_case(key));
        }
    }
}

/// Returns the value of the field `name` with placeholders for its texts, because a user may have written a key there. The
/// path of a program, flags without a value and the texts in the JSON text `written` are none.
fn without_secrets(name: &str, value: &Value, written: &str) -> Value {
    let is_flag = |text: &str| {
        text.starts_with("--") && text.chars().all(|part| part.is_ascii_lowercase() || part == '-')
    };

    match value {
        Value::String(text) if name == "command" || is_flag(text) => value.clone(),
        Value::String(_) if written.contains(&value.to_string()) => value.clone(),
        Value::String(_) => json!("[hidden]"),
        Value::Array(values) => values.iter().map(|value| without_secrets("", value, written)).collect(),
        Value::Object(fields) => {
            let shown =
                fields.iter().map(|(name, value)| (name.clone(), without_secrets(name, value, written)));
            shown.collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
