//! What a caller wants of an answer: dotted names, such as `players.steps.report` (`design.md` 5).

use indexmap::IndexMap;
use serde_json::Value;

use super::budget::RECORDS;
use crate::{service::tool::Tool, violation::Violation};

/// Field that names what was asked for and is not there.
const NOT_FOUND: &str = "fields_not_found";

/// Field of a page that is always kept: without it nobody knows that there are more.
const PAGINATION: &str = "pagination";

/// Names that were asked for, as a tree. Lists are passed through: a name below a list is that of each entry.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    below: IndexMap<String, Selection>,
    /// Asked for as a whole.
    whole: bool,
    seen: bool,
}

impl Selection {
    /// Takes the names that were asked of `tool`. In a list, `data.` may be left out.
    pub fn parse(tool: &Tool, names: &[String]) -> Result<Self, Vec<Violation>> {
        let known = tool.output_schema().get("properties").and_then(Value::as_object);
        let is_list = tool.answers_with(RECORDS);
        let is_own = |name: &str| !is_list || known.is_some_and(|known| known.contains_key(name));
        let (mut root, mut violations) = (Self::default(), Vec::new());

        for (index, name) in names.iter().enumerate() {
            if name.split('.').any(|part| part.trim().is_empty()) {
                let rule = "must be a name, or names joined by dots, such as `test.name`";
                violations.push(Violation::new(format!("fields.{index}"), rule));
                continue;
            }
            let first = name.split('.').next().unwrap_or_default();
            root.add(Some(RECORDS).filter(|_| !is_own(first)).into_iter().chain(name.split('.')));
        }

        if violations.is_empty() { Ok(root) } else { Err(violations) }
    }

    fn add<'a>(&mut self, parts: impl Iterator<Item = &'a str>) {
        let mut place = self;
        for part in parts {
            place = place.below.entry(part.trim().to_owned()).or_default();
        }
        place.whole = true;
    }

    /// Leaves only what was asked for in the answer, and says what of it is not there.
    pub fn apply(mut self, answer: &mut Value) {
        let pagination = answer.get(PAGINATION).cloned();
        self.keep(answer);

        let Value::Object(fields) = answer else { return };
        if let Some(pagination) = pagination {
            fields.insert(PAGINATION.to_owned(), pagination);
        }

        let missing = self.missing("");
        if !missing.is_empty() {
            fields.insert(NOT_FOUND.to_owned(), missing.into());
        }
    }

    fn keep(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.keep(item)),
            Value::Object(fields) => fields.retain(|name, value| {
                let Some(wanted) = self.below.get_mut(name) else { return false };
                wanted.seen = true;
                if !wanted.whole {
                    wanted.keep(value);
                }
                true
            }),
            _ => {}
        }
    }

    /// Names that no record has. Those below something that is not there are not named once more.
    fn missing(&self, path: &str) -> Vec<String> {
        let below = self.below.iter().flat_map(|(name, wanted)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            if wanted.seen { wanted.missing(&path) } else { vec![path] }
        });
        below.collect()
    }
}
