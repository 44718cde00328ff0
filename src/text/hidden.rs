//! Characters that a user cannot see and a model or a terminal reads. Titles and reports of bugs are written by users
//! and read by models, so that hidden text could carry instructions that no user notices.

use std::borrow::Cow;

use serde_json::Value;

use crate::fields::Fields;

/// Character that takes the place of one that cannot be shown (U+FFFD).
pub const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Returns `text` without hidden characters.
pub fn visible(text: &str) -> Cow<'_, str> {
    // Most texts contain no character that may be hidden, and are returned without a copy.
    if text.bytes().all(is_visible_ascii) || !text.contains(is_suspect) {
        return Cow::Borrowed(text);
    }

    let characters: Vec<char> = text.chars().collect();
    let mut kept = String::with_capacity(text.len());
    for (index, character) in characters.iter().enumerate() {
        let next = characters.get(index + 1).copied();
        if !is_hidden_between(kept.chars().next_back(), *character, next) {
            kept.push(*character);
        }
    }

    Cow::Owned(kept)
}

/// Returns whether `text` contains hidden characters.
pub fn has_hidden(text: &str) -> bool {
    visible(text).len() != text.len()
}

/// Returns whether a JSON text is visible ASCII, and its escapes are those of white space, quotation marks and backslashes.
pub fn is_plain_json(text: &str) -> bool {
    let is_plain = |(at, _)| matches!(text.as_bytes().get(at + 1), Some(b'n' | b'r' | b't' | b'"' | b'\\'));
    text.is_ascii() && !text.contains('\u{7f}') && text.match_indices('\\').all(is_plain)
}

/// Returns another text in place of one; `None` if the text stays as it is.
type Edit<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Removes the hidden characters from every string and every field name in `value`.
///
/// Identifiers and file names get U+FFFD in place of each hidden character instead: without it, they could be equal to
/// the name of something else.
pub fn remove_hidden(value: &mut Value) {
    edit_visible(value, &|_| None);
}

/// Does the same, and edits what is left of each string and each field name.
pub fn edit_visible(value: &mut Value, edit: Edit<'_>) {
    match value {
        Value::String(text) => edit_text(text, false, edit),
        Value::Array(items) => items.iter_mut().for_each(|item| edit_visible(item, edit)),
        Value::Object(fields) => edit_fields(fields, edit),
        _ => {}
    }
}

/// Removes the hidden characters from the names and values of an object.
pub fn remove_hidden_from_fields(fields: &mut Fields) {
    edit_fields(fields, &|_| None);
}

fn edit_fields(fields: &mut Fields, edit: Edit<'_>) {
    if fields.keys().any(|name| has_hidden(name) || edit(name).is_some()) {
        *fields = with_edited_names(std::mem::take(fields), edit);
    }
    for (name, value) in fields {
        match value {
            Value::String(text) => edit_text(text, is_identifier(name), edit),
            value => edit_visible(value, edit),
        }
    }
}

fn edit_text(text: &mut String, is_identifier: bool, edit: Edit<'_>) {
    if is_identifier {
        replace_hidden(text);
    } else if let Cow::Owned(kept) = visible(text) {
        *text = kept;
    }
    if let Some(edited) = edit(text) {
        *text = edited;
    }
}

/// Replaces each hidden character by U+FFFD.
pub(super) fn replace_hidden(text: &mut String) {
    if has_hidden(text) {
        *text = text
            .chars()
            .map(|character| if is_suspect(character) { REPLACEMENT } else { character })
            .collect();
    }
}

/// Returns whether the field `name` identifies something that another call names.
fn is_identifier(name: &str) -> bool {
    matches!(name, "id" | "filename" | "file_ref" | "url") || name.ends_with("_id")
}

/// Returns the fields with visible, edited names. A name that is then equal to another one gets U+FFFD at its end, so that no
/// value is lost.
fn with_edited_names(fields: Fields, edit: Edit<'_>) -> Fields {
    let mut renamed = Fields::new();
    for (mut name, value) in fields {
        edit_text(&mut name, false, edit);
        while renamed.contains_key(&name) {
            name.push(REPLACEMENT);
        }
        renamed.insert(name, value);
    }
    renamed
}

/// Returns whether `character` is hidden after `previous`, the last visible character, and before `next`.
fn is_hidden_between(previous: Option<char>, character: char, next: Option<char>) -> bool {
    match character {
        // Zero-width joiners connect the parts of an emoji and the letters of some scripts.
        '\u{200C}' | '\u{200D}' => {
            !(previous.is_some_and(is_joined_to_next) && next.is_some_and(is_joined_to_previous))
        }
        // These selectors choose between the black and the coloured form of a character.
        '\u{FE0E}' | '\u{FE0F}' => !previous.is_some_and(|previous| needs_selector(previous, next)),
        character => is_suspect(character),
    }
}

/// Returns whether a zero-width joiner is meaningful after `character`.
fn is_joined_to_next(character: char) -> bool {
    is_emoji(character) || is_emoji_part(character) || is_joining_letter(character)
}

/// Returns whether a zero-width joiner is meaningful before `character`. No part of an emoji follows a joiner.
fn is_joined_to_previous(character: char) -> bool {
    is_emoji(character) || is_joining_letter(character)
}

