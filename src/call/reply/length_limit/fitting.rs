//! Fits a JSON value into a number of characters. The time grows linearly with the value.
//!
//! The available characters are shared like water among the fields of an object: fields that are shorter than the common
//! level stay whole, and the longer ones are cut to the level. A list keeps its first entries.

use serde_json::Value;

use super::cuts::{Cut, Cuts};
use crate::{
    call::reply::json_length::{character_length, text_length},
    fields::Fields,
    text::without_open_joiner,
};

/// Least length of a cut string with its quotation marks, in characters. Shorter strings are not cut.
const MIN_STRING_LENGTH: usize = 520;

/// Mark at the end of a cut string.
const CUT_MARK: &str = "… [cut]";

/// What may be shortened. Each means includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shortening {
    /// Lists lose entries from the end, but keep one.
    Lists,
    /// Strings lose their end, but keep about 500 characters.
    Strings,
    /// Objects lose fields from the end; lists and strings may become empty.
    Fields,
}

/// Lengths of a value as compact JSON, in characters. A length above the limit of the measurement is only known to be
/// above it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    /// Length of the whole value.
    pub(super) length: usize,
    /// Least length to which the value can be cut.
    pub(super) minimum: usize,
}

impl Lengths {
    fn fixed(length: usize) -> Self {
        Self { length, minimum: length }
    }
}

/// Returns the lengths of `value`. Stops counting above `limit`.
pub(super) fn measure(value: &Value, means: Shortening, limit: usize) -> Lengths {
    match value {
        Value::Null => Lengths::fixed(4),
        Value::Bool(value) => Lengths::fixed(if *value { 4 } else { 5 }),
        Value::Number(number) => Lengths::fixed(number.to_string().len()),
        Value::String(text) => measure_string(text, means, limit),
        Value::Array(items) => measure_list(items, means, limit),
        Value::Object(fields) => measure_object(fields, means, limit),
    }
}

fn measure_string(text: &str, means: Shortening, limit: usize) -> Lengths {
    let mut length = 2;
    for character in text.chars() {
        if length > limit {
            break;
        }
        length += character_length(character);
    }

    let minimum = match means {
        Shortening::Lists => length,
        Shortening::Strings => length.min(MIN_STRING_LENGTH),
        Shortening::Fields => 2,
    };
    Lengths { length, minimum }
}

fn measure_list(items: &[Value], means: Shortening, limit: usize) -> Lengths {
    let mut length = 2;
    let mut minimum = 2;

    for (index, item) in items.iter().enumerate() {
        if length > limit {
            break;
        }
        let lengths = measure(item, means, limit);
        length += lengths.length + usize::from(index > 0);
        if index == 0 && means != Shortening::Fields {
            minimum += lengths.minimum;
        }
    }

    Lengths { length, minimum }
}

fn measure_object(fields: &Fields, means: Shortening, limit: usize) -> Lengths {
    let mut length = 2;
    let mut minimum = 2;

    for (index, (name, value)) in fields.iter().enumerate() {
        // The minimum may still be within the limit when the length no longer is.
        if minimum > limit || (length > limit && means == Shortening::Fields) {
            break;
        }
        let lengths = measure(value, means, limit);
        let around = name_length(name, limit) + usize::from(index > 0);
        length += lengths.length + around;
        if means != Shortening::Fields {
            minimum += lengths.minimum + around;
        }
    }

    Lengths { length, minimum }
}

/// Returns the length of the name of a field with quotation marks and colon.
fn name_length(name: &str, limit: usize) -> usize {
    // A name is never cut, so that a length above the limit need not be exact.
    if name.len() > 4 * limit { name.len() } else { text_length(name) + 3 }
}

/// Cuts `value` to `max_chars` characters, or to its minimum if that is longer, and records the cuts.
pub(super) fn fit(value: &mut Value, max_chars: usize, means: Shortening, cuts: &mut Cuts) {
    match value {
        Value::String(text) => fit_string(text, max_chars, cuts),
        Value::Array(items) => fit_list(items, max_chars, means, cuts),
        Value::Object(fields) => fit_object(fields, max_chars, means, cuts),
        _ => {}
    }
}

fn fit_string(text: &mut String, max_chars: usize, cuts: &mut Cuts) {
    if measure_string(text, Shortening::Lists, max_chars).length <= max_chars {
        return;
    }

    // The quotation marks and the mark of the cut count too.
    let available = max_chars.saturating_sub(2 + CUT_MARK.chars().count());
    let mut used = 0;
    let kept: String = text
        .chars()
        .take_while(|character| {
            used += character_length(*character);
            used <= available
        })
        .collect();
    let kept = without_open_joiner(&kept);
    let omitted = text.chars().count() - kept.chars().count();

    let mark = if max_chars < 2 + CUT_MARK.chars().count() { "" } else { CUT_MARK };
    *text = format!("{kept}{mark}");
    cuts.add(Cut::Characters { omitted });
}

