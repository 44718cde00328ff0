//! A name that is searched for, and how well the names of records match it.

use crate::text::first_characters;

/// Similarity from which on a record is shown if no record has the name; 1 means equal.
const MIN_SIMILARITY: f64 = 0.8;

/// Similarity of a name that contains the other one.
const CONTAINED: f64 = 0.95;

/// Longest name whose similarity is computed, in characters. The time grows with the product of both lengths.
const MAX_COMPARED_CHARACTERS: usize = 100;

/// A name that is searched for.
#[derive(Clone, Debug)]
pub(super) struct AskedName {
    /// The name as the caller wrote it.
    pub(super) text: String,
    normal: String,
}

impl AskedName {
    pub(super) fn new(text: String) -> Self {
        Self { normal: normalize(&text), text }
    }

    /// Returns whether `name` is this name. Letter case and the amount of white space do not matter.
    pub(super) fn equals(&self, name: &str) -> bool {
        normalize(name) == self.normal
    }

    /// Returns the similarity of `name`, from 0 to 1; `None` if it is too low.
    pub(super) fn similarity(&self, name: &str) -> Option<f64> {
        let name = normalize(first_characters(name, MAX_COMPARED_CHARACTERS));
        let asked = first_characters(&self.normal, MAX_COMPARED_CHARACTERS);
        if name.is_empty() || asked.is_empty() {
            return None;
        }

        let has_words = asked.split(' ').all(|word| name.contains(word));
        let similarity = if has_words || asked.contains(&name) {
            // Of several names that contain all words, the shortest comes nearest.
            CONTAINED + (1.0 - CONTAINED) * strsim::normalized_levenshtein(asked, &name)
        } else {
            strsim::normalized_damerau_levenshtein(asked, &name).max(strsim::jaro_winkler(asked, &name) - 0.1)
        };

        (similarity >= MIN_SIMILARITY).then_some(similarity)
    }
}

/// Returns `text` in lower case, with one space between its words.
fn normalize(text: &str) -> String {
    text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::AskedName;

    #[test]
    fn letter_case_and_white_space_do_not_matter() {
        let name = AskedName::new(" Pause  and RESUME ".to_owned());

        assert!(name.equals("pause and resume"));
        assert!(!name.equals("pause and resumes"));
    }

    #[test]
    fn misspelled_and_partial_names_are_similar_and_others_are_not() {
        for (asked, name, is_similar) in [
            ("log in", "Login", true),
            ("Windows", "Windows PC", true),
            ("1.4.2", "Arena 1.4.2 (android)", true),
            ("resume pause", "Pause and resume", true),
            ("Puase and resume", "Pause and resume", true),
            ("the Smoke plan", "Smoke", true),
            ("Login", &format!("Login {}", "y ".repeat(1_000_000)), true),
            ("Login", "Logout of the shop", false),
            ("Nightly", "Smoke", false),
            ("", "Smoke", false),
        ] {
            let similarity = AskedName::new(asked.to_owned()).similarity(name);
            assert_eq!(similarity.is_some(), is_similar, "{asked:?} {name:?} {similarity:?}");
        }
    }

    #[test]
    fn the_name_with_the_fewest_other_words_comes_nearest() {
        let asked = AskedName::new("windows".to_owned());
        assert!(asked.similarity("Windows PC") > asked.similarity("Windows PC in the second laboratory"));
    }
}
