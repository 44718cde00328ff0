//! The fields of a reply that a caller wants, as dotted names such as `players.steps.report`.

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::{
    failure::Violation,
    fields::Fields,
    service::{
        arguments::unknown_name,
        record_kind::ResultKind,
        schema::{self, RECORDS},
        tool::ToolDefinition,
    },
};

/// Name that selects the id of a record, whatever field holds it.
const ID: &str = "id";

/// Fields at the beginning of an incomplete reply. Without them it would look complete.
pub const INCOMPLETE: [&str; 2] = ["incomplete", "repeat"];

/// Fields that say what a reply lacks, which are always kept.
const ALWAYS_KEPT: [&str; 6] = ["left_out", "next", "pagination", "truncated", "unread", "warning"];

/// Name that selects every field.
const EVERYTHING: &str = "*";

/// Largest number of names that a caller may select.
const MAX_NAMES: usize = 100;

/// Largest length of a name, in bytes. This also bounds the depth of the tree.
const MAX_NAME_BYTES: usize = 256;

/// Selected names, as a tree. A name below a list selects the field of each entry.
#[derive(Clone, Debug, Default)]
pub struct FieldSelection {
    children: IndexMap<String, Self>,
    /// Whether the field is selected with everything below it.
    is_whole: bool,
    /// What the caller learns about the fields that were selected for it.
    left_out: Option<String>,
    /// List, and field of its entries that is not selected although everything else is.
    without: Option<(&'static str, &'static str)>,
}

impl FieldSelection {
    /// Parses the names that a caller of `tool` has selected. `data.` may be left out if the tool returns a list.
    ///
    /// # Errors
    /// A violation for each name that the tool does not know or that is too long, or one if there are too many names.
    pub fn parse(tool: &ToolDefinition, names: &[String]) -> Result<Self, Vec<Violation>> {
        if names.len() > MAX_NAMES {
            return Err(vec![Violation::new("fields", format!("must have at most {MAX_NAMES} names"))]);
        }

        let (mut root, mut violations) = (Self::default(), Vec::new());
        for (index, name) in names.iter().enumerate() {
            match path(tool, name) {
                _ if name == EVERYTHING => root.is_whole = true,
                _ if is_always_kept(name) => {}
                Ok(path) => root.add(path),
                Err(rule) => violations.push(Violation::new(format!("fields.{index}"), rule)),
            }
        }

        if violations.is_empty() { Ok(root) } else { Err(violations) }
    }

    /// Selects everything but a field of the entries of a list.
    pub fn without(list: &'static str, field: &'static str) -> Self {
        Self { is_whole: true, without: Some((list, field)), ..Self::default() }
    }

    /// Drops fields that are null, and adds what the caller learns about them and about what is not selected.
    #[must_use]
    pub fn leaving_out(self, what: String) -> Self {
        Self { left_out: Some(what), ..self }
    }

    /// Returns whether the caller has named the field of records `name`.
    pub fn names(&self, name: &str) -> bool {
        !self.is_whole && self.includes(&[RECORDS, name])
    }

    fn add(&mut self, path: Vec<&str>) {
        let mut node = self;
        for part in path {
            node = node.children.entry(part.to_owned()).or_default();
        }
        node.is_whole = true;
    }

    /// Returns whether a field, or something below it, is selected. `path` are the names that lead to it.
    pub(crate) fn includes(&self, path: &[&str]) -> bool {
        let Some((first, below)) = path.split_first() else { return true };
        self.is_whole || self.children.get(*first).is_some_and(|child| child.includes(below))
    }

    /// Removes the fields that are not selected.
    pub fn apply(&self, reply: &mut Value) {
        let Value::Object(fields) = reply else { return };
        let keeps_null = self.left_out.is_none();
        fields.retain(|name, value| is_always_kept(name) || self.retains(name, value, keeps_null));
        if let Some((list, name)) = self.without {
            let entries = fields.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
            entries.filter_map(Value::as_object_mut).for_each(|entry| drop(entry.shift_remove(name)));
        }
        if let Some(left_out) = &self.left_out {
            fields.insert("left_out".to_owned(), json!(left_out));
        }
    }

    /// Removes what is not selected below a field. Returns whether the field is selected.
    fn retains(&self, name: &str, value: &mut Value, keeps_null: bool) -> bool {
        if self.is_whole {
            return true;
        }
        let Some(child) = self.children.get(name).filter(|_| keeps_null || !value.is_null()) else {
            return false;
        };
        child.retain(value, keeps_null);
        true
    }

    fn retain(&self, value: &mut Value, keeps_null: bool) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.retain(item, keeps_null)),
            Value::Object(fields) => fields.retain(|name, value| self.retains(name, value, keeps_null)),
            _ => {}
        }
    }
}

fn is_always_kept(name: &str) -> bool {
    ALWAYS_KEPT.contains(&name) || INCOMPLETE.contains(&name)
}

/// Returns the parts of a name that a caller has selected.
///
/// # Errors
/// The rule that the name breaks.
fn path<'a>(tool: &ToolDefinition, name: &'a str) -> Result<Vec<&'a str>, String> {
    if name.len() > MAX_NAME_BYTES {
        return Err(format!("must have at most {MAX_NAME_BYTES} bytes"));
    }
    let mut parts: Vec<_> = name.split('.').map(str::trim).collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err("must be a name, or names joined by dots, such as `test.name`".to_owned());
    }

    let schema = tool.output_schema();
    let is_top_level = |name: &str| schema::properties(schema).is_some_and(|known| known.contains_key(name));
    if tool.answers_with_page() && !parts.first().is_some_and(|first| is_top_level(first)) {
        parts.insert(0, RECORDS);
    }
    // The schema has the fields of the service alone.
    if let Some(field) = tool.field_by_name()
        && parts.get(1) == Some(&field)
    {
        return Ok(parts);
    }

    let mut object = Some(&**schema);
    for (depth, part) in parts.iter_mut().enumerate() {
        // The fields of an open object are not known.
        let Some(fields) = object.and_then(schema::properties).filter(|fields| !fields.is_empty()) else {
            break;
        };
        let is_of_record = depth == usize::from(tool.answers_with_page());
        if *part == ID
            && is_of_record
            && let Some(field) = id_field(fields)
        {
            *part = field;
        }

        let Some(field) = fields.get(*part) else {
            let unknown = format!("names `{name}`, which is not a field of the answer");
            return Err(unknown_name(&unknown, "which has", part, fields));
        };
        object = field.get("items").unwrap_or(field).as_object();
    }

    Ok(parts)
}

/// Returns the field with the id of a record with these fields, if it is not called `id`.
fn id_field(fields: &Fields) -> Option<&'static str> {
    if fields.contains_key(ID) {
        return None;
    }
    ResultKind::ALL.map(ResultKind::id_field).into_iter().find(|field| fields.contains_key(*field))
}
