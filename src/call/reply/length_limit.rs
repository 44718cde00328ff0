//! Cuts a reply to the length that hosts accept (`design.md` 5), and states in the reply what was cut.
//!
//! The records of `data` are removed first, from the end. If one record alone is too long, its longest list is halved
//! repeatedly; then its longest strings are cut.

use serde_json::{Value, json};

use super::next_page::NEXT;
use crate::{fields::Fields, service::tool::Tool};

/// The request that a reply answers. It decides the advice in a cut reply.
#[derive(Clone, Copy, Debug)]
pub enum ReplySource<'a> {
    /// A call of this tool.
    Call(&'a Tool),
    /// A resource, which takes no arguments. This tool returns the same record and takes arguments.
    Resource(&'a Tool),
}

/// Field that states what was cut.
const TRUNCATED: &str = "truncated";

/// List that holds the records of a page.
pub(super) const RECORDS: &str = "data";

/// Characters that are reserved for the field [`TRUNCATED`].
const RESERVED_CHARS: usize = 700;

/// Characters that a cut string keeps.
const KEPT_STRING_CHARS: usize = 500;

/// Strings that are longer than a cut string by no more than this are not cut.
const MIN_CUT_CHARS: usize = 20;

/// Largest number of cuts in one reply. Each halves a list or shortens a string.
const MAX_CUTS: usize = 500;

/// Largest number of cuts that [`TRUNCATED`] lists.
const MAX_LISTED_CUTS: usize = 5;

/// Cuts `object` until its compact JSON has at most `max_chars` characters. A list keeps at least one entry.
pub(super) fn cut(object: &mut Fields, max_chars: usize, source: ReplySource<'_>) {
    let max_chars = max_chars.saturating_sub(RESERVED_CHARS);
    let mut cuts = Cuts::default();
    // Records are removed first, because a caller can request them again with another page.
    cut_records(object, max_chars, &mut cuts);

    for _ in 0..MAX_CUTS {
        if char_count(object) <= max_chars {
            break;
        }
        let is_list = |value: &Value| value.as_array().is_some_and(|items| items.len() > 1);
        // Lists are shortened before strings, so that the remaining entries are complete.
        let Some(path) = longest(object, is_list).or_else(|| longest(object, is_long_string)) else { break };
        cuts.shorten(object, &path);
    }

    object.insert(TRUNCATED.to_owned(), cuts.into_value(source));
}

fn char_count(object: &Fields) -> usize {
    serde_json::to_string(object).map_or(0, |text| text.chars().count())
}

/// Removes records from the end, but not the first one.
fn cut_records(object: &mut Fields, max_chars: usize, cuts: &mut Cuts) {
    let total = char_count(object);
    let Some(Value::Array(records)) = object.get_mut(RECORDS) else { return };
    // One more character for the comma after each record.
    let sizes: Vec<_> = records.iter().map(|record| record.to_string().chars().count() + 1).collect();

    let mut used = total - sizes.iter().sum::<usize>().min(total);
    let fitting = sizes.iter().take_while(|size| {
        used += **size;
        used <= max_chars
    });
    let kept = fitting.count().max(1);

    if kept < records.len() {
        cuts.add_list(format!("/{RECORDS}"), kept, records.len() - kept);
        records.truncate(kept);
        cuts.kept_records = Some(kept);
        // The next page of this size would skip the removed records.
        object.shift_remove(NEXT);
    }
}

/// A list that was cut.
struct ListCut {
    path: String,
    kept: usize,
    omitted: usize,
}

/// Everything that was cut.
#[derive(Default)]
struct Cuts {
    lists: Vec<ListCut>,
    /// Strings, each with the number of omitted characters.
    strings: Vec<(String, usize)>,
    /// Records that a page has kept, if some were removed.
    kept_records: Option<usize>,
}

impl Cuts {
    /// Adds a cut of a list, which may have been cut before.
    fn add_list(&mut self, path: String, kept: usize, omitted: usize) {
        match self.lists.iter_mut().find(|known| known.path == path) {
            Some(known) => *known = ListCut { path, kept, omitted: known.omitted + omitted },
            None => self.lists.push(ListCut { path, kept, omitted }),
        }
    }

    /// Halves the list or cuts the string at `path`.
    fn shorten(&mut self, object: &mut Fields, path: &str) {
        // The path comes from a search in this object.
        let Some(value) = path.strip_prefix('/').and_then(|path| value_at(object, path)) else { return };

        match value {
            Value::Array(items) => {
                let kept = (items.len() / 2).max(1);
                self.add_list(path.to_owned(), kept, items.len() - kept);
                items.truncate(kept);
            }
            Value::String(text) => {
                let length = text.chars().count();
                *text = text.chars().take(KEPT_STRING_CHARS).chain("… [cut]".chars()).collect();
                self.strings.push((path.to_owned(), length - KEPT_STRING_CHARS));
            }
            _ => {}
        }
    }

    /// Returns the value of [`TRUNCATED`].
    fn into_value(self, source: ReplySource<'_>) -> Value {
        let hint = source.advice(self.kept_records);
        let lists =
            self.lists.iter().map(|cut| json!({"path": cut.path, "kept": cut.kept, "omitted": cut.omitted}));
        let strings =
            self.strings.iter().map(|(path, omitted)| json!({"path": path, "omitted_characters": omitted}));
        let all: Vec<_> = lists.chain(strings).collect();

        let unlisted = all.len().saturating_sub(MAX_LISTED_CUTS);
        let listed: Vec<_> = all.into_iter().take(MAX_LISTED_CUTS).collect();
        let mut value = json!({"hint": hint, "cuts": listed});

        if let Some(object) = value.as_object_mut().filter(|_| unlisted > 0) {
            object.insert("more_cuts".to_owned(), unlisted.into());
        }

        value
    }
}

impl ReplySource<'_> {
    /// Returns how to get what was cut. `kept_records` is the number of records that are left of a page.
    fn advice(self, kept_records: Option<usize>) -> String {
        let tool = match self {
            Self::Call(tool) => Some(tool).filter(|tool| tool.takes_fields()),
            Self::Resource(tool) => {
                return format!(
                    "the record is longer than the limit of a reply: call `{}` with `fields` to get parts of it",
                    tool.name
                );
            }
        };

        let has_pages = tool.is_some_and(Tool::takes_pages);
        match (tool, kept_records) {
            (Some(_), Some(kept)) if has_pages => format!(
                "select fewer fields with `fields`, or fewer records per page with `page_size: {kept}`, and continue with `page`"
            ),
            (Some(_), Some(_)) => {
                "the list is longer than the limit of a reply: select fewer fields with `fields`".to_owned()
            }
            (Some(_), None) => {
                "the record is longer than the limit of a reply: select parts of it with `fields`".to_owned()
            }
            (None, _) => "the answer is longer than the limit of a reply".to_owned(),
        }
    }
}

