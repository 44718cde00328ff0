//! Parses JSON of the service and of callers, which may contain what other JSON libraries write and serde refuses.

use std::borrow::Cow;

use serde_json::Value;

/// Largest number of values in one document. Each one takes far more memory than its text, so that a document of empty
/// lists could exhaust the memory.
const MAX_VALUES: usize = 250_000;

/// Deepest nesting of a document. `serde_json` refuses more than 128 levels.
const MAX_DEPTH: usize = 120;

/// Parses a JSON document. A lone surrogate, and a byte that is not UTF-8, becomes U+FFFD and spoils nothing else. Numbers
/// keep all their digits.
pub(crate) fn parse_json(text: &[u8]) -> Result<Value, String> {
    let text = repaired_json(text, MAX_VALUES)?;

    serde_json::from_str(&text).map_err(|error| format!("is not JSON ({error})"))
}

/// Returns a JSON text in which a lone surrogate, and a byte that is not UTF-8, is replaced by U+FFFD.
///
/// # Errors
/// The text has more than `max_values` values or too many levels, as a clause of an error message.
pub(crate) fn repaired_json(text: &[u8], max_values: usize) -> Result<Cow<'_, str>, String> {
    // The strict check is much faster, and nearly every text passes it.
    let text = std::str::from_utf8(text).map_or_else(|_| String::from_utf8_lossy(text), Cow::Borrowed);
    let Scan { values, depth, lone_surrogates, .. } = scan(text.as_bytes());

    if values > max_values {
        return Err(format!("has more than {max_values} values"));
    }
    if depth > MAX_DEPTH {
        return Err(format!("has more than {MAX_DEPTH} levels"));
    }

    Ok(if lone_surrogates.is_empty() {
        text
    } else {
        replace_surrogates(text.into_owned(), &lone_surrogates).into()
    })
}

/// What a look at a JSON text finds.
#[derive(Default)]
struct Scan {
    /// Number of values, without the names of fields.
    values: usize,
    /// Largest number of lists and objects around a value.
    depth: usize,
    /// Number of lists and objects around the current position.
    open: usize,
    /// Positions of the digits of escaped surrogates that are not part of a pair.
    lone_surrogates: Vec<usize>,
}

/// Looks at a JSON text once.
fn scan(text: &[u8]) -> Scan {
    let mut scan = Scan { values: 1, ..Scan::default() };
    let mut is_inside_string = false;
    let mut position = 0;

    while let Some(byte) = text.get(position) {
        match (byte, is_inside_string) {
            (b'"', _) => is_inside_string = !is_inside_string,
            (b',', false) => scan.values += 1,
            (b'[' | b'{', false) => {
                scan.values += usize::from(!is_followed_by_end(text, position));
                scan.open += 1;
                scan.depth = scan.depth.max(scan.open);
            }
            (b']' | b'}', false) => scan.open = scan.open.saturating_sub(1),
            (b'\\', true) => {
                position += scan.escape_length(text, position);
                continue;
            }
            _ => {}
        }
        position += 1;
    }

    scan
}

/// Returns whether the list or object that begins at `position` is empty.
fn is_followed_by_end(text: &[u8], position: usize) -> bool {
    let rest = text.get(position + 1..).unwrap_or_default();
    let next = rest.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(next, Some(b']' | b'}'))
}

impl Scan {
    /// Returns the length of the escape sequence at `position`. Records a surrogate without its pair.
    fn escape_length(&mut self, text: &[u8], position: usize) -> usize {
        match escaped_unit(text, position) {
            Some(0xD800..=0xDBFF) if matches!(escaped_unit(text, position + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                self.lone_surrogates.push(position + 2);
                6
            }
            Some(_) => 6,
            None => 2,
        }
    }
}

/// Returns the UTF-16 unit that the escape sequence `\uXXXX` at `position` stands for.
fn escaped_unit(text: &[u8], position: usize) -> Option<u16> {
    let digits = text.get(position..position + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Replaces the four digits at each position by those of U+FFFD.
fn replace_surrogates(text: String, positions: &[usize]) -> String {
    let mut bytes = text.into_bytes();
    for position in positions {
        if let Some(digits) = bytes.get_mut(*position..position + 4) {
            digits.copy_from_slice(b"FFFD");
        }
    }

    // ASCII digits were replaced by others, so that nothing is lost here.
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use crate::random_inputs::{check_texts, check_values, value};
    use proptest::{collection, prelude::any};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_lone_surrogate_spoils_nothing_else() {
        for (text, expected) in [
            (r#"["\ud800", "a\udc00b", "\ud83d\ude00"]"#, json!(["\u{FFFD}", "a\u{FFFD}b", "😀"])),
            (
                r#"["\ud800\ud83d\ude00", "\\ud800", "\ud800\n"]"#,
                json!(["\u{FFFD}😀", "\\ud800", "\u{FFFD}\n"]),
            ),
            (r#"{"\udfff": 1}"#, json!({"\u{FFFD}": 1})),
        ] {
            assert_eq!(parse_json(text.as_bytes()), Ok(expected), "{text}");
        }
        assert_eq!(parse_json(b"[\"a\xff\", 1]"), Ok(json!(["a\u{FFFD}", 1])));
    }

    #[test]
    fn numbers_keep_their_digits() {
        for (text, expected) in [
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1e999", "1e+999"),
            ("-0.10", "-0.10"),
            ("3.14159265358979323846264338327950288", "3.14159265358979323846264338327950288"),
        ] {
            let value = parse_json(text.as_bytes()).expect("a number");
            assert_eq!(value.to_string(), expected);
        }
    }

    #[test]
    fn values_are_counted_without_names() {
        for (text, expected) in [
            ("1", 1),
            ("[]", 1),
            ("[ ]", 1),
            ("[[],[]]", 3),
            (r#"{"a": 1, "b": {}}"#, 3),
            (r#"{"a": [1, {"b": "x,[{\\\"}"}]}"#, 5),
        ] {
            assert_eq!(scan(text.as_bytes()).values, expected, "{text}");
        }
    }

    #[test]
    fn a_document_with_very_many_values_is_refused() {
        let list = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
        assert!(parse_json(list(MAX_VALUES - 1).as_bytes()).is_ok());
        assert!(parse_json(list(MAX_VALUES + 1).as_bytes()).is_err());
        // Characters inside a string do not count.
        assert!(parse_json(format!("\"{}\"", ",[{".repeat(MAX_VALUES)).as_bytes()).is_ok());
    }

    #[test]
    fn text_that_is_not_json_is_refused() {
        for text in ["", "{", "\"\\u12\"", "\"\\", "nul", "[1,]"] {
            assert!(parse_json(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn json_is_parsed_and_other_bytes_are_refused() {
        check_values(&(value(), 0..64_usize, any::<u8>()), 1, |(value, cut, byte)| {
            let mut bytes = value.to_string().into_bytes();
            assert_eq!(parse_json(&bytes), Ok(value));

            let position = cut % bytes.len().max(1);
            bytes[position] = byte;
            drop(parse_json(&bytes));
            drop(parse_json(&bytes[position..]));
        });
    }

    #[test]
    fn surrogates_never_spoil_a_list() {
        check_texts(&collection::vec(0xD700..0xE100_u16, 0..20), |units| {
            let escapes: Vec<_> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let parsed = parse_json(format!("[\"{}\", 7]", escapes.concat()).as_bytes());
            assert_eq!(parsed.map(|list| list[1].clone()), Ok(json!(7)));
        });
    }
}
