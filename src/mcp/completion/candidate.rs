//! Which values fit what has been typed.

use jiff::Timestamp;
use serde_json::Value;

/// A value, and what people know it by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) value: String,
    /// In lower case.
    pub(super) names: Vec<String>,
    /// When it came into being.
    pub(super) at: Option<Timestamp>,
}

impl Candidate {
    /// Reads a record of a list; `None` when it has no id. Fields of fields have a dot.
    pub(super) fn of(record: &Value, id: &str, names: &[&str], times: &[&str]) -> Option<Self> {
        let text = |name: &&str| name.split('.').try_fold(record, |value, name| value.get(name))?.as_str();
        let value = text(&id).filter(|value| !value.is_empty())?.to_owned();
        let names = names.iter().filter_map(text).map(str::to_lowercase).collect();
        let at = times.iter().filter_map(text).find_map(|time| time.parse().ok());
        Some(Self { value, names, at })
    }
}

/// Sorts the newest to the front: the service states no order. What has no time yet is newer than all that has one;
/// among equals its order stays.
pub(super) fn newest_first(candidates: &mut [Candidate]) {
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.at.unwrap_or(Timestamp::MAX)));
}

/// At most `most` values that begin with what has been typed, then those with a name that contains it; and how many
/// there are in all.
pub(super) fn matching(candidates: &[&Candidate], typed: &str, most: usize) -> (Vec<String>, usize) {
    let typed = typed.trim().to_lowercase();
    let begins = |candidate: &Candidate| candidate.value.to_lowercase().starts_with(&typed);
    let is_named = |candidate: &Candidate| candidate.names.iter().any(|name| name.contains(&typed));
    let by_name = candidates.iter().copied().filter(|candidate| !begins(candidate) && is_named(candidate));
    let fitting: Vec<_> =
        candidates.iter().copied().filter(|candidate| begins(candidate)).chain(by_name).collect();
    let values = fitting.iter().take(most).map(|candidate| candidate.value.clone()).collect();

    (values, fitting.len())
}
