//! Takes out of the service's texts what people cannot see: control characters, and characters that reverse or hide
//! text. Bug titles and reports are written by people and read by models (`design.md` 5).

use serde_json::Value;

/// Cleans every string below `value`.
pub(crate) fn clean(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().any(is_hidden) => text.retain(|one| !is_hidden(one)),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        _ => {}
    }
}

/// A text of the service in one line of at most `most` characters, without what nobody sees.
pub fn shortened(text: &str, most: usize) -> String {
    let visible: String = text.chars().filter(|one| !is_hidden(*one)).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Whether nobody sees the character though a model reads it. Line breaks and tabs stay; so do the joiners that
/// scripts and emoji need.
pub fn is_hidden(one: char) -> bool {
    let is_text = matches!(one, '\n' | '\r' | '\t');
    let is_bidirectional = matches!(one, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let is_invisible = matches!(one, '\u{00AD}' | '\u{180E}' | '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{206A}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}');
    let is_tag = matches!(one, '\u{E0000}'..='\u{E007F}');
    (one.is_control() && !is_text) || is_bidirectional || is_invisible || is_tag
}
