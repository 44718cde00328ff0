//! The known name that a misspelled name most likely stands for.

/// Similarity from which on a name is suggested; 1 means equal.
const MIN_SIMILARITY: f64 = 0.72;

/// Longest name that is compared, in characters. A comparison takes time that grows with the length, and a long text is
/// no misspelled name.
const MAX_NAME_CHARS: usize = 80;

/// Shortest name that is compared as a whole, in characters.
const MIN_COMPARED_CHARS: usize = 5;

/// Returns the candidate that is most similar to `name`, or `None` if no candidate is similar.
pub fn most_similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if is_long(name) {
        return None;
    }

    candidates
        .map(|candidate| (similarity(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, candidate)| candidate)
}

/// Returns the candidate from which `name` differs in one letter: missing, added, wrong or exchanged. Shorter names than 5
/// letters differ by chance.
pub fn one_letter_away<'a>(name: &str, mut candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let may_be_meant = name.chars().nth(MIN_COMPARED_CHARS - 1).is_some() && !is_long(name);
    candidates.find(|candidate| may_be_meant && strsim::osa_distance(name, candidate) == 1)
}

fn is_long(name: &str) -> bool {
    name.chars().nth(MAX_NAME_CHARS).is_some()
}

/// Returns the similarity of two names, from 0 to 1.
fn similarity(one: &str, other: &str) -> f64 {
    // `run_id` stands for `multiplayer_run_id` more likely than for any other name.
    if ends_in_word(one, other) || ends_in_word(other, one) {
        return 1.0;
    }

    strsim::jaro_winkler(one, other)
}

fn ends_in_word(long: &str, short: &str) -> bool {
    long.strip_suffix(short).is_some_and(|rest| rest.ends_with('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_5_letters_may_differ_in_one() {
        let known = ["name", "test_items", "steps"];

        for (name, expected) in [
            ("test_item", Some("test_items")),
            ("test_itmes", Some("test_items")),
            ("stepps", Some("steps")),
            ("stesp", Some("steps")),
            ("step", None),
            ("Name", None),
            ("testItems", None),
            ("steps", None),
            ("", None),
        ] {
            assert_eq!(one_letter_away(name, known.into_iter()), expected, "{name}");
        }
    }

    #[test]
    fn a_long_text_is_no_misspelled_name() {
        let long = |length| "x".repeat(length);
        for (length, expected) in [(MAX_NAME_CHARS, true), (MAX_NAME_CHARS + 1, false)] {
            let (name, candidate) = (long(length), long(length - 1));
            let candidates = || [candidate.as_str()].into_iter();
            assert_eq!(most_similar(&name, candidates()).is_some(), expected, "{length}");
            assert_eq!(one_letter_away(&name, candidates()).is_some(), expected, "{length}");
        }
    }

    #[test]
    fn the_most_similar_name_is_found() {
        let candidates = ["job_ids", "multiplayer_run_id", "project_id"];

        for (name, expected) in [
            ("jobs_id", Some("job_ids")),
            ("run_id", Some("multiplayer_run_id")),
            ("projectid", Some("project_id")),
            ("zzz", None),
            ("", None),
        ] {
            assert_eq!(most_similar(name, candidates.into_iter()), expected, "{name}");
        }
    }
}
