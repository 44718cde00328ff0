//! Failures that are alike, as one: of one test, with one verdict, at one step, with one report.

use std::{cmp::Reverse, collections::BTreeMap};

use serde_json::Value;

use super::{
    case::{Case, rank},
    cause::Cause,
    gathering::Subject,
    moments::order as order_of_moments,
    outcome::{Bug, TestName},
    signature::normalised,
    texts::{LONGEST_ID, LONGEST_WORD, filled, shorten_line, test_name},
};
use crate::{
    failure::{Code, Failure},
    tools::waiting::Item,
};

/// Ids that an entry names.
const MOST_IDS: usize = 3;

/// Severities from the worst; unknown ones come last.
const SEVERITIES: [&str; 4] = ["critical", "high", "medium", "low"];

/// Failures that are alike. Texts are whole here; the answer cuts them.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) test: TestName,
    pub(super) verdict: String,
    pub(super) cause: Cause,
    pub(super) count: usize,
    pub(super) run_ids: Vec<String>,
    pub(super) job_ids: Vec<String>,
    pub(super) bugs: Vec<Bug>,
}

/// What failures have to share to be alike.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Signature {
    /// By its id, else by its place among the tests.
    test: Result<String, usize>,
    verdict: String,
    goal: String,
    report: String,
}

/// The groups: worst verdict first, then the largest, then by name and id.
pub(super) fn groups(subject: &mut Subject) -> Vec<Group> {
    let mut alike: BTreeMap<Signature, Vec<(&Case, Cause)>> = BTreeMap::new();
    for (place, case) in subject.cases.iter().enumerate().filter(|(_, case)| case.has_failed()) {
        let verdict = case.item.verdict().unwrap_or_default();
        let cause = cause(case);
        if case.cause.is_some() && !cause.knows_artifacts {
            let why = Failure::new(Code::BadResponse, "get_run: the answer names no artifacts");
            subject.notes.add("artifacts of run", case.item.run_id.clone().unwrap_or_default(), why);
        }
        alike.entry(signature(case, place, verdict, &cause)).or_default().push((case, cause));
    }

    let mut groups: Vec<_> =
        alike.into_iter().filter_map(|(one, members)| Some((group(members)?, one))).collect();
    groups.sort_by(|(one, of_one), (other, of_other)| {
        let key = |group: &Group| (rank(&group.verdict), Reverse(group.count));
        let order = key(one).cmp(&key(other)).then_with(|| one.test.cmp(&other.test));
        order.then_with(|| one.cause.number.cmp(&other.cause.number)).then_with(|| of_one.cmp(of_other))
    });

    groups.into_iter().map(|(group, _)| group).collect()
}

fn cause(case: &Case) -> Cause {
    let of_job = || Cause { observed: case.item.reason.clone(), ..Cause::default() };
    case.cause.clone().unwrap_or_else(of_job)
}

fn signature(case: &Case, place: usize, verdict: String, why: &Cause) -> Signature {
    let Item { job_id, run_id, .. } = &case.item;
    let ids: Vec<_> = [job_id, run_id].into_iter().flatten().map(String::as_str).collect();
    let normal = |text: Option<&String>| text.map(|text| normalised(text, &ids)).unwrap_or_default();

    Signature {
        test: case.key().ok_or(place),
        verdict,
        goal: normal(why.goal.as_ref()),
        report: normal(why.observed.as_ref()),
    }
}

/// The entry for failures that are alike: the earliest of them tells it.
fn group(mut members: Vec<(&Case, Cause)>) -> Option<Group> {
    members.sort_by(|(one, _), (other, _)| {
        let key = |case: &Case| {
            let at = case.started_at.as_deref().map(order_of_moments);
            (at.is_none(), at, case.item.id().map(str::to_owned))
        };
        key(one).cmp(&key(other))
    });
    let named = |id: fn(&Case) -> Option<&String>| {
        let ids = members.iter().filter_map(|(case, _)| id(case));
        ids.take(MOST_IDS).map(|id| shorten_line(id, LONGEST_ID)).collect::<Vec<_>>()
    };
    let run_ids = named(|case| case.item.run_id.as_ref());
    let job_ids = if run_ids.is_empty() { named(|case| case.item.job_id.as_ref()) } else { Vec::new() };
    let bugs = bugs(members.iter().map(|(case, _)| *case));
    let count = members.len();
    let (first, cause) = members.into_iter().next()?;

    Some(Group {
        test: test_name(first),
        verdict: shorten_line(&first.item.verdict()?, LONGEST_WORD),
        cause,
        count,
        run_ids,
        job_ids,
        bugs,
    })
}

/// The bugs of these runs, each once, the worst first.
fn bugs<'a>(cases: impl Iterator<Item = &'a Case>) -> Vec<Bug> {
    let mut known: BTreeMap<String, Bug> = BTreeMap::new();
    for bug in cases.flat_map(|case| &case.bugs).map(bug) {
        let key = bug.id.clone().unwrap_or_else(|| bug.title.clone());
        // The same bug may have been judged otherwise in another run: the worst counts.
        let worse = known.get(&key).is_none_or(|other| order(&bug) < order(other));
        if worse {
            known.insert(key, bug);
        }
    }

    let mut bugs: Vec<_> = known.into_values().collect();
    bugs.sort_by(|one, other| order(one).cmp(&order(other)));

    bugs
}

fn order(bug: &Bug) -> (usize, &str, Option<&str>) {
    let place = SEVERITIES.iter().position(|known| *known == bug.severity);
    (place.unwrap_or(SEVERITIES.len()), &bug.title, bug.id.as_deref())
}

fn bug(record: &Value) -> Bug {
    let severity = filled(record, "severity").unwrap_or_else(|| "unknown".to_owned());
    Bug {
        id: filled(record, "bug_id").or_else(|| filled(record, "id")),
        title: filled(record, "title").unwrap_or_default(),
        severity: shorten_line(&severity.to_lowercase(), LONGEST_WORD),
    }
}

/// How many bugs of each severity the runs that failed have.
pub(super) fn severities(cases: &[Case]) -> BTreeMap<String, usize> {
    let mut severities: BTreeMap<String, usize> = BTreeMap::new();
    for bug in bugs(cases.iter()) {
        *severities.entry(bug.severity).or_default() += 1;
    }
    severities
}
