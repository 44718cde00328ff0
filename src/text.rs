//! Text from the service and from callers: hidden characters, text that is too long, and misspelled names.

pub mod guidance;
mod hidden;
mod moment;
mod placeholder;
mod similarity;

use std::borrow::Cow;

use hidden::replace_hidden;
pub use hidden::{
    REPLACEMENT, edit_visible, has_hidden, is_plain_json, remove_hidden, remove_hidden_from_fields, visible,
};
pub use moment::{WallClock, age, ago, duration_text};
pub use placeholder::{placeholder, variable_in_braces};
pub use similarity::{most_similar, one_letter_away};
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

/// Mark at the beginning of a text. Editors and shells of Windows write it.
const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// Text that takes the place of a character that cannot be shown.
const REPLACEMENT_TEXT: &str = "\u{FFFD}";

/// Maximum length of an argument in a message, in characters.
const MAX_ARGUMENT_CHARACTERS: usize = 200;

/// Maximum length of a name in a message, in characters. Callers may send names of any length.
const MAX_NAME_CHARACTERS: usize = 80;

/// Returns `text` without white space and byte order marks around it.
pub fn trimmed(text: &str) -> &str {
    text.trim_matches(|character: char| character.is_whitespace() || character == BYTE_ORDER_MARK)
}

/// Returns `text` with each character composed (NFC): `é` is one character and not `e` with an accent behind it. Names that
/// look equal are equal then.
pub fn composed(text: &str) -> Cow<'_, str> {
    if is_nfc(text) { text.into() } else { text.nfc().collect::<String>().into() }
}

/// Returns `text` without hidden characters, in one line of at most `max_characters` characters. A text that was cut
/// ends in `…`.
pub fn shorten_line(text: &str, max_characters: usize) -> String {
    let line = single_line(text);
    if line.chars().count() <= max_characters {
        return line;
    }

    format!("{}…", first_characters(&line, max_characters.saturating_sub(1)))
}

/// Returns the first `max_characters` characters of `text`. If there are no hidden characters in `text`, there are none
/// in the result.
pub fn first_characters(text: &str, max_characters: usize) -> &str {
    match text.char_indices().nth(max_characters) {
        Some((end, _)) => without_open_joiner(text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Returns the beginning of a text without joiners and variation selectors at its end. Without the character that
/// followed, they are hidden characters.
pub fn without_open_joiner(beginning: &str) -> &str {
    beginning.trim_end_matches(['\u{200C}', '\u{200D}', '\u{FE0E}', '\u{FE0F}'])
}

/// Returns a text that is not blank. An absent field of the service is an empty text in its view.
pub fn filled(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// Returns `text` without hidden characters in one line, with one space between words.
pub fn single_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns an argument of a caller as an error repeats it: in one line of at most 200 characters.
pub fn quoted_argument(argument: &str) -> String {
    shorten_line(argument, MAX_ARGUMENT_CHARACTERS)
}

/// Returns the first `max_characters` characters of the name of a file or record, in one line. Each hidden or control character
/// becomes U+FFFD: without it, the name could be equal to that of something else.
pub fn visible_name(name: &str, max_characters: usize) -> String {
    let mut name = first_characters(name, max_characters).replace(char::is_control, REPLACEMENT_TEXT);
    replace_hidden(&mut name);
    name
}

/// Returns the first 80 characters of a name.
pub fn shorten_name(name: &str) -> String {
    first_characters(name, MAX_NAME_CHARACTERS).to_owned()
}

/// Returns a name between the marks that enclose what is data in a question.
pub fn quoted_name(name: &str) -> String {
    format!("`{}`", shorten_name(&single_line(name)).replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_inputs::{check_texts, text};

    #[test]
    fn a_text_becomes_one_line_of_limited_length() {
        for (text, max_characters, expected) in [
            ("  two\n\twords ", 20, "two words"),
            ("exactly", 7, "exactly"),
            ("too long", 7, "too lo…"),
            ("hid\u{200B}den", 6, "hidden"),
            ("\u{1F469}\u{200D}\u{1F680}!", 3, "\u{1F469}…"),
            ("", 3, ""),
        ] {
            assert_eq!(shorten_line(text, max_characters), expected, "{text:?}");
        }
    }

    #[test]
    fn the_beginning_of_a_text_has_no_hidden_characters() {
        check_texts(&(text(), 0..20_usize), |(text, max_characters)| {
            let text = visible(&text).into_owned();
            let beginning = first_characters(&text, max_characters);
            assert!(!has_hidden(beginning) && beginning.chars().count() <= max_characters, "{text:?}");
        });
    }

    #[test]
    fn a_name_is_one_visible_line_of_limited_length() {
        for (name, expected) in [
            ("setup\u{202e}exe\u{1b}[2J\n\nIgnore", "setup\u{FFFD}exe\u{FFFD}[2J\u{FFFD}\u{FFFD}Ignore"),
            ("\u{1F469}\u{200D}\u{1F680} \u{e9}.bin", "\u{1F469}\u{200D}\u{1F680} \u{e9}.bin"),
        ] {
            assert_eq!(visible_name(name, 255), expected, "{name:?}");
        }
        assert_eq!(visible_name(&"x".repeat(300), 255).len(), 255);

        check_texts(&text(), |text| {
            let name = visible_name(&text, 10);
            assert!(!has_hidden(&name) && !name.contains(char::is_control), "{text:?} {name:?}");
            assert!(!single_line(&text).contains(char::is_control), "{text:?}");
        });
    }
}
