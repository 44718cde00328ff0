//! How well the names of records match the names that are searched for.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{FoundRecord, NameMatch, NameResult, NamedRecord, RecordKind};
use crate::text::{composed, first_characters};

/// Largest number of similar records for a name.
const MAX_SIMILAR: usize = 5;

/// Similarity from which on a record is shown if no record has the name; 1 means equal.
const MIN_SIMILARITY: f64 = 0.8;

/// Similarity of a name that contains the other one.
const CONTAINED: f64 = 0.95;

/// Longest name whose similarity is computed, in characters. The time grows with the product of both lengths.
const MAX_COMPARED_CHARACTERS: usize = 100;

/// Returns whether a record of the list of `kind` has this name. Letter case and the amount of white space do not
/// matter.
pub fn is_named(kind: RecordKind, record: &Value, name: &str) -> bool {
    let asked = AskedName::new(name.to_owned());
    kind.read(record).names().any(|name| asked.equals(name))
}

impl NamedRecord {
    fn names(&self) -> impl Iterator<Item = &str> {
        [self.found.name.as_str(), &self.other_name].into_iter().filter(|name| !name.is_empty())
    }
}

/// The records that match the names so far.
pub(super) struct Matches {
    names: Vec<MatchesOfName>,
    /// Kinds and ids of the records that have the name, because pages shift while a list is read.
    known: BTreeSet<(usize, RecordKind, String)>,
}

struct MatchesOfName {
    asked: AskedName,
    exact: Vec<FoundRecord>,
    /// The records that differ in letter case only.
    case: Vec<FoundRecord>,
    /// The most similar records, the nearest first.
    similar: Vec<(f64, FoundRecord)>,
}

impl Matches {
    pub(super) fn new(names: Vec<String>) -> Self {
        let empty = |name| MatchesOfName {
            asked: AskedName::new(name),
            exact: Vec::new(),
            case: Vec::new(),
            similar: Vec::new(),
        };
        Self { names: names.into_iter().map(empty).collect(), known: BTreeSet::new() }
    }

    /// Adds a record if it has an id and matches a name.
    pub(super) fn add(&mut self, record: &NamedRecord) {
        let found = &record.found;
        if found.id.is_empty() {
            return;
        }

        for (index, matches) in self.names.iter_mut().enumerate() {
            let asked = &matches.asked;
            let own: Vec<_> = std::iter::once(found.id.as_str()).chain(record.names()).collect();
            if own.iter().any(|name| asked.equals(name)) {
                let is_exact = own.iter().any(|name| asked.is_spelled(name));
                if self.known.insert((index, found.kind, found.id.to_ascii_lowercase())) {
                    let list = if is_exact { &mut matches.exact } else { &mut matches.case };
                    list.push(found.clone());
                }
            } else if matches.exact.is_empty() && matches.case.is_empty() {
                let similarity = record.names().filter_map(|name| asked.similarity(name));
                if let Some(similarity) = similarity.max_by(f64::total_cmp) {
                    matches.add_similar(similarity, found);
                }
            }
        }
    }

    pub(super) fn into_results(self) -> Vec<NameResult> {
        self.names.into_iter().map(MatchesOfName::into_result).collect()
    }
}

impl MatchesOfName {
    fn add_similar(&mut self, similarity: f64, found: &FoundRecord) {
        let is_same = |(_, other): &(f64, FoundRecord)| other.kind == found.kind && other.id == found.id;
        if self.similar.iter().any(is_same) {
            return;
        }

        self.similar.push((similarity, found.clone()));
        self.similar.sort_by(|(one, record), (other, other_record)| {
            is_archived(record).cmp(&is_archived(other_record)).then(other.total_cmp(one))
        });
        self.similar.truncate(MAX_SIMILAR);
    }

    fn into_result(self) -> NameResult {
        let Self { asked, mut exact, mut case, similar } = self;
        for list in [&mut exact, &mut case] {
            list.sort_by_cached_key(|record| (record.kind, is_archived(record), record.id.clone()));
        }

        let (r#match, records) = if !exact.is_empty() {
            for record in &mut case {
                record.r#match = Some(NameMatch::Case);
            }
            exact.extend(case);
            (NameMatch::Exact, exact)
        } else if !case.is_empty() {
            (NameMatch::Case, case)
        } else if !similar.is_empty() {
            (NameMatch::Similar, similar.into_iter().map(|(_, record)| record).collect())
        } else {
            (NameMatch::None, Vec::new())
        };

        NameResult { name: asked.text, r#match, reason: None, records }
    }
}

/// Returns whether a record is a bug that nobody works on any more. Active bugs come first.
pub(super) fn is_archived(record: &FoundRecord) -> bool {
    let status = record.more.get("status").and_then(Value::as_str);
    record.kind == RecordKind::Bug && status.is_some_and(|status| status.eq_ignore_ascii_case("archived"))
}

/// A name that is searched for.
struct AskedName {
    /// The name as the caller wrote it.
    text: String,
    normal: String,
}

impl AskedName {
    fn new(text: String) -> Self {
        Self { normal: normalize(&text), text }
    }

