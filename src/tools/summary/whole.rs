//! Everything there is to say, however long: what `super::bounding` makes the answer of.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    baseline::Baseline,
    case::Case,
    comparison,
    flaky::flaky,
    gathering::Subject,
    grouping::{self, Group},
    moments::{earliest, latest},
    outcome::{BuildName, Summary},
    texts::{LONGEST_ID, LONGEST_NAME, LONGEST_WORD, shorten_line},
};
use crate::{
    service::result_kind::ResultKind,
    tools::waiting::{counts, item::text},
};

/// Everything there is to say, as long as it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Whole {
    /// Without failures.
    pub(super) summary: Summary,
    pub(super) failures: Vec<Group>,
}

impl Whole {
    pub(super) fn of(mut subject: Subject, baseline: Option<Baseline>) -> Self {
        let comparison = baseline.map(|baseline| comparison::of(&mut subject, baseline));
        let failures = grouping::groups(&mut subject);
        let (finished, total) = counted(&subject);
        let verdicts = verdicts(&subject);
        let is_over = subject.is_over();
        let builds = builds(&subject);
        let [started_at, completed_at] = ["started_at", "completed_at"].map(|name| moment(&subject, name));
        let summary = Summary {
            target_type: subject.target.kind.target_type().to_owned(),
            target_id: shorten_line(&subject.target.id, LONGEST_ID),
            name: name(&subject),
            state: if is_over { "completed" } else { "running" }.to_owned(),
            all_passed: is_known(&subject) && is_over && total > 0 && verdicts.get("SUCCESS") == Some(&total),
            finished,
            total,
            verdicts,
            duration_ms: duration(&subject, started_at.as_deref(), completed_at.as_deref()),
            started_at: started_at.map(|at| shorten_line(&at, LONGEST_WORD)),
            completed_at: completed_at.map(|at| shorten_line(&at, LONGEST_WORD)),
            build: builds.first().filter(|_| builds.len() == 1).cloned(),
            builds: if builds.len() > 1 { builds } else { Vec::new() },
            failures: Vec::new(),
            flaky: flaky(&subject.cases),
            bugs: grouping::severities(&subject.cases),
            comparison,
            unread: subject.notes.told(),
            left_out: None,
        };

        Self { summary, failures }
    }
}

/// Whether everything was seen that a verdict depends on: what was not read has not passed.
fn is_known(subject: &Subject) -> bool {
    let is_counted = total(subject).is_some() || !subject.cases.is_empty();
    subject.is_whole && subject.record.is_some() && is_counted
}

/// How many tests of how many are over.
fn counted(subject: &Subject) -> (usize, usize) {
    let over = subject.cases.iter().filter(|case| case.item.is_over()).count();
    let listed = subject.cases.len().max(total(subject).unwrap_or_default());
    if !subject.cases.is_empty() {
        return (over, listed);
    }

    let over = counts(subject).values().sum();

    (over, listed.max(over))
}

fn verdicts(subject: &Subject) -> BTreeMap<String, usize> {
    let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
    for verdict in subject.cases.iter().filter_map(|case| case.item.verdict()) {
        *verdicts.entry(shorten_line(&verdict, LONGEST_WORD)).or_default() += 1;
    }
    if subject.cases.is_empty() { counts(subject) } else { verdicts }
}

/// What an execution counts itself.
fn counts(subject: &Subject) -> BTreeMap<String, usize> {
    let counts = subject.record.as_ref().map(counts::verdicts).unwrap_or_default();
    counts.into_iter().map(|(verdict, count)| (verdict.to_owned(), count)).collect()
}

fn total(subject: &Subject) -> Option<usize> {
    subject.record.as_ref().and_then(counts::total)
}

fn name(subject: &Subject) -> Option<String> {
    let name = match subject.target.kind {
        ResultKind::Execution => subject.record.as_ref().and_then(|record| text(record, "test_plan_name")),
        ResultKind::Run | ResultKind::Job => {
            subject.cases.first().and_then(|case| case.item.test_name.clone())
        }
    };
    name.map(|name| shorten_line(&name, LONGEST_NAME))
}

/// When it began or ended: as its record says, else as its tests do.
pub(super) fn moment(subject: &Subject, name: &str) -> Option<String> {
    let of_record = subject.record.as_ref().and_then(|record| text(record, name));
    let of_cases =
        |at: fn(&Case) -> &Option<String>| subject.cases.iter().filter_map(move |case| at(case).clone());
    of_record.or_else(|| match name {
        "started_at" => earliest(of_cases(|case| &case.started_at)),
        _ if subject.is_over() => latest(of_cases(|case| &case.completed_at)),
        _ => None,
    })
}

fn duration(subject: &Subject, started: Option<&str>, completed: Option<&str>) -> Option<u64> {
    let told = subject.record.as_ref().and_then(|record| record.get("duration_ms")?.as_f64());
    let at = |text: Option<&str>| text?.parse::<Timestamp>().ok();
    let between = || Some(at(completed)?.as_millisecond() - at(started)?.as_millisecond());
    #[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
    let told = told.map(|told| told.round() as i64);
    told.or_else(between).and_then(|span| u64::try_from(span).ok())
}

/// The builds that were tested, each once.
pub(super) fn builds(subject: &Subject) -> Vec<BuildName> {
    let record = |name: &str| subject.record.as_ref().and_then(|record| text(record, name));
    let of_record = (record("build_id"), record("build_name"));
    let of_cases = subject.cases.iter().map(|case| (case.build_id.clone(), case.build_name.clone()));
    let mut known: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();

    for (id, name) in of_cases.chain([of_record]) {
        if let Some(id) = id {
            let entry = known.entry(id.to_ascii_lowercase()).or_insert_with(|| (id, BTreeSet::new()));
            entry.1.extend(name);
        }
    }

    let build = |(id, names): (String, BTreeSet<String>)| BuildName {
        id: shorten_line(&id, LONGEST_ID),
        name: names.first().map(|name| shorten_line(name, LONGEST_NAME)),
    };

    known.into_values().map(build).collect()
}
