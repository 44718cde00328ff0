//! Cuts replies and failures to the length that hosts accept, and states what was cut.
//!
//! The order is fixed: lists lose records from their ends. If that is not enough, strings lose their ends, and only if
//! nothing else is enough, objects lose fields. The short fields of an object stay whole; the long ones share the rest.
//! A value is measured once, so that the time grows linearly with it.

use serde_json::{Value, json};

use crate::{
    failure::Failure,
    fields::Fields,
    service::{schema::RECORDS, tool::ToolDefinition},
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

/// Least length of a cut string with its quotation marks, in characters. Shorter strings are not cut.
const MIN_STRING_LENGTH: usize = 520;

/// Mark at the end of a cut text.
const CUT_MARK: &str = "… [cut]";

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
    let cuts = cut(reply, max_chars.saturating_sub(RESERVED_CHARS));
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

/// Returns the first `max_chars` characters of a text, with a mark if it is longer.
fn shortened(text: &str, max_chars: usize) -> String {
    match first_characters(text, max_chars) {
        start if start.len() < text.len() => format!("{start}{CUT_MARK}"),
        whole => whole.to_owned(),
    }
}

/// Cuts `value` until its compact JSON has at most `max_chars` characters.
pub(crate) fn cut(value: &mut Value, max_chars: usize) -> Cuts {
    let mut cuts = Cuts::default();
    let size = Size::of(value);

    if size.length > max_chars {
        let is_enough = |means: &Means| size.minimum(*means) <= max_chars;
        let means = [Means::Lists, Means::Strings].into_iter().find(is_enough).unwrap_or(Means::Fields);
        Cutter { means, path: Vec::new(), cuts: &mut cuts }.fit(value, &size, max_chars);
    }

    cuts
}

/// What may be shortened. Each means includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    /// Lists lose entries from the end, but keep one.
    Lists,
    /// Strings lose their end, but keep about 500 characters.
    Strings,
    /// Objects lose fields from the end; lists and strings may become empty.
    Fields,
}

/// Length of a value as compact JSON, in characters. Every entry and field counts with a comma.
#[derive(Debug)]
struct Size {
    length: usize,
    /// The least lengths to which the value can be cut, by [`Means`].
    minimums: [usize; 3],
    /// The sizes of the entries or of the values of the fields.
    parts: Vec<Self>,
}

impl Size {
    fn of(value: &Value) -> Self {
        match value {
            Value::String(text) => {
                let length = 2 + text_length(text);
                let minimums = [length, length.min(MIN_STRING_LENGTH), 2];
                Self { length, minimums, parts: Vec::new() }
            }
            Value::Array(items) => Self::of_list(items.iter().map(Self::of).collect()),
            Value::Object(fields) => Self::of_object(fields),
            other => {
                let length = other.to_string().len();
                Self { length, minimums: [length; 3], parts: Vec::new() }
            }
        }
    }

    fn of_list(parts: Vec<Self>) -> Self {
        let length = 2 + parts.iter().map(|part| part.length + 1).sum::<usize>();
        let first = |means| 2 + parts.first().map_or(0, |part: &Self| part.minimum(means) + 1);
        let minimums = [first(Means::Lists), first(Means::Strings), 2];
        Self { length, minimums, parts }
    }

    fn of_object(fields: &Fields) -> Self {
        let parts: Vec<_> = fields.values().map(Self::of).collect();
        let around = 2 + fields.keys().map(|name| name_length(name)).sum::<usize>();
        let minimum = |means| around + parts.iter().map(|part: &Self| part.minimum(means)).sum::<usize>();
        let minimums = [minimum(Means::Lists), minimum(Means::Strings), 2];
        Self { length: around + parts.iter().map(|part| part.length).sum::<usize>(), minimums, parts }
    }

    /// Returns the least length to which the value can be cut by `means`.
    fn minimum(&self, means: Means) -> usize {
        let [lists, strings, fields] = self.minimums;
        match means {
            Means::Lists => lists,
            Means::Strings => strings,
            Means::Fields => fields,
        }
    }
}

/// Returns the length of the name of a field with quotation marks, colon and comma.
fn name_length(name: &str) -> usize {
    text_length(name) + 4
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

/// Cuts one value after the other, and records each cut.
struct Cutter<'a> {
    means: Means,
    /// Names and indexes that lead to the current value.
    path: Vec<String>,
    cuts: &'a mut Cuts,
}

