//! The target of a wait, as it was last read.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::Value;

use super::{
    execution_counts,
    expected_jobs::ExpectedJobs,
    item::{PlayerProgress, ResultItem},
    job_list::list_execution_jobs,
    job_poller::JobPoller,
    limits::MOST_NAMES,
    record::{is_completed, string_field},
    target::WaitTarget,
};
use crate::{
    call::{
        gateway::Gateway,
        paging::{MAX_PAGES, Omission},
    },
    failure::Failure,
    fields::Fields,
    service::{
        api::{Id, runs::GetRun},
        result_kind::{ResultId, ResultKind},
    },
    tools::project_client::ProjectClient,
};

/// Number of jobs that fit into one reply.
const FITTING_JOBS: usize = 50;

/// The target of a wait, as it was last read.
#[derive(Debug)]
pub(super) struct PollState {
    pub(super) target: WaitTarget,
    client: ProjectClient,
    /// The record of the run or the execution.
    record: Option<Value>,
    /// The jobs, if jobs are waited for.
    jobs: JobPoller,
    /// The listed jobs of the execution.
    execution_jobs: Vec<Value>,
    /// Whether the execution has more jobs than are read.
    is_list_longer: bool,
    /// The jobs that the start of the execution named.
    expected_jobs: ExpectedJobs,
    /// The progress of the players of running runs, by the id of the run.
    steps: BTreeMap<String, Vec<PlayerProgress>>,
}

impl PollState {
    /// Creates the state of a target that has not been read yet.
    pub(super) fn new(
        target: WaitTarget,
        expected_jobs: Vec<String>,
        gateway: Gateway,
        project: Option<String>,
    ) -> Self {
        let jobs = match &target {
            WaitTarget::Single(ResultId { kind: ResultKind::Job, id }) => vec![id.clone()],
            WaitTarget::Jobs(ids) => ids.clone(),
            WaitTarget::Single(_) => Vec::new(),
        };

        Self {
            target,
            client: ProjectClient { gateway, project },
            record: None,
            jobs: JobPoller::new(jobs),
            execution_jobs: Vec::new(),
            is_list_longer: false,
            expected_jobs: ExpectedJobs::new(expected_jobs),
            steps: BTreeMap::new(),
        }
    }

    /// Reads the target once. Records that were read before a failure are kept.
    ///
    /// # Errors
    /// Failures of the operations that read the target.
    pub(super) async fn poll_once(&mut self) -> Result<(), Failure> {
        let WaitTarget::Single(target @ ResultId { kind: ResultKind::Run | ResultKind::Execution, .. }) =
            &self.target
        else {
            return self.jobs.poll_once(&mut self.client).await;
        };
        let record = self.client.read_result(target).await?.into_value();

        // The jobs are read after the execution: when an execution is completed, all its jobs are.
        if target.kind == ResultKind::Execution
            && let Some(jobs) = list_execution_jobs(&self.client, target).await?
        {
            (self.execution_jobs, self.is_list_longer) = (jobs.records, jobs.is_longer);
        }
        self.record = Some(record);
        self.expected_jobs.exclude_listed(&self.listed_items());

        // While the execution is running, its list may still come to contain the expected jobs.
        if self.is_record_completed() { self.expected_jobs.poll_once(&self.client).await } else { Ok(()) }
    }

    /// Reads the progress of the players of a few running runs. A run that cannot be read is shown without it.
    pub(super) async fn read_steps(&mut self) {
        let running = self.items().into_iter().filter(|item| item.is_running() && item.players.is_empty());
        let ids: Vec<_> = running.filter_map(|item| item.run_id).take(MOST_NAMES).collect();
        let client = &self.client;
        let reads = ids.into_iter().map(|id| async move {
            let run = client.call(&GetRun { run_id: Id(id.clone()) }).await.ok()?;
            Some((id, ResultItem::from_run(run.value()).players))
        });

        let steps = join_all(reads).await;
        self.steps = steps.into_iter().flatten().collect();
    }

    /// Returns the listed jobs of the execution. If they do not fit into one reply, those that have not passed come first,
    /// because a long reply is cut at its end.
    fn listed_items(&self) -> Vec<ResultItem> {
        let mut items: Vec<_> = self.execution_jobs.iter().map(ResultItem::from_job).collect();
        if items.len() > FITTING_JOBS {
            items.sort_by_key(ResultItem::has_passed);
        }
        items
    }

    fn is_record_completed(&self) -> bool {
        is_completed(self.last_status().as_deref())
    }

