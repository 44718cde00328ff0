//! Cuts replies and failures to the length that hosts accept, and states what was cut.
//!
//! First the answer of a tool loses what its definition names. Then the parts of each value share the room that it has: what is
//! shorter than an equal share stays whole, and what is longer is cut to its share. A page loses whole records from its end.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::paging::PAGE_SIZE;
use crate::{
    failure::Failure,
    fields::Fields,
    service::{
        schema::RECORDS,
        tool::{LostFirst, ToolDefinition},
    },
    text::{first_characters, without_open_joiner},
};

/// Field with the arguments of the next page.
pub(super) const NEXT: &str = "next";

/// Field that says at the beginning of a reply that something is missing.
const INCOMPLETE: &str = "incomplete";

/// Field that states what was cut.
const TRUNCATED: &str = "truncated";

/// Characters that are reserved for the field [`TRUNCATED`].
const RESERVED_CHARS: usize = 1_200;

/// Mark at the end of a cut text.
const CUT_MARK: &str = "… [cut]";

/// Length of [`CUT_MARK`], in characters.
const MARK_CHARS: usize = 7;

/// Number of long entries that a list keeps, if it is not the list of records: each is cut to its share.
const LONG_ENTRIES: usize = 4;

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
    fn advice(self, kept_records: Option<usize>, limit: Option<RecordLimit>, has_next: bool) -> String {
        let (Self::Call(tool) | Self::Resource(tool)) = self;
        let too_long = "the answer is longer than the limit of a reply";

        match (self, kept_records, limit) {
            (Self::Resource(_), ..) => {
                format!("{too_long}: call `{}` with `fields` to get parts of it", tool.name)
            }
            _ if !tool.takes_fields() => too_long.to_owned(),
            (_, Some(kept), Some(limit)) => format!(
                "select fewer fields with `fields`, or fewer records with `{}: {}`",
                limit.argument,
                kept.max(1)
            ),
            (_, Some(_), None) if has_next => {
                "select fewer fields with `fields`, or continue with `next`, which begins with what was cut"
                    .to_owned()
            }
            _ => format!("{too_long}: select parts of it with `fields`"),
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
    let (mut cuts, all_records) = (Cuts::default(), count_records(reply));
    tool.lost_first.iter().for_each(|part| lose(*part, reply, max_chars, &mut cuts));
    fit(reply, max_chars, "", &mut cuts);

    let kept_records = Some(count_records(reply)).filter(|kept| *kept < all_records);
    let Value::Object(fields) = reply else { return };
    if let Some(kept) = kept_records.filter(|_| tool.takes_pages()) {
        // The next page of this size would skip the removed records.
        fields.shift_remove(NEXT);
        fields.extend(page_after(fields, kept).map(|next| (NEXT.to_owned(), next)));
    }
    if let Some(limit) = limit {
        (limit.restate)(fields);
    }

    fields.shift_insert(0, INCOMPLETE.to_owned(), true.into());
    let advice = source.advice(kept_records, limit, fields.contains_key(NEXT));
    fields.shift_insert(1, TRUNCATED.to_owned(), cuts.describe(&advice));
}

/// Returns the arguments of the page with the first record after the `kept` ones in `reply`: it begins at a multiple of its size.
fn page_after(reply: &Fields, kept: usize) -> Option<Value> {
    let number = |name| reply.get("pagination")?.get(name)?.as_u64();
    let kept = u64::try_from(kept).ok()?;

    let size = kept.clamp(1, PAGE_SIZE);
    let page = number("page")?.checked_mul(number("page_size")?)?.checked_add(kept)? / size;
    let remaining = number("total_count").map(|total| total.div_ceil(size).saturating_sub(page));

    Some(json!({"page": page, "page_size": size, "remaining_pages": remaining}))
}

fn count_records(reply: &Value) -> usize {
    reply.get(RECORDS).and_then(Value::as_array).map_or(0, Vec::len)
}

/// Removes a part of a reply with more than `max_chars` characters: a field of all entries, or as many entries as needed.
fn lose(part: LostFirst, reply: &mut Value, max_chars: usize, cuts: &mut Cuts) {
    let mut excess = length(reply, usize::MAX).saturating_sub(max_chars);
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
                let freed = entries.pop().map_or(0, |entry| length(&entry, usize::MAX) + 1);
                excess = excess.saturating_sub(freed);
            }
            cuts.add_entries(list, entries.len(), all - entries.len());
        }
    }
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
    let mut cuts = Cuts::default();
    fit(&mut details, max_chars.saturating_sub(around), "", &mut cuts);
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