    /// Returns whether `name` is this name. Letter case and the amount of white space do not matter.
    fn equals(&self, name: &str) -> bool {
        normalize(name) == self.normal
    }

    /// Returns whether `name` has the same letters in the same case. The amount of white space does not matter.
    fn is_spelled(&self, name: &str) -> bool {
        composed(name).split_whitespace().eq(composed(&self.text).split_whitespace())
    }

    /// Returns the similarity of `name`, from 0 to 1; `None` if it is too low.
    fn similarity(&self, name: &str) -> Option<f64> {
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

/// Returns `text` in lower case, with composed characters and one space between its words.
fn normalize(text: &str) -> String {
    composed(text).split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(name: &str, records: &[(RecordKind, Value)]) -> NameResult {
        let mut matches = Matches::new(vec![name.to_owned()]);
        for (kind, record) in records {
            matches.add(&kind.read(record));
        }
        matches.into_results().remove(0)
    }

    fn ids(result: &NameResult) -> Vec<&str> {
        result.records.iter().map(|record| record.id.as_str()).collect()
    }

    #[test]
    fn all_records_with_the_name_are_found_each_once_and_similar_ones_are_left_out() {
        let test = |id: &str, name: &str| (RecordKind::Test, json!({"id": id, "name": name}));
        let plan = (RecordKind::TestPlan, json!({"id": "p", "name": "LOGIN"}));
        let records =
            [test("t3", "Login 2"), plan, test("t2", "login"), test("t1", "Login"), test("t2", "login")];
        let found = result("Login", &records);

        assert_eq!(found.r#match, NameMatch::Exact);
        assert_eq!(ids(&found), ["t1", "t2", "p"]);
    }

    #[test]
    fn records_that_differ_in_case_follow_those_with_the_same_letters_and_are_marked() {
        let test = |id: &str, name: &str| (RecordKind::Test, json!({"id": id, "name": name}));
        let found = result("Login", &[test("t1", "LOGIN"), test("t2", "Login")]);
        let marks: Vec<_> = found.records.iter().map(|record| record.r#match).collect();

        assert_eq!((found.r#match, ids(&found)), (NameMatch::Exact, vec!["t2", "t1"]));
        assert_eq!(marks, [None, Some(NameMatch::Case)]);

        let found = result("login", &[test("t2", "Login")]);
        assert_eq!((found.r#match, ids(&found)), (NameMatch::Case, vec!["t2"]));
    }

    #[test]
    fn the_nearest_records_are_found_if_none_has_the_name() {
        let test = |number: usize| {
            let name = format!("Login {}", "x".repeat(number));
            (RecordKind::Test, json!({"id": format!("t{number}"), "name": name}))
        };
        let found = result("login", &(1..20).rev().map(test).collect::<Vec<_>>());

        assert_eq!(found.r#match, NameMatch::Similar);
        assert_eq!(ids(&found), ["t1", "t2", "t3", "t4", "t5"]);
    }

    #[test]
    fn active_bugs_come_before_archived_ones_whether_they_have_the_name_or_are_similar() {
        let bug = |id: &str, status: &str| {
            (RecordKind::Bug, json!({"id": id, "title": "Crash at the gate", "status": status}))
        };
        let bugs = [bug("b1", "archived"), bug("b3", "active"), bug("b2", "active")];

        assert_eq!(ids(&result("crash at the gate", &bugs)), ["b2", "b3", "b1"]);
        assert_eq!(ids(&result("crash at the gates", &bugs)), ["b3", "b2", "b1"]);
    }

    #[test]
    fn a_record_is_found_by_id_or_name_and_shows_the_fields_that_it_has() {
        let record = json!({"id": "Bug_1", "title": "Crash", "severity": "high", "status": null});

        for name in ["bug_1", "crash"] {
            let found = &result(name, &[(RecordKind::Bug, record.clone())]).records[0];
            assert_eq!(
                (found.name.as_str(), &found.more),
                ("Crash", json!({"severity": "high"}).as_object().expect("fields"))
            );
        }
    }

    #[test]
    fn letter_case_and_white_space_do_not_matter() {
        let name = AskedName::new(" Pause  and RESUME ".to_owned());

        assert!(name.equals("pause and resume"));
        assert!(!name.equals("pause and resumes"));
    }

    #[test]
    fn composed_and_decomposed_characters_are_the_same() {
        for (asked, name) in [("Cafe\u{301}", "Caf\u{e9}"), ("CAF\u{c9}", "cafe\u{301}")] {
            assert!(AskedName::new(asked.to_owned()).equals(name), "{asked} {name}");
        }
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