    /// Returns whether the service has answered about the target.
    pub(super) fn has_answer(&self) -> bool {
        self.record.is_some() || self.items().iter().any(|item| item.status.is_some())
    }

    /// Returns the jobs, or the run.
    pub(super) fn items(&self) -> Vec<ResultItem> {
        let mut items = self.read_items();
        for item in &mut items {
            let steps = item.run_id.as_ref().and_then(|run| self.steps.get(run));
            if let Some(steps) = steps.filter(|_| item.players.is_empty()) {
                item.players.clone_from(steps);
            }
        }

        items
    }

    fn read_items(&self) -> Vec<ResultItem> {
        match (self.target.kind(), &self.record) {
            (None | Some(ResultKind::Job), _) => self.jobs.items(),
            (Some(ResultKind::Run), Some(record)) => vec![ResultItem::from_run(record)],
            (Some(ResultKind::Run), None) => vec![ResultItem::unread_run(self.target.id())],
            // A running execution whose jobs are not listed is described by its own counts.
            (Some(ResultKind::Execution), Some(_))
                if self.execution_jobs.is_empty() && !self.is_record_completed() =>
            {
                Vec::new()
            }
            (Some(ResultKind::Execution), _) => [self.listed_items(), self.expected_jobs.items()].concat(),
        }
    }

    /// Returns whether everything was read that decides whether all tests passed.
    pub(super) fn is_fully_read(&self) -> bool {
        if self.expected_jobs.failed_count() > 0 {
            return false;
        }
        if self.target.kind() == Some(ResultKind::Execution) && self.execution_jobs.is_empty() {
            return self.record.as_ref().and_then(execution_counts::total_tests).is_some();
        }

        !self.is_list_longer
    }

    /// Returns what was not read, each with the reason.
    pub(super) fn omissions(&self) -> Vec<Omission> {
        let mut omissions = Vec::new();
        if self.is_list_longer {
            omissions.push(Omission {
                what: format!("jobs, page {MAX_PAGES} and after"),
                why: "a wait reads no more pages of a list".to_owned(),
            });
        }

        omissions.extend(self.expected_jobs.omissions());

        let missing = self.total_tests().saturating_sub(self.known_jobs());
        if missing > 0 && !self.is_list_longer {
            omissions.push(Omission {
                what: format!("{missing} tests"),
                why: "they are not in the list of jobs".to_owned(),
            });
        }

        omissions
    }

    /// Returns the number of jobs that are known by their ids or from a list.
    fn known_jobs(&self) -> usize {
        self.items().len() + self.expected_jobs.failed_count()
    }

    /// Returns whether the target is completed. Jobs and executions end by their status, runs by their state
    /// (supplement 3.3).
    pub(super) fn is_finished(&self) -> bool {
        let items = match self.target.kind() {
            Some(ResultKind::Execution) if !self.is_record_completed() => return false,
            Some(ResultKind::Execution) => self.expected_jobs.items(),
            _ => self.items(),
        };
        items.iter().all(ResultItem::is_finished)
    }

    /// Returns the status or state as the service writes it; of several jobs, that of the first unfinished one.
    pub(super) fn last_status(&self) -> Option<String> {
        let field = match self.target.kind() {
            Some(ResultKind::Run) => "state",
            Some(ResultKind::Execution) => "status",
            None | Some(ResultKind::Job) => {
                let items = self.jobs.items();
                let unfinished = items.iter().find(|item| !item.is_finished());
                return unfinished.or(items.first()).and_then(|item| item.status.clone());
            }
        };

        self.record.as_ref().and_then(|record| string_field(record, field))
    }

    /// Returns the record of the target if the target is a single record.
    pub(super) fn resource(&self) -> Option<&Fields> {
        self.record.as_ref().or_else(|| self.jobs.single_record()).and_then(Value::as_object)
    }

    /// Returns the number of finished tests and the number of all tests.
    pub(super) fn progress(&self) -> (usize, usize) {
        let items = self.items();
        if !items.is_empty() {
            let finished = items.iter().filter(|item| item.is_finished()).count();
            return (finished, self.known_jobs().max(self.total_tests()));
        }

        let finished: usize = self.verdict_counts().into_iter().map(|(_, count)| count).sum();

        (finished, self.total_tests().max(finished))
    }

    /// Returns the verdict counts in the record of the execution.
    pub(super) fn verdict_counts(&self) -> Vec<(&'static str, usize)> {
        self.record.as_ref().map(execution_counts::verdict_counts).unwrap_or_default()
    }

    fn total_tests(&self) -> usize {
        self.record.as_ref().and_then(execution_counts::total_tests).unwrap_or_default()
    }
}
