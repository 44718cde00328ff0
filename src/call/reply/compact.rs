//! Compacts JSON of the service without building values.

use memchr::memchr2;

/// Deepest nesting that a parser of JSON accepts here, as that of the library does.
const MAX_DEPTH: usize = 127;

/// Largest number of values of a text that is passed on. Longer texts are parsed, which limits their values.
const MAX_VALUES: usize = 100_000;

/// Returns JSON without white space between its tokens. Strings and numbers keep their characters.
///
/// Returns `None` for texts that parsing and serialising would change in another way, such as one with escaped characters
/// that need no escape. Only fields of the same name in one object stay. The result is not checked otherwise: it is JSON only
/// if `json` is.
pub(super) fn compact(json: &str) -> Option<String> {
    let bytes = json.as_bytes();
    let mut compact = String::with_capacity(json.len());
    let (mut depth, mut values) = (0, 1);
    // Beginning of the characters that are not copied yet.
    let mut start = 0;
    let mut position = 0;

    while let Some(byte) = bytes.get(position) {
        match byte {
            b'"' => {
                position = string_end(bytes, position + 1)?;
                continue;
            }
            b' ' | b'\n' | b'\r' | b'\t' => {
                compact.push_str(json.get(start..position)?);
                start = position + 1;
            }
            // Without the space between them, two words would become one.
            byte if start == position && is_word(Some(byte)) && is_word(compact.as_bytes().last()) => {
                return None;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= usize::from(depth > 0),
            b',' => values += 1,
            // The library writes exponents in its own way.
            b'e' | b'E' if follows_digit(bytes, position) => return None,
            _ => {}
        }

        if depth > MAX_DEPTH || values > MAX_VALUES {
            return None;
        }
        position += 1;
    }

    compact.push_str(json.get(start..)?);

    Some(compact)
}

/// Returns the position after the quotation mark that ends the string whose first character is at `position`.
fn string_end(bytes: &[u8], mut position: usize) -> Option<usize> {
    loop {
        position += memchr2(b'"', b'\\', bytes.get(position..)?)?;
        if bytes.get(position) == Some(&b'"') {
            return Some(position + 1);
        }
        // Every other escape has a shorter form, or stands for a character that may have to be removed.
        if !matches!(bytes.get(position + 1)?, b'"' | b'\\' | b'n' | b'r' | b't') {
            return None;
        }
        position += 2;
    }
}

/// Returns whether a byte can be a part of a number or of a literal.
fn is_word(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'))
}

fn follows_digit(bytes: &[u8], position: usize) -> bool {
    let previous = position.checked_sub(1).and_then(|previous| bytes.get(previous));
    previous.is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy as _, any};
    use serde_json::Value;

    use super::*;
    use crate::random_inputs::{check_texts, check_values, value};

    #[test]
    fn white_space_between_tokens_is_removed() {
        for (json, expected) in [
            (r#" { "a b" : [ 1 , 2.50 , true ] } "#, r#"{"a b":[1,2.50,true]}"#),
            ("[\r\n\t]", "[]"),
            (r#"["\" \\ \n\r\t", "é 👩‍🚀"]"#, r#"["\" \\ \n\r\t","é 👩‍🚀"]"#),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
        ] {
            assert_eq!(compact(json).as_deref(), Some(expected), "{json}");
        }
    }

    #[test]
    fn texts_that_serialising_writes_differently_are_left_to_the_parser() {
        let deep = ["[".repeat(MAX_DEPTH + 1), "]".repeat(MAX_DEPTH + 1)].concat();
        let long = format!("[{}1]", "1,".repeat(MAX_VALUES));

        for json in [
            "[1 2]",
            "[1 \n.5]",
            "[tr ue]",
            r#"["\u0041"]"#,
            r#"["\/"]"#,
            r#"["\b"]"#,
            "[1e5]",
            "[1.5E-3]",
            "\"open",
            "\"\\",
            &deep,
            &long,
        ] {
            assert_eq!(compact(json), None, "{json:.40}");
        }
    }

    #[test]
    fn the_result_equals_that_of_parsing_and_serialising() {
        let is_spaced = any::<bool>();
        check_values(&(value(), is_spaced), 1, |(value, is_spaced)| {
            let json = if is_spaced { format!("{value:#}") } else { value.to_string() };
            if let Some(compact) = compact(&json) {
                assert_eq!(compact, value.to_string());
            }
        });
    }

    #[test]
    fn no_text_becomes_other_json() {
        let texts = "[\\[\\]{}\", :\\\\nu0-9eE.truefals -]{0,24}".prop_map(|text| text);
        check_texts(&texts, |text| {
            let parsed = serde_json::from_str::<Value>(&text).ok();
            let of_compact = compact(&text).and_then(|text| serde_json::from_str::<Value>(&text).ok());
            if of_compact.is_some() {
                assert_eq!(parsed, of_compact, "{text}");
            }
        });
    }
}
