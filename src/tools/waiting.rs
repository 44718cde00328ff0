//! Waiting until jobs, a run or a plan execution are over (supplement 3.3, 15): few requests, progress at least every
//! five seconds, and an answer at the end of the time that says what is known and how to go on.

use std::{sync::Arc, time::Duration};

mod completion;
pub(crate) mod counts;
mod course;
pub(crate) mod item;
mod jobs;
pub mod junit;
mod lists;
mod named;
mod pace;
mod watched;

pub use completion::{Completion, Status};
pub use item::Item;

use self::{course::Course, watched::Watched};
use crate::{
    call::gateway::Gateway,
    client::CALL_LIMIT,
    failure::Failure,
    service::result_kind::{ResultId, ResultKind},
    tools::caller::CallerContext,
};

/// Longest silence towards somebody who watches: five seconds, with room for a busy machine.
const TELLING: Duration = Duration::from_secs(4);

/// How long the last look may take once the time is over.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Looks in a row that fail before the wait is given up, and how long they do: what is restarted comes back.
const MOST_TROUBLES: u32 = 5;
const LONGEST_TROUBLE: Duration = Duration::from_secs(120);

/// Whether so many looks in a row that failed, for so long, are the end of a wait.
pub(crate) fn is_lasting(troubles: u32, span: Duration) -> bool {
    troubles >= MOST_TROUBLES && span >= LONGEST_TROUBLE
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitTarget {
    /// One run, job or execution.
    Single(ResultId),
    /// Several jobs.
    Jobs(Vec<String>),
}

impl WaitTarget {
    /// Returns the value of the field `target_type` of the answer.
    pub const fn target_type(&self) -> &'static str {
        match self {
            Self::Single(id) => id.kind.target_type(),
            Self::Jobs(_) => "jobs",
        }
    }

    /// Returns the id if the target is a single record.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Single(id) => Some(&id.id),
            Self::Jobs(_) => None,
        }
    }

    /// Returns the kind of record if the target is a single record.
    pub(crate) fn kind(&self) -> Option<ResultKind> {
        match self {
            Self::Single(id) => Some(id.kind),
            Self::Jobs(_) => None,
        }
    }
}

/// A wait.
#[derive(Debug)]
pub struct Wait {
    /// What is waited for.
    pub target: WaitTarget,
    /// Jobs that are known to be of an execution: waited for although its list may not show them.
    pub named: Vec<String>,
    /// Project, where the caller names one.
    pub project: Option<String>,
    /// How long at most.
    pub timeout: Duration,
    /// Time between looks; `None`: growing.
    pub interval: Option<Duration>,
}

impl Wait {
    /// Waits. Dropping the future ends it.
    ///
    /// # Errors
    /// Those of the operations that read. What passes by itself ends the wait only at the fifth time in a row and after
    /// two minutes, and the failure says what is known.
    pub async fn run(self, gateway: &Gateway, audience: &CallerContext) -> Result<Completion, Failure> {
        let (span, grace) = match audience.effective_wait_limit() {
            // One look, and for that the time of a request.
            Some(limit) if limit.is_zero() => (limit, CALL_LIMIT),
            Some(limit) => (self.timeout.min(limit.saturating_sub(GRACE)), GRACE),
            None => (self.timeout, GRACE),
        };

        let subject = Watched::new(self.target, self.named, gateway.clone(), self.project);
        let watcher = Arc::clone(&audience.progress);

        Course::new(subject, Arc::clone(gateway.clock()), watcher, (span, grace)).run(self.interval).await
    }
}
