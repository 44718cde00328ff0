//! The known name that a misspelled name most likely stands for.

/// Similarity from which on a name is suggested; 1 means equal.
const MIN_SIMILARITY: f64 = 0.72;

/// Longest name that is compared, in characters. A comparison takes time that grows with the length, and a long text is
/// no misspelled name.
const MAX_NAME_CHARS: usize = 80;

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

/// Returns the candidate of which `name` is a misspelling: one letter is missing, added, wrong or exchanged, or two in
/// a long name, or only letter case and separators differ.
pub fn misspelled<'a>(name: &str, mut candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if is_long(name) {
        return None;
    }

    let letters = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let name = letters(name);
    let most_errors = match name.chars().count() {
        0..=2 => 0,
        3..=7 => 1,
        _ => 2,
    };

    candidates.find(|candidate| strsim::osa_distance(&name, &letters(candidate)) <= most_errors)
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

/// Returns whether `long` ends in `_` and `short`.
fn ends_in_word(long: &str, short: &str) -> bool {
    long.strip_suffix(short).is_some_and(|rest| rest.ends_with('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_name_differs_in_few_letters() {
        let known = ["name", "test_items", "id"];

        for (name, expected) in [
            ("nam", Some("name")),
            ("Name", Some("name")),
            ("nmae", Some("name")),
            ("testItems", Some("test_items")),
            ("test_itms", Some("test_items")),
            ("ids", Some("id")),
            ("notes", None),
            ("test_version", None),
            ("ix", None),
            ("", None),
        ] {
            assert_eq!(misspelled(name, known.into_iter()), expected, "{name}");
        }
    }

    #[test]
    fn a_long_text_is_no_misspelled_name() {
        let long = |length| "x".repeat(length);
        for (length, expected) in [(MAX_NAME_CHARS, true), (MAX_NAME_CHARS + 1, false)] {
            let (name, candidate) = (long(length), long(length - 1));
            assert_eq!(most_similar(&name, [candidate.as_str()].into_iter()).is_some(), expected, "{length}");
            assert_eq!(misspelled(&name, [candidate.as_str()].into_iter()).is_some(), expected, "{length}");
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
