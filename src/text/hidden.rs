//! Hidden characters: a person cannot see them, but a model reads them. People write titles and reports of bugs, and
//! models read them, so that hidden text could carry instructions that no person notices.

use serde_json::Value;

/// Removes the hidden characters from every string in `value`. Names of fields are not changed.
pub fn remove_hidden(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().any(is_hidden) => {
            text.retain(|character| !is_hidden(character));
        }
        Value::Array(items) => items.iter_mut().for_each(remove_hidden),
        Value::Object(fields) => fields.values_mut().for_each(remove_hidden),
        _ => {}
    }
}

/// Returns whether a character is invisible: control characters except line breaks and tabs, marks of the writing
/// direction, zero-width characters, and tag characters. Joiners are not hidden, because scripts and emoji need them.
pub fn is_hidden(character: char) -> bool {
    let is_white_space = matches!(character, '\n' | '\r' | '\t');
    let is_direction_mark = matches!(character, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let is_zero_width = matches!(character, '\u{00AD}' | '\u{180E}' | '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{206A}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}');
    // Tag characters are an invisible copy of ASCII.
    let is_tag = matches!(character, '\u{E0000}'..='\u{E007F}');

    (character.is_control() && !is_white_space) || is_direction_mark || is_zero_width || is_tag
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_characters_are_removed_at_every_depth() {
        for (value, expected) in [
            (json!("a\u{200B}b\u{202E}c\u{E0041}d\u{0007}"), json!("abcd")),
            (json!("two\nlines\tand a \u{200D} joiner"), json!("two\nlines\tand a \u{200D} joiner")),
            (json!([{"title": "x\u{FEFF}", "count": 1}]), json!([{"title": "x", "count": 1}])),
        ] {
            let mut cleaned = value.clone();
            remove_hidden(&mut cleaned);
            assert_eq!(cleaned, expected, "{value}");
        }
    }
}
