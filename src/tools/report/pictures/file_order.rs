//! The order of the screenshots of a player, and the steps that their names contain.

use std::time::SystemTime;

use crate::tools::download::ListedFile;

/// Words with which the name of the last screenshot may consist.
const END_WORDS: [&str; 3] = ["end", "final", "last"];

/// Returns whether a file is a PNG or a JPEG according to its name.
pub(super) fn is_picture(file: &ListedFile) -> bool {
    let extension = file.filename.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| ["png", "jpg", "jpeg"].contains(&extension.as_str()))
}

/// Returns the key that sorts the screenshots of a player, the last one at the end: by the time of the upload, then by a
/// name such as `end`, then by the numbers in the name.
pub(super) fn age(file: &ListedFile) -> (Option<SystemTime>, bool, Vec<(String, u64)>) {
    let (name, _) = file.filename.rsplit_once('.').unwrap_or((&file.filename, ""));
    let last = name.rsplit('/').next().unwrap_or_default();
    let is_end = END_WORDS.iter().any(|word| last.eq_ignore_ascii_case(word));

    (file.uploaded, is_end, numbered_parts(name))
}

/// Splits a name into texts with the number after each, so that `turn-10` follows `turn-9`.
fn numbered_parts(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;

    while !rest.is_empty() {
        let (text, tail) = split_where(rest, |character| character.is_ascii_digit());
        let (digits, tail) = split_where(tail, |character| !character.is_ascii_digit());
        parts.push((text.to_owned(), digits.parse().unwrap_or(u64::MAX)));
        rest = tail;
    }

    parts
}

/// Returns the number of the step that a name contains, as in `step-2.png`, `Step_02/turn 7.png` or `steps/2.png`.
pub(super) fn step_number(filename: &str) -> Option<u64> {
    let name = filename.to_ascii_lowercase();
    name.split("step").skip(1).find_map(|rest| {
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let digits = rest.strip_prefix(['-', '_', ' ', '/', '.']).unwrap_or(rest);
        split_where(digits, |character| !character.is_ascii_digit()).0.parse().ok()
    })
}

/// Splits a text before the first character that `is_end` accepts.
fn split_where(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::{ListedFile, age, is_picture, step_number};

    fn file(filename: &str) -> ListedFile {
        ListedFile { filename: filename.to_owned(), url: None, size: None, uploaded: None }
    }

    #[test]
    fn a_step_number_is_found_in_a_name() {
        for (name, expected) in [
            ("screenshots/step-2.png", Some(2)),
            ("Step_02/turn 7.png", Some(2)),
            ("steps/12.jpg", Some(12)),
            ("footstep_sound/step3.png", Some(3)),
            ("screenshots/end.png", None),
            ("stepping-2.png", None),
            ("step-99999999999999999999999.png", None),
        ] {
            assert_eq!(step_number(name), expected, "{name}");
        }
    }

    #[test]
    fn screenshots_are_sorted_by_number_and_the_named_end_is_last() {
        let mut files = ["end.png", "turn-10.png", "turn-9.png", "a/turn-2.png"].map(file);
        files.sort_by_cached_key(age);
        let names = files.each_ref().map(|file| file.filename.as_str());

        assert_eq!(names, ["a/turn-2.png", "turn-9.png", "turn-10.png", "end.png"]);
    }

    #[test]
    fn the_extension_tells_whether_a_file_is_a_picture() {
        for (name, expected) in
            [("a.PNG", true), ("b/c.jpeg", true), ("d.gif", false), ("png", false), ("e.png.txt", false)]
        {
            assert_eq!(is_picture(&file(name)), expected, "{name}");
        }
    }
}
