//! Cuts replies and failures to the length that hosts accept, and states what was cut.
//!
//! The order is fixed: the answer of a tool loses what its definition names, a page loses records from its end, then all
//! lists lose entries. If that is not enough, the longest strings lose their ends, and only if nothing else is enough,
//! objects lose fields.

use serde_json::{Value, json};

use crate::{
    failure::Failure,
    fields::Fields,
    service::{
        schema::RECORDS,
        tool::{LostFirst, ToolDefinition},
    },
    text::{first_characters, without_open_joiner},
};

/// Largest number of records that a caller may request per page (service.md 1.3).
const LARGEST_PAGE: usize = 100;

/// Field with the arguments of the next page.
pub(super) const NEXT: &str = "next";

/// Field that says at the beginning of a reply that something is missing.
const INCOMPLETE: &str = "incomplete";

/// Field that states what was cut.
const TRUNCATED: &str = "truncated";

/// Characters that are reserved for the field [`TRUNCATED`].
const RESERVED_CHARS: usize = 1_200;

/// Least length of a cut string, in characters. Shorter strings are cut only together with objects.
const MIN_STRING_CHARS: usize = 520;

/// Mark at the end of a cut text.
const CUT_MARK: &str = "… [cut]";

/// Length of [`CUT_MARK`], in characters.
const MARK_CHARS: usize = 7;

/// Longest name of a field in an object that loses fields, in characters.
const MAX_NAME_CHARS: usize = 100;

/// Largest number of cuts that a reply lists.
const MAX_LISTED_CUTS: usize = 5;

/// Longest path of a cut, in characters. Names of fields may have any length.
const MAX_PATH_CHARS: usize = 100;

/// Longest message and longest hint of a failure, in characters. They may quote arguments of any length.
const MAX_TEXT_CHARS: usize = 2_500;

/// Characters that the name of the field `details` takes.
const DETAILS_CHARS: usize = 12;

/// How the records of a reply are limited that has no pages.
#[derive(Clone, Copy, Debug)]
pub struct RecordLimit {
    /// The argument with the largest number of records.
    pub argument: &'static str,
    /// Corrects the fields that describe the records, after some were removed.
    pub restate: fn(&mut Fields),
}

