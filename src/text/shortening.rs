//! Shortening of text.

use super::visible;

/// Maximum length of a name in a message, in characters. Callers may send names of any length.
const MAX_NAME_CHARACTERS: usize = 80;

/// Returns `text` without hidden characters, in one line of at most `max_characters` characters. A text that was cut
/// ends in `…`.
pub fn shorten_line(text: &str, max_characters: usize) -> String {
    let line = single_line(text);
    if line.chars().count() <= max_characters {
        return line;
    }

    line.chars().take(max_characters.saturating_sub(1)).chain(['…']).collect()
}

/// Returns `text` without hidden characters in one line, with one space between words.
pub fn single_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the first 80 characters of a name.
pub fn shorten_name(name: &str) -> String {
    name.chars().take(MAX_NAME_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_one_line_of_limited_length() {
        for (text, max_characters, expected) in [
            ("  two\n\twords ", 20, "two words"),
            ("exactly", 7, "exactly"),
            ("too long", 7, "too lo…"),
            ("hid\u{200B}den", 6, "hidden"),
            ("", 3, ""),
        ] {
            assert_eq!(shorten_line(text, max_characters), expected, "{text:?}");
        }
    }
}
