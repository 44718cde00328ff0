//! The fields of a reply that a caller wants, as dotted names such as `players.steps.report`.

use std::{collections::BTreeSet, sync::Arc};

use indexmap::IndexMap;
use serde_json::Value;

use super::limit::NEXT;
use crate::{
    fields::Fields,
    service::{
        result_kind::ResultKind,
        schema::{self, RECORDS},
        tool::ToolDefinition,
    },
    violation::Violation,
};

/// Field that lists the selected names which the reply does not have.
const NOT_FOUND: &str = "fields_not_found";

/// Field that lists the valid names of the objects in which a selected name was not found.
const VALID: &str = "valid_fields";

/// Name that selects the id of a record, whatever field holds it.
const ID: &str = "id";

/// Field of a page that is always kept, with the next page: without them a caller cannot know that there are more pages.
const PAGINATION: &str = "pagination";

/// Fields at the beginning of an incomplete reply, which are always kept: without them it would look complete.
pub const INCOMPLETE: [&str; 2] = ["incomplete", "repeat"];

/// Largest number of names that a caller may select.
const MAX_NAMES: usize = 100;

/// Largest length of a name, in bytes. This also bounds the depth of the tree.
const MAX_NAME_BYTES: usize = 256;

/// Selected names, as a tree. A name below a list selects the field of each entry.
#[derive(Clone, Debug, Default)]
pub struct FieldSelection {
    children: IndexMap<String, FieldSelection>,
    /// Whether the field is selected with everything below it.
    is_whole: bool,
    /// Whether the reply has the field.
    is_found: bool,
    /// Whether the reply has an object at this place, so that the names below could be looked for.
    is_visited: bool,
    /// Schema of the answer, at the root of the tree.
    schema: Arc<Fields>,
}

impl FieldSelection {
    /// Parses the names that a caller of `tool` has selected. `data.` may be left out if the tool returns a list.
    ///
    /// # Errors
    /// A violation for each name that has an empty part or is too long, or one if there are too many names.
    pub fn parse(tool: &ToolDefinition, names: &[String]) -> Result<Self, Vec<Violation>> {
        if names.len() > MAX_NAMES {
            return Err(vec![Violation::new("fields", format!("must have at most {MAX_NAMES} names"))]);
        }

        let known = schema::properties(tool.output_schema());
        let is_list = tool.answers_with_page();
        let is_top_level = |name: &str| !is_list || known.is_some_and(|known| known.contains_key(name));
        let id_field = id_field(tool.output_schema(), is_list);
        let mut root = Self { schema: Arc::clone(tool.output_schema()), ..Self::default() };
        let mut violations = Vec::new();

        for (index, name) in names.iter().enumerate() {
            if name.len() > MAX_NAME_BYTES {
                let rule = format!("must have at most {MAX_NAME_BYTES} bytes");
                violations.push(Violation::new(format!("fields.{index}"), rule));
                continue;
            }
            if name.split('.').any(|part| part.trim().is_empty()) {
                let rule = "must be a name, or names joined by dots, such as `test.name`";
                violations.push(Violation::new(format!("fields.{index}"), rule));
                continue;
            }

            let own = name.strip_prefix(RECORDS).and_then(|rest| rest.strip_prefix('.')).filter(|_| is_list);
            let name = id_field.filter(|_| own.unwrap_or(name) == ID).unwrap_or(name);
            let first = name.split('.').next().unwrap_or_default();
            let prefix = Some(RECORDS).filter(|_| !is_top_level(first));
            root.add(prefix.into_iter().chain(name.split('.')));
        }

        if violations.is_empty() { Ok(root) } else { Err(violations) }
    }

