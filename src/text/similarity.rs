//! The known name that a misspelled name most likely stands for.

/// Similarity from which on a name is suggested; 1 means equal.
const MIN_SIMILARITY: f64 = 0.72;

/// Longest name that is compared, in bytes. A comparison takes time that grows with the length, and a long text is no misspelled
/// name.
const MAX_NAME_BYTES: usize = 80;

/// Shortest name of which one letter may be wrong, in characters. Shorter names differ in one letter by chance.
const MIN_NAME_CHARACTERS: usize = 5;

/// Returns the candidate that is most similar to `name`, or `None` if no candidate is similar.
pub fn most_similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let compared = candidates.filter(|_| name.len() <= MAX_NAME_BYTES);
    let rated = compared.map(|candidate| (similarity(name, candidate), candidate));
    let similar = rated.filter(|(similarity, _)| *similarity >= MIN_SIMILARITY);

    similar.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, candidate)| candidate)
}

/// Returns the candidate from which `name` differs in one letter: missing, added, wrong or exchanged.
pub fn one_letter_away<'a>(name: &str, mut candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let is_compared = name.len() <= MAX_NAME_BYTES && name.chars().count() >= MIN_NAME_CHARACTERS;
    candidates.find(|candidate| is_compared && strsim::osa_distance(name, candidate) == 1)
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