/// Returns the value at a JSON pointer without its first slash.
fn value_at<'a>(object: &'a mut Fields, path: &str) -> Option<&'a mut Value> {
    let (name, rest) = path.split_once('/').unwrap_or((path, ""));
    let value = object.get_mut(&unescaped(name))?;
    if rest.is_empty() { Some(value) } else { value.pointer_mut(&format!("/{rest}")) }
}

/// Returns the JSON pointer (RFC 6901) of the longest value for which `can_be_cut` is true; of equal values the first in
/// the order of their pointers.
fn longest(object: &Fields, can_be_cut: impl Fn(&Value) -> bool) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    let mut pending: Vec<(String, &Value)> =
        object.iter().map(|(name, value)| (format!("/{}", escaped(name)), value)).collect();

    while let Some((path, value)) = pending.pop() {
        if can_be_cut(value) {
            let size = value.to_string().len();
            if best.as_ref().is_none_or(|(most, known)| size > *most || (size == *most && path < *known)) {
                best = Some((size, path.clone()));
            }
        }

        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                pending.extend(items.map(|(index, value)| (format!("{path}/{index}"), value)));
            }
            Value::Object(fields) => {
                let fields = fields.iter();
                pending.extend(fields.map(|(name, value)| (format!("{path}/{}", escaped(name)), value)));
            }
            _ => {}
        }
    }

    best.map(|(_, path)| path)
}

fn is_long_string(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.chars().count() > KEPT_STRING_CHARS + MIN_CUT_CHARS)
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_value_is_found_at_any_depth() {
        let object: Fields = serde_json::from_value(json!({
            "a": [1], "b/c": {"d~": [1, 2, 3]}, "e": [[1, 2, 3], [4, 5, 6]],
        }))
        .expect("an object");
        let is_list = |value: &Value| value.as_array().is_some_and(|items| items.len() > 1);

        assert_eq!(longest(&object, is_list).as_deref(), Some("/e"));
        assert_eq!(longest(&object, |value| value == &json!([1, 2, 3])).as_deref(), Some("/b~1c/d~0"));
        assert_eq!(longest(&object, Value::is_string), None);
    }

    #[test]
    fn a_pointer_leads_to_the_value_that_it_was_made_of() {
        let mut object: Fields = serde_json::from_value(json!({"b/c": {"d~": [7]}})).expect("an object");
        assert_eq!(value_at(&mut object, "b~1c/d~0/0"), Some(&mut json!(7)));
    }
}
