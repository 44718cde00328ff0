//! How a wait ended (supplement 15).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Item, watched::Watched};
use crate::{call::paging::Omission, service::api::Open};

/// Names that a person is told at once.
const MOST_NAMES: usize = 3;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Everything is over.
    Completed,
    /// The time is over, and the runs go on.
    TimedOut,
}

/// The end of a wait, and what was seen.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Completion {
    /// `completed` or `timed_out`.
    #[schemars(with = "String")]
    pub status: Status,
    /// `job`, `jobs`, `run` or `test_plan_execution`.
    pub target_type: String,
    pub target_id: Option<String>,
    /// Looks at the service.
    pub polls: u32,
    pub elapsed_seconds: f64,
    /// Status or state as last seen; of several jobs, of the first that is not over.
    pub last_status: Option<String>,
    /// Everything is over, and every verdict is SUCCESS.
    pub all_passed: bool,
    /// How many are over.
    pub finished: usize,
    pub total: usize,
    /// Verdict to number. Unknown words of the service are shown as they are; `no_run`: nothing was started.
    pub verdicts: BTreeMap<String, usize>,
    /// Ids of jobs, or of the run, that are not over.
    pub still_running: Vec<String>,
    /// How to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Why the last look failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
    /// Jobs in the order asked, or the run.
    pub items: Vec<Item>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
    /// The job, run or execution as the service shows it; absent with several jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<Open>,
}

impl Completion {
    pub(super) fn of(watched: &Watched, polls: u32, elapsed_seconds: f64) -> Self {
        let items = watched.items();
        let is_over = watched.is_over();
        let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();

        for verdict in items.iter().filter_map(Item::verdict) {
            *verdicts.entry(verdict).or_default() += 1;
        }

        if items.is_empty() {
            verdicts.extend(watched.counts().into_iter().map(|(verdict, count)| (verdict.to_owned(), count)));
        }

        let (finished, total) = watched.counted();
        let all_passed =
            is_over && watched.is_whole() && total > 0 && verdicts.get("SUCCESS") == Some(&total);
        let running = items.iter().filter(|item| !item.is_over());
        let mut completion = Self {
            status: if is_over { Status::Completed } else { Status::TimedOut },
            target_type: watched.target.target_type().to_owned(),
            target_id: watched.target.id().map(str::to_owned),
            polls,
            elapsed_seconds,
            last_status: watched.last_status(),
            all_passed,
            finished,
            total,
            verdicts,
            still_running: running.filter_map(|item| item.id().map(str::to_owned)).collect(),
            next: None,
            last_failure: None,
            items,
            // Where the counts say that everything has passed, no job is needed for it.
            unread: if all_passed { Vec::new() } else { watched.unread() },
            resource: watched.resource().cloned(),
        };

        completion.next = completion.advice();

        completion
    }

    /// What to do next, if there is anything to do.
    fn advice(&self) -> Option<String> {
        if self.status == Status::TimedOut {
            return Some("it goes on: call again with the same arguments; `stop_runs` ends jobs".to_owned());
        }
        let (kind, id) = self.to_explain()?;
        Some(format!("why, in one call: `summarize_results` with `{kind}_id` `{id}`"))
    }

    /// Kind and id of what tells why not everything passed: what was waited for, of several jobs the first such run.
    pub(crate) fn to_explain(&self) -> Option<(&str, &str)> {
        if self.all_passed || self.status == Status::TimedOut {
            return None;
        }
        let own = self.target_id.as_deref().map(|id| (self.target_type.as_str(), id));
        let run = || self.items.iter().find(|item| !item.has_passed())?.run_id.as_deref();
        own.or_else(|| Some(("run", run()?)))
    }

    /// What a person reads while it goes on: how far it is, and what is running.
    pub(super) fn told(&self) -> String {
        let unfinished = || self.items.iter().filter(|item| !item.is_over());
        let names: Vec<_> = unfinished().filter(|item| item.is_under_way()).map(Item::name).collect();
        let mut told = format!("{} of {} finished", self.finished, self.total);

        if !names.is_empty() {
            let shown = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
            told = format!("{told}; running: {shown}");
        }

        match names.len().saturating_sub(MOST_NAMES) {
            0 => {}
            more => told = format!("{told} and {more} more"),
        }

        match unfinished().count() - names.len() {
            0 => {}
            queued => told = format!("{told}; {queued} queued"),
        }

        told
    }
}
