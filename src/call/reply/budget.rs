//! Keeps a reply within what hosts take (`design.md` 5): what does not fit is cut at record boundaries, in a fixed
//! order, and said.
//!
//! First the records of `data` go, from the end. If one record alone is too long, the longest list in it goes by
//! halves, again and again; then its longest strings are cut.

use serde_json::{Value, json};

use super::paging::NEXT;
use crate::{fields::Fields, service::tool::Tool};

/// Whose reply it is: what there is to do about one that was cut.
#[derive(Clone, Copy, Debug)]
pub enum ReplySource<'a> {
    /// A call of this tool.
    Call(&'a Tool),
    /// A resource, which takes no arguments; this tool answers the same and takes some.
    Resource(&'a Tool),
}

/// Field that says what is missing.
const TRUNCATED: &str = "truncated";

/// List that holds the records of a page.
pub(super) const RECORDS: &str = "data";

/// Room for [`TRUNCATED`] itself, in characters.
const RESERVE: usize = 700;

/// Characters that a cut string keeps.
const KEPT_OF_STRING: usize = 500;

/// Most cuts that are made in one reply; each halves a list or shortens a string.
const MOST_CUTS: usize = 500;

/// Cuts `object`, which is longer, until its compact JSON has at most `most` characters. A list that is cut keeps at
/// least one entry.
pub(super) fn cut(object: &mut Fields, most: usize, asked: ReplySource<'_>) {
    let most = most.saturating_sub(RESERVE);
    let mut cuts = Cuts::default();
    cut_records(object, most, &mut cuts);

    for _ in 0..MOST_CUTS {
        if length(object) <= most {
            break;
        }
        let Some(path) = longest(object, Value::is_array).or_else(|| longest(object, is_long)) else { break };
        cuts.shorten(object, &path);
    }

    object.insert(TRUNCATED.to_owned(), cuts.told(asked));
}

fn length(object: &Fields) -> usize {
    serde_json::to_string(object).map_or(0, |text| text.chars().count())
}

/// Drops records from the end, but not the first.
fn cut_records(object: &mut Fields, most: usize, cuts: &mut Cuts) {
    let rest = length(object);
    let Some(Value::Array(records)) = object.get_mut(RECORDS) else { return };
    let sizes: Vec<_> = records.iter().map(|record| record.to_string().chars().count() + 1).collect();
    let head = rest - sizes.iter().sum::<usize>().min(rest);
    let mut used = head;
    let fitting = sizes.iter().take_while(|size| {
        used += **size;
        used <= most
    });
    let kept = fitting.count().max(1);

    if kept < records.len() {
        cuts.list(format!("/{RECORDS}"), kept, records.len() - kept);
        records.truncate(kept);
        cuts.kept_records = Some(kept);
        // The next page of this size would skip what was cut.
        object.shift_remove(NEXT);
    }
}

/// What was cut.
#[derive(Default)]
struct Cuts {
    lists: Vec<(String, usize, usize)>,
    strings: Vec<(String, usize)>,
    kept_records: Option<usize>,
}

impl Cuts {
    fn list(&mut self, path: String, kept: usize, omitted: usize) {
        match self.lists.iter_mut().find(|(known, ..)| *known == path) {
            Some(known) => *known = (path, kept, known.2 + omitted),
            None => self.lists.push((path, kept, omitted)),
        }
    }

    fn shorten(&mut self, object: &mut Fields, path: &str) {
        // The path was found in this very object.
        let Some(value) = path.strip_prefix('/').and_then(|path| value_at(object, path)) else { return };
        match value {
            Value::Array(items) => {
                let kept = (items.len() / 2).max(1);
                self.list(path.to_owned(), kept, items.len() - kept);
                items.truncate(kept);
            }
            Value::String(text) => {
                let length = text.chars().count();
                *text = text.chars().take(KEPT_OF_STRING).chain("… [cut]".chars()).collect();
                self.strings.push((path.to_owned(), length - KEPT_OF_STRING));
            }
            _ => {}
        }
    }

    fn told(self, asked: ReplySource<'_>) -> Value {
        const MOST_TOLD: usize = 5;

        let hint = asked.advice(self.kept_records);
        let lists = self
            .lists
            .iter()
            .map(|(path, kept, omitted)| json!({"path": path, "kept": kept, "omitted": omitted}));
        let strings =
            self.strings.iter().map(|(path, omitted)| json!({"path": path, "omitted_characters": omitted}));
        let all: Vec<_> = lists.chain(strings).collect();
        let untold = all.len().saturating_sub(MOST_TOLD);
        let mut told = json!({"hint": hint, "cuts": all.into_iter().take(MOST_TOLD).collect::<Vec<_>>()});

        if let Some(told) = told.as_object_mut().filter(|_| untold > 0) {
            told.insert("more_cuts".to_owned(), untold.into());
        }

        told
    }
}

impl ReplySource<'_> {
    /// How to get what is missing, where `kept_records` of a list are left.
    fn advice(self, kept_records: Option<usize>) -> String {
        let tool = match self {
            Self::Call(tool) => Some(tool).filter(|tool| tool.takes_fields()),
            Self::Resource(tool) => {
                return format!(
                    "this is longer than a reply may be: call `{}` with `fields` for parts of it",
                    tool.name
                );
            }
        };

        let has_pages = tool.is_some_and(Tool::takes_pages);
        match (tool, kept_records) {
            (Some(_), Some(kept)) if has_pages => format!(
                "ask for less of each record with `fields`, or for fewer a page: `page_size: {kept}`, and go on with `page`"
            ),
            (Some(_), Some(_)) => {
                "the list is longer than a reply may be: ask for less of each record with `fields`".to_owned()
            }
            (Some(_), None) => {
                "the record is longer than a reply may be: ask for parts of it with `fields`".to_owned()
            }
            (None, _) => "the answer is longer than a reply may be".to_owned(),
        }
    }
}

fn value_at<'a>(object: &'a mut Fields, path: &str) -> Option<&'a mut Value> {
    let (name, rest) = path.split_once('/').unwrap_or((path, ""));
    let value = object.get_mut(&unescaped(name))?;
    if rest.is_empty() { Some(value) } else { value.pointer_mut(&format!("/{rest}")) }
}

/// JSON pointer (RFC 6901) of the longest value of a kind that can still be cut.
fn longest(object: &Fields, kind: impl Fn(&Value) -> bool) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    let mut waiting: Vec<(String, &Value)> =
        object.iter().map(|(name, value)| (format!("/{}", escaped(name)), value)).collect();

    while let Some((path, value)) = waiting.pop() {
        let can_be_cut = kind(value) && value.as_array().is_none_or(|items| items.len() > 1);
        if can_be_cut {
            let size = value.to_string().len();
            if best.as_ref().is_none_or(|(most, known)| size > *most || (size == *most && path < *known)) {
                best = Some((size, path.clone()));
            }
        }

        match value {
            Value::Array(items) => {
                waiting.extend(
                    items.iter().enumerate().map(|(index, value)| (format!("{path}/{index}"), value)),
                );
            }
            Value::Object(fields) => {
                waiting
                    .extend(fields.iter().map(|(name, value)| (format!("{path}/{}", escaped(name)), value)));
            }
            _ => {}
        }
    }

    best.map(|(_, path)| path)
}

fn is_long(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.chars().count() > KEPT_OF_STRING + 20)
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}
