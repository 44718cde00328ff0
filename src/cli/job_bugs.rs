//! The bugs of jobs: those that their runs found. The record of a job has no number of them (service.md 3.2), but the service lists
//! the runs with bugs (service.md 2.2).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{name_resolution::NameResolver, table::Cell};
use crate::{
    fields::Fields,
    service::{
        api::{
            jobs::Job,
            runs::{ListRuns, Run},
        },
        catalog::ListedOperation as _,
        lenient::view,
    },
};

/// What a cell shows if the number is not known.
const UNKNOWN: &str = "?";

/// The number of bugs of each job that has any.
#[derive(Debug, Default)]
pub(super) struct JobBugs {
    /// `None` if a run does not say its number: only runs of verification tests do (service.md 2.2).
    by_job: BTreeMap<String, Option<usize>>,
    /// Whether all runs with bugs were read.
    is_complete: bool,
}

impl JobBugs {
    /// Reads the runs with bugs among those of these jobs: one list, however many jobs there are.
    pub(super) async fn read(resolver: NameResolver<'_>, jobs: &[Value]) -> Self {
        let jobs: Vec<Job> = jobs.iter().map(view).collect();
        if jobs.iter().all(|job| job.runs.is_empty()) {
            return Self { is_complete: true, ..Self::default() };
        }
        let Ok(runs) = resolver.newest_records(ListRuns::entry(), filter(&jobs)).await else {
            return Self::default();
        };

        let mut bugs = Self { is_complete: runs.unread.is_empty(), ..Self::default() };
        for run in runs.data.iter().map(|run| view::<Run>(run).head) {
            let count = run.bug_info.and_then(|bugs| bugs.bug_count);
            let sum = bugs.by_job.entry(run.job_id).or_insert(Some(0));
            *sum = sum.zip(count).map(|(sum, count)| sum + count);
        }
        bugs
    }

    /// Returns the number of bugs of a job; empty for none.
    pub(super) fn cell(&self, job: &Job) -> Cell {
        match self.by_job.get(&job.job_id) {
            Some(Some(0)) => Cell::default(),
            Some(Some(count)) => count.to_string().into(),
            None if self.is_complete || job.runs.is_empty() => Cell::default(),
            _ => UNKNOWN.into(),
        }
    }
}

/// Reads an id from a job.
type IdOf = fn(&Job) -> Option<&String>;

/// Returns the filter of the runs: those with bugs, of what all jobs have in common.
fn filter(jobs: &[Job]) -> Fields {
    let mut filter = Fields::from_iter([("bugs".to_owned(), json!(true))]);
    let common: [(&str, IdOf); 3] = [
        ("job_id", |job| Some(&job.job_id)),
        ("test_plan_execution_id", |job| job.test_plan_execution_id.as_ref()),
        ("multiplayer_test_id", |job| job.multiplayer_test_id.as_ref()),
    ];

    let first = |id: IdOf| jobs.first().and_then(id);
    let is_common = |id: IdOf| jobs.iter().all(|job| id(job) == first(id));
    if let Some((name, id)) = common.into_iter().find(|(_, id)| is_common(*id) && first(*id).is_some()) {
        filter.insert(name.to_owned(), json!(first(id)));
    }
    filter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_are_those_of_what_the_jobs_have_in_common() {
        let job = |id: &str, execution: Option<&str>, test: &str| Job {
            job_id: id.to_owned(),
            test_plan_execution_id: execution.map(str::to_owned),
            multiplayer_test_id: Some(test.to_owned()),
            ..Job::default()
        };

        for (jobs, expected) in [
            (vec![job("a", Some("e"), "t")], json!({"bugs": true, "job_id": "a"})),
            (
                vec![job("a", Some("e"), "t"), job("b", Some("e"), "u")],
                json!({"bugs": true, "test_plan_execution_id": "e"}),
            ),
            (
                vec![job("a", None, "t"), job("b", None, "t")],
                json!({"bugs": true, "multiplayer_test_id": "t"}),
            ),
            (vec![job("a", None, "t"), job("b", Some("e"), "u")], json!({"bugs": true})),
        ] {
            assert_eq!(json!(filter(&jobs)), expected);
        }
    }
}
