//! The bugs of failed runs.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{answer::BugEntry, test_result::TestResult, text_limits::LONGEST_WORD};
use crate::{text::shorten_line, tools::waiting::record::string_field};

/// Severities from the worst. Unknown severities come last.
const SEVERITIES: [&str; 4] = ["critical", "high", "medium", "low"];

/// Returns the bugs of `tests`, each once, the worst first.
pub(super) fn collect_bugs<'a>(tests: impl Iterator<Item = &'a TestResult>) -> Vec<BugEntry> {
    let mut known: BTreeMap<String, BugEntry> = BTreeMap::new();
    for bug in tests.flat_map(|test| &test.bugs).map(read_bug) {
        let key = bug.id.clone().unwrap_or_else(|| bug.title.clone());
        // Runs may rate the severity of a bug differently. The worst rating counts.
        let is_worse = known.get(&key).is_none_or(|other| sort_key(&bug) < sort_key(other));
        if is_worse {
            known.insert(key, bug);
        }
    }

    let mut bugs: Vec<_> = known.into_values().collect();
    bugs.sort_by(|one, other| sort_key(one).cmp(&sort_key(other)));

    bugs
}

/// Returns the number of bugs of each severity in the failed runs.
pub(super) fn count_severities(tests: &[TestResult]) -> BTreeMap<String, usize> {
    let mut severities: BTreeMap<String, usize> = BTreeMap::new();
    for bug in collect_bugs(tests.iter()) {
        *severities.entry(bug.severity).or_default() += 1;
    }
    severities
}

fn sort_key(bug: &BugEntry) -> (usize, &str, Option<&str>) {
    let severity = SEVERITIES.iter().position(|known| *known == bug.severity);
    (severity.unwrap_or(SEVERITIES.len()), &bug.title, bug.id.as_deref())
}

fn read_bug(record: &Value) -> BugEntry {
    let filled_field = |name: &str| string_field(record, name).filter(|text| !text.trim().is_empty());
    let severity = filled_field("severity").unwrap_or_else(|| "unknown".to_owned());

    BugEntry {
        id: filled_field("bug_id").or_else(|| filled_field("id")),
        title: filled_field("title").unwrap_or_default(),
        severity: shorten_line(&severity.to_lowercase(), LONGEST_WORD),
    }
}
