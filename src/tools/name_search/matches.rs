//! The records that match the names so far.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    answer::{FoundRecord, NameMatch, NameResult},
    asked_name::AskedName,
    record_kind::RecordKind,
};
/// Largest number of similar records for a name.
const MAX_SIMILAR: usize = 5;

/// The records that match the names so far.
#[derive(Debug)]
pub(super) struct Matches {
    names: Vec<MatchesOfName>,
    /// Kinds and ids of the records that match exactly, because pages shift while a list is read.
    known: BTreeSet<(usize, RecordKind, String)>,
}

#[derive(Debug)]
struct MatchesOfName {
    asked: AskedName,
    /// Whether a record has the name as its id, which no other record has.
    is_id: bool,
    exact: Vec<FoundRecord>,
    /// The most similar records, the nearest first.
    similar: Vec<(f64, FoundRecord)>,
}

impl Matches {
    pub(super) fn new(names: Vec<String>) -> Self {
        let empty = |name| MatchesOfName {
            asked: AskedName::new(name),
            is_id: false,
            exact: Vec::new(),
            similar: Vec::new(),
        };
        Self { names: names.into_iter().map(empty).collect(), known: BTreeSet::new() }
    }

    /// Returns whether no further record can change the result: every name is the id of a record.
    pub(super) fn is_certain(&self) -> bool {
        self.names.iter().all(|name| name.is_id)
    }

    /// Adds a record of the list of `kind`, if it matches a name.
    pub(super) fn add(&mut self, kind: RecordKind, record: &Value) {
        let list = kind.list();
        let Some(id) = record.get("id").and_then(Value::as_str) else { return };
        let names: Vec<_> =
            list.names.iter().filter_map(|name| record.get(name).and_then(Value::as_str)).collect();
        let found = || FoundRecord::new(kind, id, names.first().copied().unwrap_or_default(), record);

        for (index, matches) in self.names.iter_mut().enumerate() {
            let is_id = matches.asked.equals(id);
            if is_id || names.iter().any(|name| matches.asked.equals(name)) {
                matches.is_id |= is_id;
                if self.known.insert((index, kind, id.to_ascii_lowercase())) {
                    matches.exact.push(found());
                }
            } else if matches.exact.is_empty() {
                let similarity = names.iter().filter_map(|name| matches.asked.similarity(name));
                if let Some(similarity) = similarity.max_by(f64::total_cmp) {
                    matches.add_similar(similarity, found);
                }
            }
        }
    }

    /// Returns the results in the order of the names.
    pub(super) fn into_results(self) -> Vec<NameResult> {
        self.names.into_iter().map(MatchesOfName::into_result).collect()
    }
}

impl MatchesOfName {
    fn add_similar(&mut self, similarity: f64, found: impl FnOnce() -> FoundRecord) {
        let is_full = self.similar.len() == MAX_SIMILAR;
        if is_full && self.similar.last().is_some_and(|(last, _)| *last >= similarity) {
            return;
        }

        let record = found();
        let is_same = |(_, other): &(f64, FoundRecord)| other.kind == record.kind && other.id == record.id;
        if self.similar.iter().any(is_same) {
            return;
        }

        self.similar.push((similarity, record));
        self.similar.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        self.similar.truncate(MAX_SIMILAR);
    }

    fn into_result(self) -> NameResult {
        let (r#match, mut records) = if !self.exact.is_empty() {
            (NameMatch::Exact, self.exact)
        } else if !self.similar.is_empty() {
            (NameMatch::Similar, self.similar.into_iter().map(|(_, record)| record).collect())
        } else {
            (NameMatch::None, Vec::new())
        };

        if r#match == NameMatch::Exact {
            // Pages arrive in any order. Equal calls have equal answers.
            records.sort_by(|one, other| (one.kind, &one.id).cmp(&(other.kind, &other.id)));
        }

        NameResult { name: self.asked.text, r#match, records }
    }
}

/// Returns whether a record of the list of `kind` has this name. Letter case and the amount of white space do not matter.
pub fn is_named(kind: RecordKind, record: &Value, name: &str) -> bool {
    let asked = AskedName::new(name.to_owned());
    let names = kind.list().names.iter().filter_map(|field| record.get(field).and_then(Value::as_str));

    names.into_iter().any(|name| asked.equals(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(name: &str, records: &[(RecordKind, Value)]) -> NameResult {
        let mut matches = Matches::new(vec![name.to_owned()]);
        for (kind, record) in records {
            matches.add(*kind, record);
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
    fn an_id_is_certain_and_a_name_is_not() {
        let record = json!({"id": "Bug_1", "title": "Crash", "severity": "high", "status": null});

        for (name, is_certain) in [("bug_1", true), ("crash", false)] {
            let mut matches = Matches::new(vec![name.to_owned()]);
            matches.add(RecordKind::Bug, &record);

            assert_eq!(matches.is_certain(), is_certain);
            let found = &matches.into_results()[0].records[0];
            assert_eq!(
                (found.name.as_str(), &found.more),
                ("Crash", json!({"severity": "high"}).as_object().expect("fields"))
            );
        }
    }
}
