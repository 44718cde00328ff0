//! Text of others: characters that a person cannot see, text that is too long, and names that resemble each other.
//!
//! Bug titles and reports are written by people and read by models (`design.md` 5).

use serde_json::Value;

/// Cleans every string below `value`.
pub fn clean(value: &mut Value) {
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

/// The first 80 characters of a name. Callers may send names of any length.
pub fn shown_name(name: &str) -> String {
    const LONGEST_NAME: usize = 80;
    name.chars().take(LONGEST_NAME).collect()
}

/// The candidate most like `name`, if any is like it at all. One that ends in the other, such as `run_id` in
/// `multiplayer_run_id`, is most like it.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const ALIKE: f64 = 0.72;

    let ends_in = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('_'));
    let likeness = |candidate: &str| {
        let same_end = ends_in(name, candidate) || ends_in(candidate, name);
        if same_end { 1.0 } else { strsim::jaro_winkler(name, candidate) }
    };

    candidates
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, candidate)| candidate)
}
