//! Reads the service's answer to a start: the jobs to wait for, and the runs that were not started (service.md 2.1).

use indexmap::IndexSet;

use crate::{
    cli::waiting::NotStarted,
    failure::{Code, Failure},
    service::{
        api::run_start::{DeviceResult, StartRunResponse},
        lenient::view,
        record_kind::{ResultId, ResultKind, ResultTarget},
    },
};

/// Reason for a run that was not started if the answer names none.
const NO_REASON: &str = "the service does not say why";

/// Maximum number of runs that are shown without a row of the answer, because a count can be any number.
const MAX_UNLISTED: usize = 1_000;

pub(super) struct StartReply {
    /// The answer, and its `data`: an older form of the answer has all its fields there (service.md 1.7).
    levels: [Level; 2],
}

/// The fields of an answer, some of which have another meaning if they are missing.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Level {
    #[serde(flatten)]
    answer: StartRunResponse,
    error: Option<String>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct OldForm {
    data: Level,
}

impl StartReply {
    pub(super) fn new(answer: &serde_json::Value) -> Self {
        Self { levels: [view(answer), view::<OldForm>(answer).data] }
    }

    /// Returns what to wait for: the execution of a plan, otherwise the jobs. For an execution, also returns the ids of
    /// the jobs that the answer contains.
    pub(super) fn target(&self) -> Result<(ResultTarget, Vec<String>), Failure> {
        let jobs = self.job_ids();
        match self.first(|level| level.answer.test_plan_execution_id.clone()) {
            Some(execution) => {
                Ok((ResultTarget::Single(ResultId::new(ResultKind::Execution, execution)), jobs))
            }
            None if jobs.is_empty() => {
                Err(Failure::new(Code::BadResponse, "the answer to the start contains no job"))
            }
            None => Ok((ResultTarget::Jobs(jobs), Vec::new())),
        }
    }

    pub(super) fn build_id(&self) -> Option<String> {
        self.first(|level| level.answer.build_id.clone())
    }

    /// Returns the ids of all jobs, without duplicates.
    fn job_ids(&self) -> Vec<String> {
        let own = self.levels.iter().flat_map(|level| &level.answer.job_ids);
        let of_devices =
            self.device_rows().filter_map(|row| row.data.as_ref()).flat_map(|data| &data.job_ids);
        let ids: IndexSet<_> = own.chain(of_devices).cloned().collect();

        ids.into_iter().collect()
    }

    /// Returns the runs that were not started. A run that only the counts of the answer imply has no device.
    pub(super) fn not_started(&self) -> Vec<NotStarted> {
        let mut not_started: Vec<_> = self.device_rows().filter(|row| !row.ok).map(from_row).collect();

        let is_refused = self.levels.iter().any(|level| level.answer.ok == Some(false));
        let count = self.not_started_count().max(usize::from(is_refused)).min(MAX_UNLISTED);
        let reason = self.first(|level| level.error.clone()).unwrap_or_else(|| NO_REASON.to_owned());
        not_started.resize(count.max(not_started.len()), NotStarted { device: String::new(), reason });

        not_started
    }

    /// Returns the number of requested runs that were not started, according to the counts of the answer.
    fn not_started_count(&self) -> usize {
        let started = self.first(|level| level.answer.started_count.or(level.answer.successful_count));
        let requested = self.first(|level| level.answer.requested_count);
        let difference = requested.zip(started).map(|(requested, started)| requested.saturating_sub(started));

        self.first(|level| level.answer.failed_count).max(difference).unwrap_or_default()
    }

    fn first<T>(&self, field: impl Fn(&Level) -> Option<T>) -> Option<T> {
        self.levels.iter().find_map(field)
    }

    fn device_rows(&self) -> impl Iterator<Item = &DeviceResult> {
        let lists = self.levels.iter().flat_map(|level| [&level.answer.results, &level.answer.device_runs]);
        lists.flatten().flatten()
    }
}

fn from_row(row: &DeviceResult) -> NotStarted {
    let reason = row.message.as_ref().or(row.error.as_ref());
    NotStarted {
        device: row.device_label.clone(),
        reason: reason.map_or(NO_REASON, String::as_str).to_owned(),
    }
}