/// Cuts a value to at most `room` characters of compact JSON, or to [`least_length`] if that is more. `path` is the JSON
/// pointer to the value (RFC 6901).
fn fit(value: &mut Value, room: usize, path: &str, cuts: &mut Cuts) {
    if length(value, room) <= room {
        return;
    }

    // Quotation marks or brackets.
    let room = room.saturating_sub(2);
    match value {
        Value::String(text) => {
            let kept = beginning(text, room.saturating_sub(MARK_CHARS));
            let omitted = text.chars().count() - kept.chars().count();
            *text = format!("{kept}{CUT_MARK}");
            cuts.add(path, json!({"omitted_characters": omitted}));
        }
        Value::Array(items) => fit_items(items, room, path, cuts),
        Value::Object(fields) => fit_fields(fields, room, path, cuts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Keeps the first entries of a list. Records stay whole, unless the first one is too long.
fn fit_items(items: &mut Vec<Value>, room: usize, path: &str, cuts: &mut Cuts) {
    let is_page = path.strip_prefix('/') == Some(RECORDS);
    let longest = if is_page { room } else { room / LONG_ENTRIES };
    let (all, mut left) = (items.len(), room);
    let kept = items.iter().map_while(|item| {
        let part = Part::new(item, 1, room);
        left = left.checked_sub(part.whole.min(longest).max(part.least))?;
        Some(part)
    });
    let kept: Vec<_> = kept.collect();
    items.truncate(kept.len());
    cuts.add_entries(path, kept.len(), all - kept.len());

    for ((index, item), room) in items.iter_mut().enumerate().zip(shares(&kept, room)) {
        fit(item, room, &format!("{path}/{index}"), cuts);
    }
}

/// Cuts the values of an object. A field is removed only if its name and its shortest value do not fit.
fn fit_fields(fields: &mut Fields, room: usize, path: &str, cuts: &mut Cuts) {
    let (all, mut left, mut parts) = (fields.len(), room, Vec::new());
    fields.retain(|name, value| {
        let part = Part::new(value, text_length(name) + 4, room);
        let after = left.checked_sub(part.least);
        left = after.unwrap_or(left);
        parts.extend(after.map(|_| part));
        after.is_some()
    });
    if fields.len() < all {
        cuts.add(path, json!({"kept_fields": fields.len(), "omitted_fields": all - fields.len()}));
    }

    for ((name, value), room) in fields.iter_mut().zip(shares(&parts, room)) {
        let name = name.replace('~', "~0").replace('/', "~1");
        fit(value, room, &format!("{path}/{name}"), cuts);
    }
}

/// What an entry of a list or a field of an object takes of its room, in characters.
struct Part {
    /// Characters beside the value: its name and the marks around it.
    around: usize,
    /// Length after the largest cut.
    least: usize,
    /// Length without a cut, or more than the room.
    whole: usize,
}

impl Part {
    fn new(value: &Value, around: usize, room: usize) -> Self {
        let least = around + least_length(value);
        Self { around, least, whole: least.max(around + length(value, room)) }
    }
}

/// Returns how many characters the value of each part may have: all of a short value, and an equal share for each long one.
fn shares(parts: &[Part], room: usize) -> impl Iterator<Item = usize> {
    let mut left = room - parts.iter().map(|part| part.least).sum::<usize>();
    let mut wanted: Vec<_> = parts.iter().map(|part| part.whole - part.least).collect();
    wanted.sort_unstable_by(|one, other| other.cmp(one));

    let mut largest = usize::MAX;
    while let Some(least) = wanted.pop() {
        let share = left / (wanted.len() + 1);
        if least > share {
            largest = share;
            break;
        }
        left -= least;
    }

    parts.iter().map(move |part| part.least - part.around + (part.whole - part.least).min(largest))
}

/// Returns the length that a value has if as much as possible is cut from it.
fn least_length(value: &Value) -> usize {
    match value {
        Value::String(_) => length(value, MARK_CHARS + 1).min(MARK_CHARS + 2),
        Value::Array(_) | Value::Object(_) => 2,
        Value::Null | Value::Bool(_) | Value::Number(_) => length(value, usize::MAX),
    }
}

/// Returns the length of the compact JSON of a value, in characters; `limit + 1` if it is longer than `limit`.
fn length(value: &Value, limit: usize) -> usize {
    let mut count = CharacterCount { left: limit };
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => limit - count.left,
        Err(_) => limit.saturating_add(1),
    }
}

/// Counts the characters that are written, up to a limit.
struct CharacterCount {
    left: usize,
}

impl Write for CharacterCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Each character has one byte that does not continue another one.
        let characters = bytes.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count();
        self.left = self.left.checked_sub(characters).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the beginning of a text that takes at most `max_chars` characters in JSON.
fn beginning(text: &str, max_chars: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, character)| {
        used += character_length(*character);
        used > max_chars
    });
    without_open_joiner(end.and_then(|(end, _)| text.get(..end)).unwrap_or(text))
}

/// Returns the number of characters that a text takes in JSON, without quotation marks.
pub(super) fn text_length(text: &str) -> usize {
    text.chars().map(character_length).sum()
}

pub(super) fn character_length(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

/// What was cut, each with the JSON pointer to it. Only the first cuts are listed, so that a reply with many cuts stays short.
#[derive(Debug, Default)]
struct Cuts {
    listed: Vec<Value>,
    unlisted: usize,
}

impl Cuts {
    /// Adds a cut. `count` says how much was cut at `path`.
    fn add(&mut self, path: &str, mut count: Value) {
        if self.listed.len() >= MAX_LISTED_CUTS {
            self.unlisted += 1;
            return;
        }

        let start = first_characters(path, MAX_PATH_CHARS);
        let path = if start.len() < path.len() { format!("{start}…") } else { path.to_owned() };
        if let Value::Object(fields) = &mut count {
            fields.shift_insert(0, "path".to_owned(), path.into());
        }
        self.listed.push(count);
    }

    fn add_entries(&mut self, path: &str, kept: usize, omitted: usize) {
        if omitted > 0 {
            self.add(path, json!({"kept": kept, "omitted": omitted}));
        }
    }

    fn describe(self, hint: &str) -> Value {
        let mut description = json!({"hint": hint, "cuts": self.listed});
        if self.unlisted > 0
            && let Value::Object(fields) = &mut description
        {
            fields.insert("more_cuts".to_owned(), self.unlisted.into());
        }

        description
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        failure::Code,
        random_inputs::{check_values, object, text},
        text::has_hidden,
    };

    const MAX_CHARS: usize = 2_000;

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