/// The request that a reply answers. It decides the advice in a cut reply.
#[derive(Clone, Copy, Debug)]
pub enum ReplySource {
    /// A call of this tool.
    Call(&'static ToolDefinition),
    /// A resource, which takes no arguments. This tool returns the same record and takes arguments.
    Resource(&'static ToolDefinition),
}

impl ReplySource {
    /// Returns how to get what was cut. `kept_records` is the number of records that are left of a list, which `limit`
    /// limits if it has no pages.
    fn advice(self, kept_records: Option<usize>, limit: Option<RecordLimit>) -> String {
        let tool = match self {
            Self::Call(tool) => tool,
            Self::Resource(tool) => {
                return format!(
                    "the record is longer than the limit of a reply: call `{}` with `fields` to get parts of it",
                    tool.name
                );
            }
        };

        match (kept_records, limit) {
            _ if !tool.takes_fields() => "the answer is longer than the limit of a reply".to_owned(),
            (Some(kept), Some(limit)) => format!(
                "select fewer fields with `fields`, or fewer records with `{}: {}`",
                limit.argument,
                kept.max(1)
            ),
            (Some(kept), None) if tool.takes_pages() => format!(
                "select fewer fields with `fields`, or fewer records per page with `page_size: {}`, and continue with `page`",
                kept.clamp(1, LARGEST_PAGE)
            ),
            (Some(_), None) => {
                "the list is longer than the limit of a reply: select fewer fields with `fields`".to_owned()
            }
            (None, _) => {
                "the record is longer than the limit of a reply: select parts of it with `fields`".to_owned()
            }
        }
    }
}

/// Cuts a reply until its compact JSON has at most `max_chars` characters. A reply that was cut begins with the fields
/// `incomplete` and `truncated`.
pub(super) fn cut_reply(
    reply: &mut Value,
    max_chars: usize,
    source: ReplySource,
    limit: Option<RecordLimit>,
) {
    let (ReplySource::Call(tool) | ReplySource::Resource(tool)) = source;
    let max_chars = max_chars.saturating_sub(RESERVED_CHARS);
    let mut cuts = Cuts::default();
    tool.lost_first.iter().for_each(|part| lose(*part, reply, max_chars, &mut cuts));
    cuts.all.extend(cut(reply, max_chars).all);
    let Value::Object(fields) = reply else { return };

    let kept_records = cuts.kept_items(&format!("/{RECORDS}"));
    if kept_records.is_some() {
        // The next page of this size would skip the removed records.
        fields.shift_remove(NEXT);
    }
    if let Some(limit) = limit {
        (limit.restate)(fields);
    }

    fields.shift_insert(0, INCOMPLETE.to_owned(), true.into());
    fields.shift_insert(1, TRUNCATED.to_owned(), cuts.describe(&source.advice(kept_records, limit)));
}

/// Removes a part of a reply with more than `max_chars` characters: a field of all entries, or as many entries as needed.
fn lose(part: LostFirst, reply: &mut Value, max_chars: usize, cuts: &mut Cuts) {
    let mut excess = length(reply).saturating_sub(max_chars);
    if excess == 0 {
        return;
    }

    match part {
        LostFirst::Field { list, name } => {
            let Some(Value::Array(entries)) = reply.pointer_mut(list) else { return };
            let removed = entries.iter_mut().filter_map(|entry| entry.as_object_mut()?.shift_remove(name));
            cuts.add_entries(&format!("{list}/-/{name}"), 0, removed.count());
        }
        LostFirst::Entries { list, kept } => {
            let least = reply.pointer(kept).and_then(Value::as_u64).map(usize::try_from);
            let (Some(Ok(least)), Some(Value::Array(entries))) = (least, reply.pointer_mut(list)) else {
                return;
            };
            let all = entries.len();
            while excess > 0 && entries.len() > least {
                let freed = entries.pop().map_or(0, |entry| length(&entry) + 1);
                excess = excess.saturating_sub(freed);
            }
            cuts.add_entries(list, entries.len(), all - entries.len());
        }
    }
}

/// Returns the length of the compact JSON of a value, in characters.
fn length(value: &Value) -> usize {
    let mut left = usize::MAX;
    Limits::NONE.spend(value, "", &mut left).map_or(usize::MAX, |()| usize::MAX - left)
}

/// Returns `failure` without hidden characters, cut so that its JSON has at most `max_chars` characters. The detail
/// `truncated` says what was cut.
pub fn limit_failure(failure: Failure, max_chars: usize) -> Failure {
    let mut failure = failure.visible();
    // Both texts fit even if JSON escapes every character of them.
    let max_text_chars = MAX_TEXT_CHARS.min(max_chars / 8);
    failure.message = shortened(&failure.message, max_text_chars);
    failure.hint.edit(|text| shortened(text, max_text_chars));

    if failure.to_json().chars().count() <= max_chars {
        return failure;
    }

    let mut details = Value::Object(std::mem::take(&mut *failure.details));
    let around = failure.to_json().chars().count() + DETAILS_CHARS + RESERVED_CHARS;
    let cuts = cut(&mut details, max_chars.saturating_sub(around));
    if let Value::Object(details) = details {
        *failure.details = details;
    }

    failure.detail(TRUNCATED, cuts.describe("the details are longer than a reply may be"))
}

fn shortened(text: &str, max_chars: usize) -> String {
    match first_characters(text, max_chars) {
        start if start.len() < text.len() => format!("{start}{CUT_MARK}"),
        whole => whole.to_owned(),
    }
}

/// Cuts `value` until its compact JSON has at most `max_chars` characters.
pub(crate) fn cut(value: &mut Value, max_chars: usize) -> Cuts {
    let limits = Limits::for_length(value, max_chars);
    let mut cuts = Cuts::default();
    limits.apply(value, "", &mut cuts);
    cuts
}

/// The largest parts of a value.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Entries of the list of records at the top level.
    records: usize,
    /// Entries of any other list.
    entries: usize,
    /// Characters of a string.
    characters: usize,
    /// Fields of an object.
    fields: usize,
}

/// The least number of what stays, and the limits for a number.
type Means = (usize, fn(usize) -> Limits);

impl Limits {
    const NONE: Self =
        Self { records: usize::MAX, entries: usize::MAX, characters: usize::MAX, fields: usize::MAX };

    /// What may be cut, the first means that is enough: the least number of what stays, and the limits for a number.
    const MEANS: [Means; 6] = [
        (usize::MAX, |_| Self::NONE),
        (1, |records| Self { records, ..Self::NONE }),
        (1, |entries| Self { records: entries, entries, ..Self::NONE }),
        (MIN_STRING_CHARS, |characters| Self { characters, ..Self::NONE }),
        (1, |entries| Self { records: entries, entries, characters: MIN_STRING_CHARS, ..Self::NONE }),
        (0, |count| Self {
            records: count,
            entries: count,
            characters: MIN_STRING_CHARS.min(10 * count),
            fields: count,
        }),
    ];