fn fit_list(items: &mut Vec<Value>, max_chars: usize, means: Shortening, cuts: &mut Cuts) {
    let mut used = 2;
    let fitting = items.iter().enumerate().take_while(|(index, item)| {
        let rest = max_chars.saturating_sub(used);
        used += measure(item, means, rest).length + usize::from(*index > 0);
        used <= max_chars
    });
    let fitting = fitting.count();
    if fitting == items.len() {
        return;
    }

    let for_first = max_chars.saturating_sub(2);
    let minimum = items.first().map_or(0, |first| measure(first, means, for_first).minimum);
    let keeps_first = means != Shortening::Fields || minimum <= for_first;
    let kept = fitting.max(usize::from(keeps_first));
    if kept < items.len() {
        cuts.add(Cut::Items { kept, omitted: items.len() - kept });
        items.truncate(kept);
    }

    if fitting == 0
        && let Some(first) = items.first_mut()
    {
        cuts.inside("0", |cuts| fit(first, for_first, means, cuts));
    }
}

fn fit_object(fields: &mut Fields, max_chars: usize, means: Shortening, cuts: &mut Cuts) {
    if means == Shortening::Fields {
        remove_last_fields(fields, max_chars, cuts);
    }
    let names: usize = fields.keys().map(|name| name_length(name, max_chars)).sum();
    let commas = fields.len().saturating_sub(1);
    let available = max_chars.saturating_sub(2 + names + commas);
    let lengths: Vec<_> = fields.values().map(|value| measure(value, means, available)).collect();
    let level = common_level(&lengths, available);

    for ((name, value), lengths) in fields.iter_mut().zip(lengths) {
        let share = level.max(lengths.minimum);
        if lengths.length > share {
            cuts.inside(name.as_str(), |cuts| fit(value, share, means, cuts));
        }
    }
}

/// Removes fields from the end until the minimum lengths of the others fit.
fn remove_last_fields(fields: &mut Fields, max_chars: usize, cuts: &mut Cuts) {
    let mut used = 2;
    let fitting = fields.iter().take_while(|(name, value)| {
        // One more character for the comma.
        used += name_length(name, max_chars) + 1 + measure(value, Shortening::Fields, max_chars).minimum;
        used <= max_chars
    });
    let kept = fitting.count();

    if kept < fields.len() {
        cuts.add(Cut::Fields { kept, omitted: fields.len() - kept });
        *fields = std::mem::take(fields).into_iter().take(kept).collect();
    }
}

/// Returns the largest level at which the values, each cut to the level but not below its minimum, fit into `available`.
fn common_level(lengths: &[Lengths], available: usize) -> usize {
    let total = |level: usize| -> usize {
        lengths.iter().map(|lengths| level.clamp(lengths.minimum.min(lengths.length), lengths.length)).sum()
    };

    let (mut fitting, mut excess) = (0, available + 1);
    while excess - fitting > 1 {
        let middle = fitting.midpoint(excess);
        if total(middle) <= available {
            fitting = middle;
        } else {
            excess = middle;
        }
    }

    fitting
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cut(mut value: Value, max_chars: usize, means: Shortening) -> Value {
        fit(&mut value, max_chars, means, &mut Cuts::default());
        value
    }

    #[test]
    fn the_length_is_that_of_compact_json() {
        let value = json!({"a": [1, -2.5, null, true, false], "b\n": {"c": "é\"\\"}, "d": [], "e": {}});
        let length = value.to_string().chars().count();

        assert_eq!(measure(&value, Shortening::Lists, 1_000).length, length);
    }

    #[test]
    fn short_fields_stay_whole_and_long_ones_share_the_rest() {
        let value = json!({"short": [1], "long": vec![1; 100], "longer": vec![1; 1_000]});
        let cut = cut(value, 150, Shortening::Lists);

        assert_eq!(cut["short"], json!([1]));
        let kept = |name: &str| cut[name].as_array().map_or(0, Vec::len);
        assert_eq!(kept("long"), kept("longer"));
        assert!(kept("long") > 20 && cut.to_string().len() <= 150, "{cut}");
    }

    #[test]
    fn a_list_keeps_its_first_entry() {
        let cut = cut(json!([["a", "b", "c"], ["d"]]), 8, Shortening::Lists);
        assert_eq!(cut, json!([["a"]]));
    }
}
