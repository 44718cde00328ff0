//! A run, a job or an execution that is read again and again until it is completed, so that others hear of each change. The
//! service has no events (service.md 3.3, 19).

use std::{sync::Arc, time::Duration};

use super::{
    INTERVALS, LATE_STATUSES, LATEST_ANSWER, SHORTEST_INTERVAL,
    item::{ResultItem, is_completed},
    should_give_up,
    target_state::describe_steps,
};
use crate::{
    call::{Caller, reply::Reply},
    clock::Clock,
    failure::Failure,
    service::{
        api::{executions::GetTestPlanExecution, jobs::GetJob, runs::GetRun},
        result_kind::{ResultId, ResultKind},
    },
    tools::project_client::ProjectClient,
};

/// A record that is watched. Dropping it ends the watch.
#[derive(Debug)]
pub struct Watch {
    client: ProjectClient,
    target: ResultId,
    clock: Arc<dyn Clock>,
    /// `None` until the record was read.
    state: Option<RecordState>,
    reads: u32,
}

/// What a change of a record is a change of. Fields that differ in every answer, such as addresses of files, are no part
/// of it.
#[derive(Debug, PartialEq, Eq)]
enum RecordState {
    Run { item: ResultItem, steps: Option<String> },
    Job(ResultItem),
    Execution { status: String, tests: [usize; 6] },
}

impl Watch {
    /// Creates the watch of a record that has not been read yet.
    pub fn new(caller: Caller, project: String, target: ResultId) -> Self {
        let clock = Arc::clone(caller.clock());
        let client = ProjectClient { caller, project: Some(project) };
        Self { client, target, clock, state: None, reads: 0 }
    }

    /// Returns whether the record has not been read yet.
    pub fn is_unread(&self) -> bool {
        self.state.is_none()
    }

    /// Returns whether the record is completed, so that nothing will change any more.
    pub fn is_completed(&self) -> bool {
        self.state.as_ref().is_some_and(RecordState::is_completed)
    }

    /// Reads the record once.
    ///
    /// # Errors
    /// The failure of the read.
    pub async fn read_once(&mut self) -> Result<(), Failure> {
        self.state = Some(self.read().await?);
        Ok(())
    }

    /// Waits until the record differs from what was read last. The first state of a record is a change, too.
    ///
    /// # Errors
    /// A permanent failure, or a temporary one that lasts as long as the one that ends a wait.
    pub async fn next_change(&mut self) -> Result<(), Failure> {
        loop {
            if self.state.is_some() {
                self.clock.sleep(growing_pause(self.reads)).await;
            }

            let now = self.read_patiently().await?;
            if self.state.as_ref() != Some(&now) {
                self.state = Some(now);
                return Ok(());
            }
        }
    }

    /// Reads the record. Repeats the read after a temporary failure.
    async fn read_patiently(&mut self) -> Result<RecordState, Failure> {
        let (mut failures, mut failing_since) = (0_u32, None);
        loop {
            let failure = match self.read().await {
                Ok(state) => return Ok(state),
                Err(failure) => failure,
            };

            failures = failures.saturating_add(1);
            let now = self.clock.now();
            let outage = now.saturating_sub(*failing_since.get_or_insert(now));
            if self.is_final(&failure, failures, outage) {
                return Err(failure);
            }

            let requested = failure.facts.retry_after.unwrap_or_default();
            self.clock.sleep(growing_pause(failures).max(requested)).await;
        }
    }

    fn is_final(&self, failure: &Failure, failures: u32, outage: Duration) -> bool {
        let was_seen = || self.state.is_some() || self.client.caller.has_seen(&self.target);
        let is_late_status = failure.status.is_some_and(|status| LATE_STATUSES.contains(&status));
        if is_late_status && outage < LATEST_ANSWER && was_seen() {
            return false;
        }

        !failure.is_transient() || should_give_up(failures, outage)
    }

    async fn read(&mut self) -> Result<RecordState, Failure> {
        self.reads = self.reads.saturating_add(1);
        let reply = self.client.read_result(&self.target).await?;
        Ok(RecordState::from_reply(self.target.kind, &reply))
    }
}

impl RecordState {
    fn from_reply(kind: ResultKind, reply: &Reply) -> Self {
        match kind {
            ResultKind::Run => {
                let run = reply.view::<GetRun>();
                Self::Run { item: ResultItem::from_run(&run.head), steps: describe_steps(&run) }
            }
            ResultKind::Job => Self::Job(ResultItem::from_job(&reply.view::<GetJob>())),
            ResultKind::Execution => {
                let execution = reply.view::<GetTestPlanExecution>();
                let tests = execution.test_status;
                let tests =
                    [tests.passed, tests.failed, tests.skipped, tests.stopped, tests.queued, tests.running];
                Self::Execution { status: execution.status, tests }
            }
        }
    }

    fn is_completed(&self) -> bool {
        match self {
            Self::Run { item, .. } | Self::Job(item) => item.is_finished(),
            Self::Execution { status, .. } => is_completed(Some(status)),
        }
    }
}

/// Returns the pause after read number `number`: like those between the polls of a wait.
fn growing_pause(number: u32) -> Duration {
    INTERVALS.pause_before(number.saturating_add(1)).max(SHORTEST_INTERVAL)
}