    /// Returns the limits within which a value has at most `max_chars` characters.
    fn for_length(value: &Value, max_chars: usize) -> Self {
        let fits = |limits: Self| limits.is_within(value, max_chars);
        for (least, limits) in Self::MEANS {
            if !fits(limits(least)) {
                continue;
            }

            let (mut low, mut high) = (least, max_chars.max(least));
            while low < high {
                let middle = low + (high - low).div_ceil(2);
                if fits(limits(middle)) {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            return limits(low);
        }

        Self { records: 0, entries: 0, characters: 0, fields: 0 }
    }

    fn is_within(self, value: &Value, max_chars: usize) -> bool {
        let mut left = max_chars;
        self.spend(value, "", &mut left).is_some()
    }

    /// Subtracts the length of a value within the limits from `left`. Returns `None` if it is too long.
    fn spend(self, value: &Value, place: &str, left: &mut usize) -> Option<()> {
        match value {
            Value::String(text) => {
                take(left, 2)?;

                let mut used = 0;
                for character in text.chars() {
                    used += character_length(character);
                    if used > self.characters {
                        return take(left, self.characters + MARK_CHARS);
                    }
                    if used > *left {
                        return None;
                    }
                }
                take(left, used)
            }

            Value::Array(items) => {
                take(left, 2)?;
                let mut kept = items.iter().take(self.entries_at(place));
                kept.try_for_each(|item| take(left, 1).and_then(|()| self.spend(item, "-", left)))
            }

            Value::Object(fields) => {
                take(left, 2)?;
                let mut kept = fields.iter().filter(|(name, _)| self.keeps_name(name)).take(self.fields);
                kept.try_for_each(|(name, value)| {
                    take(left, text_length(name) + 4)?;
                    self.spend(value, if place.is_empty() { name } else { "-" }, left)
                })
            }
            other => take(left, other.to_string().len()),
        }
    }

    fn entries_at(self, place: &str) -> usize {
        if place == RECORDS { self.records } else { self.entries }
    }

    fn keeps_name(self, name: &str) -> bool {
        self.fields == usize::MAX || name.len() <= MAX_NAME_CHARS
    }

    /// Cuts a value, and records each cut. `path` is the JSON pointer to the value (RFC 6901).
    fn apply(self, value: &mut Value, path: &str, cuts: &mut Cuts) {
        match value {
            Value::String(text) => {
                if let Some(kept) = beginning(text, self.characters) {
                    let omitted = text.chars().count() - kept.chars().count();
                    *text = format!("{kept}{CUT_MARK}");
                    cuts.add(path, CutKind::Characters { omitted });
                }
            }

            Value::Array(items) => {
                let kept = self.entries_at(path.trim_start_matches('/')).min(items.len());
                cuts.add_entries(path, kept, items.len() - kept);
                items.truncate(kept);

                for (index, item) in items.iter_mut().enumerate() {
                    self.apply(item, &format!("{path}/{index}"), cuts);
                }
            }

            Value::Object(fields) => {
                let all = fields.len();
                let mut left = self.fields;
                fields.retain(|name, _| {
                    let is_kept = self.keeps_name(name) && left > 0;
                    left -= usize::from(is_kept);
                    is_kept
                });

                if fields.len() < all {
                    let (kept, omitted) = (fields.len(), all - fields.len());
                    cuts.add(path, CutKind::Fields { kept, omitted });
                }

                for (name, value) in fields {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    self.apply(value, &format!("{path}/{name}"), cuts);
                }
            }
            _ => {}
        }
    }
}

fn take(left: &mut usize, length: usize) -> Option<()> {
    *left = left.checked_sub(length)?;
    Some(())
}

/// Returns the beginning of a text that takes at most `max_chars` characters in JSON; `None` if that is all of it.
fn beginning(text: &str, max_chars: usize) -> Option<&str> {
    let mut used = 0;
    let (end, _) = text.char_indices().find(|(_, character)| {
        used += character_length(*character);
        used > max_chars
    })?;

    Some(without_open_joiner(text.get(..end)?))
}

/// Returns the number of characters that a text takes in JSON, without quotation marks.
pub(super) fn text_length(text: &str) -> usize {
    text.chars().map(character_length).sum()
}

/// Returns the number of characters that a character takes in JSON.
pub(super) fn character_length(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

/// A cut of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CutKind {
    /// Entries were removed from the end of a list.
    Items { kept: usize, omitted: usize },
    /// Fields were removed from the end of an object.
    Fields { kept: usize, omitted: usize },
    /// The end of a string was removed.
    Characters { omitted: usize },
}

/// Everything that was cut, each with the JSON pointer to it.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    all: Vec<(String, CutKind)>,
}

impl Cuts {
    fn add(&mut self, path: &str, kind: CutKind) {
        self.all.push((path.to_owned(), kind));
    }

