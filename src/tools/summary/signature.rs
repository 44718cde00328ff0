//! Whether two reports tell the same: numbers, ids, times and coordinates differ from run to run, and say nothing.

/// Shortest id that is looked for in a text, in bytes: a shorter one may be a word.
const SHORTEST_ID: usize = 6;

/// The report as words in lower case, without what differs from run to run. `ids` are left out wherever they stand.
pub fn normalised(report: &str, ids: &[&str]) -> String {
    let mut text = report.to_lowercase();
    for id in ids.iter().filter(|id| id.len() >= SHORTEST_ID) {
        text = text.replace(&id.to_lowercase(), "#");
    }

    let mut words: Vec<&str> = Vec::new();
    for chunk in text.split(|one: char| !(one.is_alphanumeric() || one == '#' || is_joint(one))) {
        if is_measure(chunk) {
            push(&mut words, "#");
        } else {
            chunk.split(is_joint).filter(|part| !part.is_empty()).for_each(|part| push(&mut words, part));
        }
    }

    words.join(" ")
}

/// A number, time or id has these inside; a word that has one is two words.
fn is_joint(one: char) -> bool {
    matches!(one, '-' | '_' | '.' | ':' | ',' | '/' | '+')
}

/// Adds a word. Numbers that follow each other are one: coordinates and times are written in many ways.
fn push<'a>(words: &mut Vec<&'a str>, word: &'a str) {
    let differs = |one: char| one.is_numeric() || one == '#';
    let word = if word.chars().any(differs) { "#" } else { word };
    if word != "#" || words.last() != Some(&"#") {
        words.push(word);
    }
}

/// Whether a chunk is a number, a time, or an id of hexadecimal digits.
fn is_measure(chunk: &str) -> bool {
    let is_digit = |one: char| one.is_numeric() || one == '#';
    let is_part = |one: char| is_digit(one) || is_joint(one) || matches!(one, 'a'..='f' | 't' | 'z');
    chunk.chars().any(is_digit) && chunk.chars().all(is_part)
}
