//! A request to wait.

use std::{sync::Arc, time::Duration};

use super::{
    completion::Completion, limits::GRACE, poll_loop::PollLoop, poll_state::PollState, target::WaitTarget,
};
use crate::{call::gateway::Gateway, client::CALL_LIMIT, failure::Failure, tools::caller::CallerContext};

/// A request to wait.
#[derive(Debug)]
pub struct Wait {
    /// The run, the jobs or the execution to wait for.
    pub target: WaitTarget,
    /// Ids of jobs that belong to the execution. They are waited for even if its list of jobs does not contain them.
    pub expected_jobs: Vec<String>,
    /// The project, if the caller names one.
    pub project: Option<String>,
    /// The time limit that the caller asks for.
    pub timeout: Duration,
    /// Time between polls; `None` for intervals that grow.
    pub interval: Option<Duration>,
}

impl Wait {
    /// Waits until the target is completed or the time limit has passed. Dropping the future ends the wait.
    ///
    /// # Errors
    /// Failures of the operations that read the target. A temporary failure ends the wait only after five polls in a row
    /// and two minutes; the failure then contains what is known.
    pub async fn run(self, gateway: &Gateway, caller: &CallerContext) -> Result<Completion, Failure> {
        let (limit, grace) = match caller.effective_wait_limit() {
            // A caller without time still gets one poll, which may last as long as one request.
            Some(limit) if limit.is_zero() => (limit, CALL_LIMIT),
            Some(limit) => (self.timeout.min(limit.saturating_sub(GRACE)), GRACE),
            None => (self.timeout, GRACE),
        };

        let state = PollState::new(self.target, self.expected_jobs, gateway.clone(), self.project);
        let progress = Arc::clone(&caller.progress);

        let waiting = PollLoop::new(state, Arc::clone(gateway.clock()), progress, (limit, grace));
        waiting.ended_by(caller.stopping.waits.clone()).run(self.interval).await
    }
}
