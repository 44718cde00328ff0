//! Candidates for completion, and which of them match what was typed.

use std::cmp::Reverse;

use jiff::Timestamp;
use serde_json::Value;

/// A value for completion.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) value: String,
    /// The names that people know the value by, in lower case.
    pub(super) names: Vec<String>,
    pub(super) created_at: Option<Timestamp>,
}

/// Candidates of one list.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The candidates, the newest first.
    pub(super) values: Vec<Candidate>,
    /// Whether the service has more records than were read.
    pub(super) has_more: bool,
}

impl Candidate {
    /// Returns a candidate without names and time.
    pub(super) fn unnamed(value: String) -> Self {
        Self { value, names: Vec::new(), created_at: None }
    }

    /// Reads a record of the service. Returns `None` if the record has no id. The names of nested fields contain dots.
    pub(super) fn from_record(record: &Value, id: &str, names: &[&str], times: &[&str]) -> Option<Self> {
        let text = |name: &&str| name.split('.').try_fold(record, |value, name| value.get(name))?.as_str();
        let value = text(&id).filter(|value| !value.is_empty())?.to_owned();
        let names = names.iter().filter_map(text).map(str::to_lowercase).collect();
        let created_at = times.iter().filter_map(text).find_map(|time| time.parse().ok());

        Some(Self { value, names, created_at })
    }

    /// Returns whether the value begins with `typed`, which is in lower case.
    fn begins_with(&self, typed: &str) -> bool {
        self.value.to_lowercase().starts_with(typed)
    }

    /// Returns whether a name contains `typed`, which is in lower case.
    fn has_name(&self, typed: &str) -> bool {
        self.names.iter().any(|name| name.contains(typed))
    }
}

/// Sorts the newest candidate to the front. A candidate without a time counts as newest, because a record without one
/// has not started yet. Candidates of equal age keep their order.
pub(super) fn sort_newest_first(candidates: &mut [Candidate]) {
    candidates.sort_by_key(|candidate| Reverse(candidate.created_at.unwrap_or(Timestamp::MAX)));
}

/// Returns at most `limit` values that match `typed`, and the number of all matches. Values that begin with `typed`
/// come before those with a name that contains it.
pub(super) fn find_matches(candidates: &[&Candidate], typed: &str, limit: usize) -> (Vec<String>, usize) {
    let typed = typed.trim().to_lowercase();
    let (by_value, others): (Vec<&Candidate>, Vec<&Candidate>) =
        candidates.iter().copied().partition(|candidate| candidate.begins_with(&typed));
    let by_name = others.into_iter().filter(|candidate| candidate.has_name(&typed));

    let matches: Vec<_> = by_value.into_iter().chain(by_name).collect();
    let values = matches.iter().take(limit).map(|candidate| candidate.value.clone()).collect();

    (values, matches.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Candidate, find_matches, sort_newest_first};

    fn candidate(value: &str, name: &str, created_at: Option<&str>) -> Candidate {
        let record = json!({"id": value, "name": name, "created_at": created_at});
        Candidate::from_record(&record, "id", &["name"], &["created_at"]).expect("an id")
    }

    #[test]
    fn values_that_begin_with_the_typed_text_come_before_matching_names() {
        let candidates =
            [candidate("b1", "Alpha a", None), candidate("A2", "Beta", None), candidate("c3", "Gamma", None)];
        let candidates: Vec<_> = candidates.iter().collect();

        for (typed, limit, values, count) in [
            (" a ", 10, vec!["A2", "b1", "c3"], 3),
            ("a", 1, vec!["A2"], 3),
            ("bet", 10, vec!["A2"], 1),
            ("", 10, vec!["b1", "A2", "c3"], 3),
            ("x", 10, vec![], 0),
        ] {
            let (found, total) = find_matches(&candidates, typed, limit);
            assert_eq!((found, total), (values.into_iter().map(str::to_owned).collect(), count), "{typed}");
        }
    }

    #[test]
    fn candidates_without_a_time_are_the_newest() {
        let mut candidates = [
            candidate("old", "", Some("2026-01-01T00:00:00Z")),
            candidate("new", "", Some("2026-02-01T00:00:00Z")),
            candidate("queued", "", None),
        ];

        sort_newest_first(&mut candidates);

        let order = candidates.map(|candidate| candidate.value);
        assert_eq!(order, ["queued", "new", "old"]);
    }
}
