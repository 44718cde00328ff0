//! The fields of a reply that a caller wants, as dotted names such as `players.steps.report` (`design.md` 5).

use indexmap::IndexMap;
use serde_json::Value;

use super::length_limit::RECORDS;
use crate::{service::tool::Tool, violation::Violation};

/// Field that lists the selected names which the reply does not have.
const NOT_FOUND: &str = "fields_not_found";

/// Field of a page that is always kept: without it a caller cannot know that there are more pages.
const PAGINATION: &str = "pagination";

/// Selected names, as a tree. A name below a list selects the field of each entry.
#[derive(Clone, Debug, Default)]
pub struct FieldSelection {
    children: IndexMap<String, FieldSelection>,
    /// Whether the field is selected with everything below it.
    is_whole: bool,
    /// Whether the reply has the field.
    is_found: bool,
}

impl FieldSelection {
    /// Parses the names that a caller of `tool` has selected. `data.` may be left out if the tool returns a list.
    ///
    /// # Errors
    /// A violation for each name that has an empty part.
    pub fn parse(tool: &Tool, names: &[String]) -> Result<Self, Vec<Violation>> {
        let known = tool.output_schema().get("properties").and_then(Value::as_object);
        let is_list = tool.answers_with(RECORDS);
        let is_top_level = |name: &str| !is_list || known.is_some_and(|known| known.contains_key(name));
        let (mut root, mut violations) = (Self::default(), Vec::new());

        for (index, name) in names.iter().enumerate() {
            if name.split('.').any(|part| part.trim().is_empty()) {
                let rule = "must be a name, or names joined by dots, such as `test.name`";
                violations.push(Violation::new(format!("fields.{index}"), rule));
                continue;
            }

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
        let pagination = reply.get(PAGINATION).cloned();
        self.retain_selected(reply);

        let Value::Object(fields) = reply else { return };
        if let Some(pagination) = pagination {
            fields.insert(PAGINATION.to_owned(), pagination);
        }

        let missing = self.missing_names("");
        if !missing.is_empty() {
            fields.insert(NOT_FOUND.to_owned(), missing.into());
        }
    }

    fn retain_selected(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.retain_selected(item)),
            Value::Object(fields) => fields.retain(|name, value| {
                let Some(child) = self.children.get_mut(name) else { return false };
                child.is_found = true;
                if !child.is_whole {
                    child.retain_selected(value);
                }
                true
            }),
            _ => {}
        }
    }

    /// Returns the selected names that no record has. Of a missing field and the names below it, only the field is
    /// returned.
    fn missing_names(&self, path: &str) -> Vec<String> {
        let names = self.children.iter().flat_map(|(name, child)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            if child.is_found { child.missing_names(&path) } else { vec![path] }
        });
        names.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
                }),
            ),
        ];

        for (names, expected) in cases {
            let mut value = reply.clone();
            selection(names).apply(&mut value);
            assert_eq!(value, expected, "{names:?}");
        }
    }
}