impl Cutter<'_> {
    /// Cuts `value` to `max_chars` characters, or to its minimum if that is longer.
    fn fit(&mut self, value: &mut Value, size: &Size, max_chars: usize) {
        match value {
            _ if size.length <= max_chars => {}
            Value::String(text) => self.fit_string(text, max_chars),
            Value::Array(items) => self.fit_list(items, size, max_chars),
            Value::Object(fields) => self.fit_object(fields, size, max_chars),
            _ => {}
        }
    }

    fn fit_string(&mut self, text: &mut String, max_chars: usize) {
        let mark = if max_chars < 2 + CUT_MARK.chars().count() { "" } else { CUT_MARK };
        let available = max_chars.saturating_sub(2 + mark.chars().count());
        let mut used = 0;
        let fits = |character: &char| {
            used += character_length(*character);
            used <= available
        };

        let kept: String = text.chars().take_while(fits).collect();
        let kept = without_open_joiner(&kept);
        let omitted = text.chars().count() - kept.chars().count();

        *text = format!("{kept}{mark}");
        self.record(CutKind::Characters { omitted });
    }

    fn fit_list(&mut self, items: &mut Vec<Value>, size: &Size, max_chars: usize) {
        let mut used = 2;
        let fits = |part: &&Size| {
            used += part.length + 1;
            used <= max_chars
        };
        let fitting = size.parts.iter().take_while(fits).count();

        let Some(first) = size.parts.first() else { return };
        let for_first = max_chars.saturating_sub(3);
        let keeps_first = self.means != Means::Fields || first.minimum(self.means) <= for_first;
        let kept = fitting.max(usize::from(keeps_first));
        if kept < items.len() {
            self.record(CutKind::Items { kept, omitted: items.len() - kept });
            items.truncate(kept);
        }

        if fitting == 0
            && let Some(item) = items.first_mut()
        {
            self.fit_part("0", item, first, for_first);
        }
    }

    fn fit_object(&mut self, fields: &mut Fields, size: &Size, max_chars: usize) {
        if self.means == Means::Fields {
            self.remove_last_fields(fields, size, max_chars);
        }

        let around = 2 + fields.keys().map(|name| name_length(name)).sum::<usize>();
        // Zipped with the fields: of removed fields, only the sizes are left.
        let parts = size.parts.get(..fields.len()).unwrap_or_default();
        let shares = shares(parts, self.means, max_chars.saturating_sub(around));
        for ((name, value), (part, share)) in fields.iter_mut().zip(parts.iter().zip(shares)) {
            self.fit_part(name, value, part, share);
        }
    }

    /// Removes fields from the end until the minimum lengths of the others fit.
    fn remove_last_fields(&mut self, fields: &mut Fields, size: &Size, max_chars: usize) {
        let mut used = 2;
        let fits = |(name, part): &(&String, &Size)| {
            used += name_length(name) + part.minimum(Means::Fields);
            used <= max_chars
        };

        let kept = fields.keys().zip(&size.parts).take_while(fits).count();
        if kept < fields.len() {
            self.record(CutKind::Fields { kept, omitted: fields.len() - kept });
            *fields = std::mem::take(fields).into_iter().take(kept).collect();
        }
    }

    fn fit_part(&mut self, name: &str, value: &mut Value, size: &Size, max_chars: usize) {
        self.path.push(name.to_owned());
        self.fit(value, size, max_chars);
        self.path.pop();
    }

    fn record(&mut self, cut: CutKind) {
        // A path is a JSON pointer (RFC 6901).
        let escaped = self.path.iter().map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")));
        self.cuts.all.push((escaped.collect(), cut));
    }
}

/// Returns how many of the `available` characters each part gets: its minimum, and an equal share of the rest. What a
/// part does not need goes to the longer ones.
fn shares(parts: &[Size], means: Means, available: usize) -> Vec<usize> {
    let minimum = |part: &Size| part.minimum(means).min(part.length);
    let mut shares: Vec<_> = parts.iter().map(minimum).collect();
    let mut rest = available.saturating_sub(shares.iter().sum());

    let wish = |part: &Size| part.length - minimum(part);
    let mut by_wish: Vec<_> = shares.iter_mut().zip(parts).collect();
    by_wish.sort_by_key(|(_, part)| wish(part));
    let count = by_wish.len();

    for (index, (share, part)) in by_wish.into_iter().enumerate() {
        let granted = wish(part).min(rest / (count - index));
        *share += granted;
        rest -= granted;
    }

    shares
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

    /// A value that is nested as deeply as a parsed answer can be.
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
    fn a_value_is_never_longer_than_its_size() {
        let every_ascii: String = (0..=127_u8).map(char::from).collect();
        for value in [
            json!({"a": [1, -2.5, null, true, false], "b\n": {"c": "é\"\\"}, "d": [], "e": {}}),
            json!(every_ascii),
        ] {
            let length = value.to_string().chars().count();
            assert!((length..length + 8).contains(&Size::of(&value).length), "{value}");
        }
    }

    #[test]
    fn short_fields_stay_whole_and_long_ones_share_the_rest() {
        let mut value = json!({"short": [1], "long": vec![1; 100], "longer": vec![1; 1_000]});
        cut(&mut value, 150);

        assert_eq!(value["short"], json!([1]));
        let kept = |name: &str| value[name].as_array().map_or(0, Vec::len);
        assert_eq!(kept("long"), kept("longer"));
        assert!(kept("long") > 20 && value.to_string().len() <= 150, "{value}");
    }

    #[test]
    fn a_list_keeps_its_first_entry() {
        let mut value = json!([["a", "b", "c"], ["d"]]);
        cut(&mut value, 10);
        assert_eq!(value, json!([["a"]]));
    }

    #[test]
    fn a_failure_of_any_size_is_cut_to_the_limit() {
        let long = Failure::new(Code::Rejected, "m".repeat(100_000))
            .hint("h".repeat(100_000))
            .detail("results", vec!["x".repeat(300); 10_000])
            .detail("other", "y");
        let limited = limit_failure(long, MAX_CHARS);

        assert!(limited.to_json().chars().count() <= MAX_CHARS, "{}", limited.to_json().len());
        assert!(limited.details.contains_key(TRUNCATED));
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
