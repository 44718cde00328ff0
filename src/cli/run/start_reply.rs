//! Reads the service's answer to a start: the jobs to wait for, and the runs that were not started (service.md 2.1).

use indexmap::IndexSet;
use serde_json::Value;

use crate::{
    cli::waiting::NotStarted,
    failure::{Code, Failure},
    service::result_kind::{ResultId, ResultKind},
    tools::waiting::WaitTarget,
};

/// Reason for a run that was not started if the answer names none.
const NO_REASON: &str = "the service does not say why";

/// Maximum number of runs that are shown without a row of the answer, because a count can be any number.
const MAX_UNLISTED: usize = 1_000;

/// The service's answer to a start.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartReply<'a>(pub(super) &'a Value);

impl<'a> StartReply<'a> {
    /// Returns what to wait for: the execution of a plan, otherwise the jobs. For an execution, also returns the ids of
    /// the jobs that the answer contains.
    ///
    /// # Errors
    /// `bad_response` if the answer contains no job.
    pub(super) fn target(self) -> Result<(WaitTarget, Vec<String>), Failure> {
        let execution = self.levels().find_map(|level| string_field(level, "test_plan_execution_id"));
        let jobs = self.job_ids();

        match execution {
            Some(execution) => {
                Ok((WaitTarget::Single(ResultId::new(ResultKind::Execution, execution)), jobs))
            }
            None if jobs.is_empty() => {
                Err(Failure::new(Code::BadResponse, "the answer to the start contains no job"))
            }
            None => Ok((WaitTarget::Jobs(jobs), Vec::new())),
        }
    }

    /// Returns the ids of all jobs, without duplicates.
    fn job_ids(self) -> Vec<String> {
        let objects = self.levels().chain(self.device_rows().filter_map(|row| row.get("data")));
        let ids = objects.filter_map(|object| object.get("job_ids")?.as_array()).flatten();
        let ids: IndexSet<_> = ids.filter_map(|id| id.as_str().map(str::to_owned)).collect();

        ids.into_iter().collect()
    }

    /// Returns the runs that were not started. A run that only the counts of the answer imply has no device.
    pub(super) fn not_started(self) -> Vec<NotStarted> {
        let refused_rows = self.device_rows().filter(|row| is_refused(row));
        let mut not_started: Vec<_> = refused_rows.map(from_device_row).collect();

        let is_refused = self.levels().any(is_refused);
        let count = self.not_started_count().max(usize::from(is_refused)).min(MAX_UNLISTED);
        let reason = self.levels().find_map(|level| string_field(level, "error"));
        let unlisted =
            NotStarted { device: String::new(), reason: reason.unwrap_or_else(|| NO_REASON.to_owned()) };
        not_started.resize(count.max(not_started.len()), unlisted);

        not_started
    }

    /// Returns the number of requested runs that were not started, according to the counts of the answer.
    fn not_started_count(self) -> usize {
        let count = |name: &str| self.levels().find_map(|level| level.get(name)?.as_u64());
        let started = count("started_count").or_else(|| count("successful_count"));
        let difference = count("requested_count")
            .zip(started)
            .map(|(requested, started)| requested.saturating_sub(started));
        let not_started = count("failed_count").max(difference).unwrap_or_default();

        usize::try_from(not_started).unwrap_or(usize::MAX)
    }

    /// Returns the answer, and its `data`: an older form of the answer has all its fields there (service.md 1.7).
    fn levels(self) -> impl Iterator<Item = &'a Value> {
        [Some(self.0), self.0.get("data")].into_iter().flatten()
    }

    /// Returns the rows of a start on several devices.
    fn device_rows(self) -> impl Iterator<Item = &'a Value> {
        self.levels().flat_map(|level| {
            let rows = |name: &str| level.get(name).and_then(Value::as_array);
            [rows("results"), rows("device_runs")].into_iter().flatten().flatten()
        })
    }
}

fn from_device_row(row: &Value) -> NotStarted {
    let reason = string_field(row, "message").or_else(|| string_field(row, "error"));
    NotStarted {
        device: string_field(row, "device_label").unwrap_or_default(),
        reason: reason.unwrap_or_else(|| NO_REASON.to_owned()),
    }
}

fn string_field(record: &Value, name: &str) -> Option<String> {
    record.get(name)?.as_str().map(str::to_owned)
}

/// Returns whether an answer, or a row of an answer, states that it is not successful.
fn is_refused(object: &Value) -> bool {
    object.get("ok") == Some(&Value::Bool(false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn runs_that_were_not_started_are_counted_once() {
        let device = |device: &str, reason: &str| (device.to_owned(), reason.to_owned());
        for (reply, expected) in [
            (json!({"ok": true, "job_ids": ["a"]}), vec![]),
            (json!({"ok": false, "error": "no slot"}), vec![device("", "no slot")]),
            (
                json!({"results": [{"ok": false, "device_label": "Pixel", "message": "busy"}], "failed_count": 1}),
                vec![device("Pixel", "busy")],
            ),
            (json!({"requested_count": 2, "started_count": 1}), vec![device("", NO_REASON)]),
            (json!({"data": {"ok": false}}), vec![device("", NO_REASON)]),
        ] {
            let not_started = StartReply(&reply).not_started();
            let found: Vec<_> = not_started.into_iter().map(|one| (one.device, one.reason)).collect();
            assert_eq!(found, expected, "{reply}");
        }

        let unbounded = json!({"failed_count": u64::MAX});
        assert_eq!(StartReply(&unbounded).not_started().len(), MAX_UNLISTED);
    }

    #[test]
    fn a_wait_follows_the_execution_or_else_the_jobs() {
        let execution = json!({"test_plan_execution_id": "e", "job_ids": ["a", "b", "a"]});
        let (target, jobs) = StartReply(&execution).target().expect("a target");
        assert_eq!(
            (target, jobs),
            (
                WaitTarget::Single(ResultId::new(ResultKind::Execution, "e".to_owned())),
                vec!["a".to_owned(), "b".to_owned()]
            )
        );

        let jobs = json!({"results": [{"data": {"job_ids": ["a"]}}]});
        let (target, _) = StartReply(&jobs).target().expect("a target");
        assert_eq!(target, WaitTarget::Jobs(vec!["a".to_owned()]));

        assert_eq!(StartReply(&json!({})).target().expect_err("no job").code, Code::BadResponse);
    }
}
