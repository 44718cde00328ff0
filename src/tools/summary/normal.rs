//! Texts of failures without what differs between runs, so that equal failures have equal texts.

/// Shortest id that is removed from a text, in bytes. A shorter id may be part of a word.
const SHORTEST_ID: usize = 6;

/// Stands for a number, a time or an id.
const PLACEHOLDER: &str = "#";

/// Returns the words of `report` in lower case, with one placeholder for numbers, times, coordinates and ids, because
/// these differ between runs. `ids` are replaced wherever they occur.
pub(super) fn normalize(report: &str, ids: &[&str]) -> String {
    let mut text = report.to_lowercase();
    for id in ids.iter().filter(|id| id.len() >= SHORTEST_ID) {
        text = text.replace(&id.to_lowercase(), PLACEHOLDER);
    }

    let mut words: Vec<&str> = Vec::new();
    for chunk in text.split(|one: char| !(one.is_alphanumeric() || one == '#' || is_joint(one))) {
        if is_measure(chunk) {
            push_word(&mut words, PLACEHOLDER);
        } else {
            chunk
                .split(is_joint)
                .filter(|part| !part.is_empty())
                .for_each(|part| push_word(&mut words, part));
        }
    }

    words.join(" ")
}

fn is_joint(one: char) -> bool {
    matches!(one, '-' | '_' | '.' | ':' | ',' | '/' | '+')
}

/// Adds a word. Consecutive numbers become one placeholder, because coordinates and times have many notations.
fn push_word<'a>(words: &mut Vec<&'a str>, word: &'a str) {
    let is_variable = |one: char| one.is_numeric() || one == '#';
    let word = if word.chars().any(is_variable) { PLACEHOLDER } else { word };
    if word != PLACEHOLDER || words.last() != Some(&PLACEHOLDER) {
        words.push(word);
    }
}

/// Returns whether a chunk is a number, a time, or an id of hexadecimal digits.
fn is_measure(chunk: &str) -> bool {
    let is_digit = |one: char| one.is_numeric() || one == '#';
    let is_part = |one: char| is_digit(one) || is_joint(one) || matches!(one, 'a'..='f' | 't' | 'z');
    chunk.chars().any(is_digit) && chunk.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::normalize;

    const RUN: &str = "hui4d9ilmby";
    const JOB: &str = "3126ec62-851c-4a5f-bce1-dd354c0912de";

    fn are_equal(one: &str, other: &str) -> bool {
        let other_ids = ["brjbojnejvn", "deadbeef-cafe-abba-face-feedfacedead"];
        normalize(one, &[RUN, JOB]) == normalize(other, &other_ids)
    }

    #[test]
    fn texts_that_differ_in_numbers_times_ids_and_letter_case_are_equal() {
        let cases = [
            ("Waited 30 s for the door", "waited 7 s for the DOOR"),
            ("Frame 1,204 of 3.5 million", "Frame 9 of 12.25 million"),
            ("Stuck at -3 health", "Stuck at 250 health"),
            ("Tapped \"120, 340\" in vain", "Tapped \"7,9\" in vain"),
            ("Tapped (120, 340) in vain", "Tapped (0.5;0.25) in vain"),
            ("At 09:15:00 it closed", "At 2026-03-02T10:00:00+00:00 it closed"),
            ("At 2026-03-02T09:15:00.123Z it closed", "At 10:00 it closed"),
            (
                "Session 3126ec62-851c-4a5f-bce1-dd354c0912de ended",
                "Session 00aa11bb-0000-4000-8000-abcdefabcdef ended",
            ),
            ("Player k3x9 left", "Player 77 left"),
            ("Run hui4d9ilmby hung", "Run brjbojnejvn hung"),
            (
                "Job 3126EC62-851C-4A5F-BCE1-DD354C0912DE hung",
                "Job deadbeef-cafe-abba-face-feedfacedead hung",
            ),
            ("  The   door\nstayed closed ", "The door stayed closed."),
            ("Level ١٢ did not load", "Level 12 did not load"),
            ("", " . "),
        ];

        for (one, other) in cases {
            assert!(are_equal(one, other), "{one} / {other}: {}", normalize(one, &[RUN, JOB]));
        }
    }

    #[test]
    fn texts_with_different_words_are_different() {
        let cases = [
            ("The door stayed closed", "The door stayed open"),
            ("The gate-1 is shut", "The door-1 is shut"),
            ("Tür 5 klemmt", "Tor 5 klemmt"),
            ("5 doors are closed", "doors are closed"),
            ("A face is missing", "A bead is missing"),
            ("门打不开", "窗打不开"),
        ];

        for (one, other) in cases {
            assert!(!are_equal(one, other), "{one} / {other}: {}", normalize(one, &[]));
        }
    }

    #[test]
    fn a_short_id_is_not_removed_from_words() {
        assert_eq!(normalize("The door", &["door", ""]), "the door");
    }
}