/// Returns whether a variation selector after `character` changes how it looks. `next` follows the selector.
fn needs_selector(character: char, next: Option<char>) -> bool {
    // A digit with the selector and an enclosing keycap is one emoji.
    let is_keycap = matches!(character, '0'..='9' | '#' | '*') && next == Some('\u{20E3}');
    is_emoji(character) || is_keycap
}

/// Returns whether `character` may be an emoji. The blocks contain some other symbols, where a selector does no harm.
fn is_emoji(character: char) -> bool {
    matches!(character,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21FF}'
        | '\u{2300}'..='\u{23FF}' | '\u{24C2}' | '\u{25A0}'..='\u{27BF}' | '\u{2900}'..='\u{297F}'
        | '\u{2B00}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

/// Returns whether `character` occurs inside emoji that are joined.
fn is_emoji_part(character: char) -> bool {
    matches!(character, '\u{FE0E}' | '\u{FE0F}' | '\u{20E3}')
}

/// Returns whether `character` belongs to a script in which joiners change the form of letters: Arabic, Syriac, N'Ko,
/// the scripts of India, Sinhala, Myanmar, Khmer and Mongolian.
fn is_joining_letter(character: char) -> bool {
    matches!(character,
        '\u{0600}'..='\u{07FF}' | '\u{0840}'..='\u{0DFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{18AF}'
        | '\u{A840}'..='\u{A87F}' | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
}

fn is_visible_ascii(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

/// Returns whether a character is hidden in most places: control characters except line breaks and tabs, marks of the
/// writing direction, characters without width or ink, variation selectors, and tag characters, which are an invisible
/// copy of ASCII.
fn is_suspect(character: char) -> bool {
    let is_white_space = matches!(character, '\n' | '\r' | '\t');
    let is_direction_mark = matches!(character, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let has_no_width = matches!(character, '\u{00AD}' | '\u{034F}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2065}' | '\u{206A}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}');
    let has_no_ink = matches!(
        character,
        '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{2800}' | '\u{3164}' | '\u{FFA0}'
    );
    let is_selector = matches!(character, '\u{FE00}'..='\u{FE0F}');
    // Tag characters, and the supplementary variation selectors.
    let is_tag = matches!(character, '\u{E0000}'..='\u{E0FFF}');
    // Line and paragraph separators break lines where a reader expects none.
    let is_separator = matches!(character, '\u{2028}' | '\u{2029}');

    (character.is_control() && !is_white_space)
        || is_direction_mark
        || has_no_width
        || has_no_ink
        || is_selector
        || is_tag
        || is_separator
}

#[cfg(test)]
mod tests {
    use crate::random_inputs::{check_values, value};
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_characters_are_removed_and_the_needed_ones_stay() {
        let cases = [
            ("a\u{200B}b\u{202E}c\u{E0041}d\u{7}\u{1b}[31me", "abcd[31me"),
            ("a\u{34F}b\u{115F}c\u{3164}d\u{2800}e\u{FE0F}f\u{E0100}g\u{2028}h", "abcdefgh"),
            ("two\nlines\tand a \u{200D} joiner", "two\nlines\tand a  joiner"),
            ("\u{1F469}\u{200D}\u{FE0F}!", "\u{1F469}\u{FE0F}!"),
            (
                "\u{1F469}\u{200D}\u{1F680} \u{2764}\u{FE0F}\u{200D}\u{1F525}",
                "\u{1F469}\u{200D}\u{1F680} \u{2764}\u{FE0F}\u{200D}\u{1F525}",
            ),
            ("1\u{FE0F}\u{20E3} and 1\u{FE0F}2", "1\u{FE0F}\u{20E3} and 12"),
            (
                "\u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645}",
                "\u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645}",
            ),
            ("\u{915}\u{94D}\u{200D}\u{937}", "\u{915}\u{94D}\u{200D}\u{937}"),
            ("svc\u{200D}_abc", "svc_abc"),
        ];

        for (text, expected) in cases {
            assert_eq!(visible(text), expected, "{text:?}");
        }
    }

    #[test]
    fn hidden_characters_are_removed_at_every_depth_and_from_names() {
        for (value, expected) in [
            (json!([{"title": "x\u{FEFF}", "count": 1}]), json!([{"title": "x", "count": 1}])),
            (json!({"na\u{200B}me": {"a\u{7}": 1}}), json!({"name": {"a": 1}})),
            (
                json!({"a": 1, "a\u{200B}": 2, "\u{200B}a": 3}),
                json!({"a": 1, "a\u{FFFD}": 2, "a\u{FFFD}\u{FFFD}": 3}),
            ),
            // An identifier does not become that of something else.
            (
                json!({"filename": "a\u{200B}.log", "run_id": "r\u{7}"}),
                json!({"filename": "a\u{FFFD}.log", "run_id": "r\u{FFFD}"}),
            ),
        ] {
            let mut cleaned = value.clone();
            remove_hidden(&mut cleaned);
            assert_eq!(cleaned, expected, "{value}");
        }
    }

    /// Returns how many values `value` contains, itself included.
    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(fields) => fields.values().map(count).sum(),
            _ => 0,
        }
    }

    #[test]
    fn hidden_characters_are_removed_and_no_value_is_lost() {
        check_values(&value(), 1, |value| {
            let mut cleaned = value.clone();
            remove_hidden(&mut cleaned);
            assert_eq!(count(&cleaned), count(&value));

            let mut again = cleaned.clone();
            remove_hidden(&mut again);
            assert_eq!(again, cleaned);
        });
    }
}