    fn add_entries(&mut self, path: &str, kept: usize, omitted: usize) {
        if omitted > 0 {
            self.add(path, CutKind::Items { kept, omitted });
        }
    }

    /// Returns how many entries the list at `pointer` has kept, if it was cut.
    fn kept_items(&self, pointer: &str) -> Option<usize> {
        self.all.iter().find_map(|(path, cut)| match cut {
            CutKind::Items { kept, .. } if path == pointer => Some(*kept),
            _ => None,
        })
    }

    /// Returns the description of the cuts for a caller. Only the first cuts are listed, so that a reply with many cuts
    /// stays short.
    fn describe(&self, hint: &str) -> Value {
        let listed = self.all.iter().take(MAX_LISTED_CUTS).map(|(path, cut)| cut.describe(path));
        let mut description = json!({"hint": hint, "cuts": listed.collect::<Vec<_>>()});

        let unlisted = self.all.len().saturating_sub(MAX_LISTED_CUTS);
        if unlisted > 0
            && let Value::Object(fields) = &mut description
        {
            fields.insert("more_cuts".to_owned(), unlisted.into());
        }

        description
    }
}

impl CutKind {
    fn describe(self, path: &str) -> Value {
        let start = first_characters(path, MAX_PATH_CHARS);
        let path = if start.len() < path.len() { format!("{start}…") } else { path.to_owned() };

        match self {
            Self::Items { kept, omitted } => json!({"path": path, "kept": kept, "omitted": omitted}),
            Self::Fields { kept, omitted } => {
                json!({"path": path, "kept_fields": kept, "omitted_fields": omitted})
            }
            Self::Characters { omitted } => json!({"path": path, "omitted_characters": omitted}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        failure::Code,
        random_inputs::{check_values, object, text},
        service::{api::runs::GetRun, catalog::ListedOperation as _},
        text::has_hidden,
    };

    const MAX_CHARS: usize = 2_000;

    fn nested(depth: usize, innermost: Value) -> Value {
        (0..depth)
            .fold(innermost, |value, level| if level % 2 == 0 { json!([value]) } else { json!({"a": value}) })
    }

    #[test]
    fn every_shape_of_an_answer_is_cut_to_the_limit() {
        let many_fields: Fields = (0..50_000).map(|index| (format!("field_{index}"), json!(index))).collect();
        let shapes = [
            json!({"data": vec![json!({"id": "x".repeat(50)}); 1_000], "pagination": {"page": 0}}),
            json!({"texts": vec!["y".repeat(520); 20_000]}),
            Value::Object(many_fields.clone()),
            json!({"inner": many_fields, "text": "kept"}),
            json!({"a": vec![vec![json!([]); 1_000]; 1_000]}),
            json!({"a": nested(120, json!("z".repeat(100_000)))}),
            json!({"k".repeat(100_000): 1, "b": 2}),
            json!({"text": "\u{1}\"".repeat(100_000)}),
            json!({"emoji": "👩‍🚀".repeat(10_000)}),
        ];

        for mut shape in shapes {
            let start: String = shape.to_string().chars().take(60).collect();
            cut_reply(&mut shape, MAX_CHARS, ReplySource::Call(&GetRun::entry().tool), None);

            let length = shape.to_string().chars().count();
            assert!(length <= MAX_CHARS, "{start}: {length}");
            assert!(shape["truncated"]["hint"].is_string(), "{start}");
        }
    }

    #[test]
    fn a_short_failure_loses_only_its_hidden_characters() {
        let failure =
            Failure::new(Code::Rejected, "a\u{202e}b").hint("c\u{1b}d").detail("e\u{200b}", "f\u{7}");
        let expected = Failure::new(Code::Rejected, "ab").hint("cd").detail("e", "f");
        assert_eq!(limit_failure(failure, MAX_CHARS), expected);
    }

    #[test]
    fn a_failure_with_any_texts_is_cut_to_the_limit() {
        check_values(&(text(), text(), object(), 1..500_usize), 1, |(message, hint, details, times)| {
            let mut failure = Failure::new(Code::Rejected, message.repeat(times)).hint(hint.repeat(times));
            *failure.details = details;
            let limited = limit_failure(failure, MAX_CHARS);

            assert!(limited.to_json().chars().count() <= MAX_CHARS, "{}", limited.to_json());
            assert!(!has_hidden(&limited.message) && !has_hidden(&limited.hint.to_string()));
        });
    }
}