    /// Adds a name, given as its parts.
    fn add<'a>(&mut self, parts: impl Iterator<Item = &'a str>) {
        let mut node = self;
        for part in parts {
            node = node.children.entry(part.trim().to_owned()).or_default();
        }
        node.is_whole = true;
    }

    /// Removes the fields that are not selected, and adds the selected names that do not exist.
    pub fn apply(mut self, reply: &mut Value) {
        let kept = |name: &&'static str| Some((*name, reply.get(*name)?.clone()));
        let is_page = reply.get(PAGINATION).is_some();
        let page: Vec<_> = [PAGINATION, NEXT].iter().filter(|_| is_page).filter_map(kept).collect();
        let incomplete: Vec<_> = INCOMPLETE.iter().filter_map(kept).collect();
        self.retain_selected(reply);

        let Value::Object(fields) = reply else { return };
        for (name, value) in page {
            fields.insert(name.to_owned(), value);
        }
        for (position, (name, value)) in incomplete.into_iter().enumerate() {
            fields.shift_insert(position, name.to_owned(), value);
        }

        let missing = self.missing_names("", &self.schema);
        if !missing.is_empty() {
            let valid = valid_names(&self.schema, &missing);
            fields.insert(NOT_FOUND.to_owned(), missing.into());
            fields.insert(VALID.to_owned(), valid.into());
        }
    }

    fn retain_selected(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.retain_selected(item)),
            Value::Object(fields) => {
                self.is_visited = true;
                fields.retain(|name, value| {
                    let Some(child) = self.children.get_mut(name) else { return false };
                    child.is_found = true;

                    if !child.is_whole {
                        child.retain_selected(value);
                    }

                    true
                });
            }
            _ => {}
        }
    }

    /// Returns the selected names that no record has and that `schema` does not know. Of a missing field and the names
    /// below it, only the field is returned. Without a record, such as in an empty list, no name is missing.
    fn missing_names(&self, path: &str, schema: &Fields) -> Vec<String> {
        let names = self.children.iter().flat_map(|(name, child)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match child.is_found {
                true => child.missing_names(&path, schema),
                false if !self.is_visited || is_known(schema, &path) => Vec::new(),
                false => vec![path],
            }
        });
        names.collect()
    }
}

/// Returns the field with the id of the record, if it is not called `id`.
fn id_field(schema: &Fields, is_list: bool) -> Option<&'static str> {
    let record = if is_list { schema::object_below(schema, RECORDS) } else { Some(schema) };
    let names = schema::properties(record?)?;
    if names.contains_key(ID) {
        return None;
    }

    let fields = ResultKind::ALL.into_iter().map(ResultKind::id_field);
    fields.into_iter().find(|field| names.contains_key(*field))
}

/// Returns whether a schema has the field at a path. A record may still lack it.
fn is_known(schema: &Fields, path: &str) -> bool {
    let (object, name) = path.rsplit_once('.').unwrap_or(("", path));
    let fields = schema::object_below(schema, object).and_then(schema::properties);
    fields.is_some_and(|fields| fields.contains_key(name))
}

