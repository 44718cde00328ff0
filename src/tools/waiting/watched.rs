//! What is waited for, as it was last seen.

use serde_json::Value;

use super::{
    WaitTarget, counts,
    item::{Item, is_completed, text},
    jobs::Jobs,
    lists,
    named::Named,
};
use crate::{
    call::{
        gateway::Gateway,
        paging::{MAX_PAGES, Omission},
    },
    failure::Failure,
    fields::Fields,
    service::result_kind::{ResultId, ResultKind},
    tools::project_client::ProjectClient,
};

/// So many jobs fit into an answer.
const MANY: usize = 50;

/// What is waited for.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) target: WaitTarget,
    counter: ProjectClient,
    /// The run or the execution.
    record: Option<Value>,
    jobs: Jobs,
    /// The jobs of an execution.
    of_execution: Vec<Value>,
    /// Whether it has more of them than are read.
    is_longer: bool,
    /// Those that its start named.
    named: Named,
}

impl Watched {
    pub(super) fn new(
        target: WaitTarget,
        named: Vec<String>,
        gateway: Gateway,
        project: Option<String>,
    ) -> Self {
        let jobs = match &target {
            WaitTarget::Single(ResultId { kind: ResultKind::Job, id }) => vec![id.clone()],
            WaitTarget::Jobs(ids) => ids.clone(),
            WaitTarget::Single(_) => Vec::new(),
        };
        let counter = ProjectClient { gateway, project };
        let (jobs, of_execution, named) = (Jobs::new(jobs), Vec::new(), Named::new(named));

        Self { target, counter, record: None, jobs, of_execution, is_longer: false, named }
    }

    /// Looks once. What was seen before a failure is kept.
    pub(super) async fn look(&mut self) -> Result<(), Failure> {
        let WaitTarget::Single(target @ ResultId { kind: ResultKind::Run | ResultKind::Execution, .. }) =
            &self.target
        else {
            return self.jobs.look(&mut self.counter).await;
        };
        let record = self.counter.read_result(target).await?.value().clone();
        // The jobs are read after the execution: one that is over has no job that is not.
        if target.kind == ResultKind::Execution
            && let Some(listed) = lists::of_execution(&self.counter, &target.id).await?
        {
            (self.of_execution, self.is_longer) = listed;
        }
        self.record = Some(record);
        self.named.leave(&self.listed());

        // While it goes on, its list may still come to show them.
        if self.is_record_over() { self.named.look(&self.counter).await } else { Ok(()) }
    }

    /// The jobs that the list shows. Of many those first that have not passed: a long answer is cut at its end.
    fn listed(&self) -> Vec<Item> {
        let mut items: Vec<_> = self.of_execution.iter().map(Item::of_job).collect();
        if items.len() > MANY {
            items.sort_by_key(Item::has_passed);
        }
        items
    }

    fn is_record_over(&self) -> bool {
        is_completed(self.last_status().as_deref())
    }

    /// Whether anything was seen.
    pub(super) fn was_seen(&self) -> bool {
        self.record.is_some() || self.items().iter().any(|item| item.status.is_some())
    }

    /// The jobs, or the run.
    pub(super) fn items(&self) -> Vec<Item> {
        match (self.target.kind(), &self.record) {
            (None | Some(ResultKind::Job), _) => self.jobs.items(),
            (Some(ResultKind::Run), Some(record)) => vec![Item::of_run(record)],
            (Some(ResultKind::Run), None) => vec![Item::unknown(None, self.target.id())],
            // It counts its jobs itself for as long as it goes on and nothing lists them.
            (Some(ResultKind::Execution), Some(_))
                if self.of_execution.is_empty() && !self.is_record_over() =>
            {
                Vec::new()
            }
            (Some(ResultKind::Execution), _) => [self.listed(), self.named.items()].concat(),
        }
    }

    /// Whether everything was seen that a verdict depends on: what was not read has not passed.
    pub(super) fn is_whole(&self) -> bool {
        match self.target.kind() {
            Some(ResultKind::Execution) if self.of_execution.is_empty() => {
                let total = || self.record.as_ref().and_then(counts::total);
                total().is_some() && self.named.unread().is_empty()
            }
            _ => !self.is_longer && self.named.unread().is_empty(),
        }
    }

    /// What nobody looks at.
    pub(super) fn unread(&self) -> Vec<Omission> {
        let missing = self.total().saturating_sub(self.readable());
        let pages = Omission {
            what: format!("jobs, page {MAX_PAGES} and after"),
            why: "a wait reads no more pages of a list".to_owned(),
        };
        let tests =
            Omission { what: format!("{missing} tests"), why: "they are not in the list of jobs".to_owned() };
        let pages = self.is_longer.then_some(pages);
        let tests = (missing > 0 && pages.is_none()).then_some(tests);

        pages.into_iter().chain(self.named.unread()).chain(tests).collect()
    }

    /// Jobs that are known by their ids or from a list.
    fn readable(&self) -> usize {
        self.items().len() + self.named.unread().len()
    }

    /// Jobs and executions end by their status, runs by their state (supplement 3.3).
    pub(super) fn is_over(&self) -> bool {
        match self.target.kind() {
            Some(ResultKind::Execution) => {
                self.is_record_over() && self.named.items().iter().all(Item::is_over)
            }
            _ => self.items().iter().all(Item::is_over),
        }
    }

    /// The status or state as the service writes it; of several jobs that of the first that is not over.
    pub(super) fn last_status(&self) -> Option<String> {
        let of_record = |name| self.record.as_ref().and_then(|record| text(record, name));
        match self.target.kind() {
            Some(ResultKind::Run) => of_record("state"),
            Some(ResultKind::Execution) => of_record("status"),
            None | Some(ResultKind::Job) => {
                let mut items = self.jobs.items();
                let position = items.iter().position(|item| !item.is_over()).unwrap_or_default();
                if items.is_empty() { None } else { items.swap_remove(position).status }
            }
        }
    }

    /// The record of what is waited for, where it is one.
    pub(super) fn resource(&self) -> Option<&Fields> {
        self.record.as_ref().or_else(|| self.jobs.only()).and_then(Value::as_object)
    }

    /// How many of how many are over.
    pub(super) fn counted(&self) -> (usize, usize) {
        let items = self.items();
        let over = items.iter().filter(|item| item.is_over()).count();
        if !items.is_empty() {
            return (over, self.readable().max(self.total()));
        }

        let over: usize = self.counts().into_iter().map(|(_, count)| count).sum();

        (over, self.total().max(over))
    }

    /// Verdicts of an execution whose jobs cannot be listed.
    pub(super) fn counts(&self) -> Vec<(&'static str, usize)> {
        self.record.as_ref().map(counts::verdicts).unwrap_or_default()
    }

    fn total(&self) -> usize {
        self.record.as_ref().and_then(counts::total).unwrap_or_default()
    }
}
