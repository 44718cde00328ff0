//! The number of characters that text takes in JSON.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_that_of_the_serialized_text() {
        let every_ascii: String = (0..=127_u8).map(char::from).collect();
        for text in ["", "é\u{1f469}", every_ascii.as_str()] {
            let json = serde_json::to_string(text).expect("JSON");
            assert_eq!(text_length(text) + 2, json.chars().count(), "{text:?}");
        }
    }
}