/// Returns the names of the fields that exist in the same objects as `missing`, the names that do not exist.
fn valid_names(schema: &Fields, missing: &[String]) -> Vec<String> {
    let mut names = BTreeSet::new();
    for name in missing {
        let path = name.rsplit_once('.').map_or("", |(path, _)| path);
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        let fields = schema::object_below(schema, path).and_then(schema::properties);
        names.extend(fields.into_iter().flat_map(Fields::keys).map(|field| format!("{prefix}{field}")));
    }

    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::service::catalog;

    fn selection(names: &[&str]) -> FieldSelection {
        let mut root = FieldSelection::default();
        for name in names {
            root.add(name.split('.'));
        }
        root
    }

    #[test]
    fn only_the_selected_fields_stay() {
        let reply = json!({"data": [{"id": 1, "test": {"id": 2, "name": "a"}}], "pagination": {"page": 0}});
        let cases = [
            (&["data.id"][..], json!({"data": [{"id": 1}], "pagination": {"page": 0}})),
            (&["data.test"], json!({"data": [{"test": {"id": 2, "name": "a"}}], "pagination": {"page": 0}})),
            (
                &["data.test.name", "data.x.y"],
                json!({
                    "data": [{"test": {"name": "a"}}],
                    "pagination": {"page": 0},
                    "fields_not_found": ["data.x"],
                    "valid_fields": [],
                }),
            ),
        ];

        for (names, expected) in cases {
            let mut value = reply.clone();
            selection(names).apply(&mut value);
            assert_eq!(value, expected, "{names:?}");
        }
    }

    #[test]
    fn a_name_is_missing_only_if_a_record_lacks_it_and_the_schema_does_not_know_it() {
        let tool = catalog::find("list_runs").expect("an operation");
        for (reply, names, missing) in [
            (json!({"data": []}), ["nmae", "test.nmae"], json!(null)),
            (json!({"data": [{"test": null}]}), ["build", "test.nmae"], json!(null)),
            (json!({"data": [{"state": "x"}]}), ["bug_info", "nmae"], json!(["data.nmae"])),
        ] {
            let mut selected = reply.clone();
            let names = names.map(str::to_owned);
            FieldSelection::parse(tool, &names).expect("names").apply(&mut selected);
            assert_eq!(selected.get(NOT_FOUND).cloned().unwrap_or_default(), missing, "{reply}");
        }
    }

    #[test]
    fn an_incomplete_reply_says_so_first_whatever_is_selected() {
        let mut reply = json!({"incomplete": true, "repeat": "call again", "a": 1, "b": 2});
        selection(&["b"]).apply(&mut reply);
        assert_eq!(reply.to_string(), r#"{"incomplete":true,"repeat":"call again","b":2}"#);
    }

    #[test]
    fn a_long_name_and_too_many_names_are_violations() {
        let tool = catalog::find("list_runs").expect("an operation");
        let places = |names: &[String]| {
            let violations = FieldSelection::parse(tool, names).expect_err("violations");
            violations.iter().map(|violation| violation.path.clone()).collect::<Vec<_>>()
        };

        // A tree of this depth would overflow the stack when it is dropped.
        let deep = "a.".repeat(1_000_000) + "a";
        assert_eq!(places(&["state".to_owned(), deep]), ["fields.1"]);
        assert_eq!(places(&vec!["state".to_owned(); MAX_NAMES + 1]), ["fields"]);
        assert!(FieldSelection::parse(tool, &["a".repeat(MAX_NAME_BYTES)]).is_ok());
    }

    #[test]
    fn the_valid_names_of_the_object_are_listed() {
        let schema = json!({"properties": {"data": {"items": {"properties": {
            "id": {}, "test": {"properties": {"id": {}, "name": {}}},
        }}}}});
        let schema = schema.as_object().expect("an object");

        for (missing, expected) in [
            ("data.x", vec!["data.id", "data.test"]),
            ("data.test.nam", vec!["data.test.id", "data.test.name"]),
            ("x", vec!["data"]),
            ("data.id.x", vec![]),
        ] {
            assert_eq!(valid_names(schema, &[missing.to_owned()]), expected, "{missing}");
        }
    }

    #[test]
    fn id_selects_the_id_of_a_record_whatever_field_holds_it() {
        for (operation, name, expected) in [
            ("list_runs", "id", "data.multiplayer_run_id"),
            ("list_runs", "data.id", "data.multiplayer_run_id"),
            ("list_jobs", "id", "data.job_id"),
            ("get_run", "id", "multiplayer_run_id"),
            ("list_tests", "id", "data.id"),
        ] {
            let tool = catalog::find(operation).expect("an operation");
            let selected = FieldSelection::parse(tool, &[name.to_owned()]).expect("a selection");
            assert_eq!(
                selected.children.keys().collect::<Vec<_>>(),
                [expected.split('.').next().expect("a name")]
            );

            let mut node = &selected;
            for part in expected.split('.') {
                node = node.children.get(part).expect("the selected field");
            }
            assert!(node.is_whole, "{operation} {name}");
        }
    }
}
