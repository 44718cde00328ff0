//! Text from the service and from callers: hidden characters, text that is too long, and misspelled names.

mod hidden;
mod similarity;

pub use hidden::{REPLACEMENT, has_hidden, remove_hidden, visible};
pub use similarity::{misspelled, most_similar};

/// Maximum length of a name in a message, in characters. Callers may send names of any length.
const MAX_NAME_CHARACTERS: usize = 80;

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

/// Returns `text` without hidden characters in one line, with one space between words.
pub fn single_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the first 80 characters of a name.
pub fn shorten_name(name: &str) -> String {
    first_characters(name, MAX_NAME_CHARACTERS).to_owned()
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
    fn a_single_line_has_no_control_characters() {
        check_texts(&text(), |text| assert!(!single_line(&text).contains(char::is_control), "{text:?}"));
    }
}
