//! The loop of a wait: poll, report progress, pause.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    completion::{Completion, WaitStatus},
    limits::{MOST_FAILURES, PROGRESS_INTERVAL, should_give_up},
    poll_interval::PollIntervals,
    poll_state::PollState,
};
use crate::{
    clock::Clock,
    failure::{Code, Failure},
    tools::caller::ProgressSink,
};

/// A wait that is running.
#[derive(Debug)]
pub(super) struct PollLoop {
    state: PollState,
    clock: Arc<dyn Clock>,
    progress: Arc<dyn ProgressSink>,
    started: Duration,
    /// Time limit of the wait.
    limit: Duration,
    /// Time for the last poll after the limit.
    grace: Duration,
    /// Its cancellation ends the wait before the limit.
    end: CancellationToken,
    polls: u32,
    /// Failures of the polls since the last successful one.
    failures: Vec<Failure>,
    /// Time of the first of these failures.
    failing_since: Option<Duration>,
    last_report: ProgressReport,
}

/// A progress report.
#[derive(Clone, Debug)]
struct ProgressReport {
    done: u64,
    total: u64,
    message: String,
}

impl ProgressReport {
    fn send(&self, progress: &dyn ProgressSink) {
        progress.report(self.done, self.total, &self.message);
    }
}

impl PollLoop {
    /// Creates the loop of a wait with a time limit and a grace period for the last poll.
    pub(super) fn new(
        state: PollState,
        clock: Arc<dyn Clock>,
        progress: Arc<dyn ProgressSink>,
        (limit, grace): (Duration, Duration),
    ) -> Self {
        let (_, total) = state.progress();
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        let last_report = ProgressReport { done: 0, total, message: "reading the status".to_owned() };

        Self {
            state,
            started: clock.now(),
            clock,
            progress,
            limit,
            grace,
            end: CancellationToken::new(),
            polls: 0,
            failures: Vec::new(),
            failing_since: None,
            last_report,
        }
    }

    /// Returns the same loop, which also ends when `end` is cancelled, as if the time limit had passed.
    pub(super) fn ended_by(self, end: CancellationToken) -> Self {
        Self { end, ..self }
    }

    /// Polls until the target is completed, the time limit has passed, or the polls fail for too long.
    pub(super) async fn run(mut self, interval: Option<Duration>) -> Result<Completion, Failure> {
        let mut intervals = PollIntervals::new(interval);
        loop {
            self.polls += 1;
            let outcome = self.poll_once().await;
            let is_in_time = outcome.is_some();

            match outcome {
                Some(outcome) => self.record_outcome(outcome)?,
                None => self.record_missing_answer(),
            }

            if self.progress.shows_steps() {
                self.read_steps().await;
            }
            let completion = self.completion();
            self.report_progress(&completion);

            let left = self.limit.saturating_sub(self.elapsed());
            let is_over = left.is_zero() || !is_in_time || self.end.is_cancelled();
            if completion.status == WaitStatus::Completed || is_over {
                return self.finish(completion);
            }

            self.pause(intervals.next().max(self.requested_pause()).min(left)).await;
        }
    }

    /// Polls once and repeats the last progress report meanwhile. Returns `None` if the limit and the grace period have
    /// passed before there was an answer.
    async fn poll_once(&mut self) -> Option<Result<(), Failure>> {
        let mut left = (self.limit + self.grace).saturating_sub(self.elapsed());
        let mut poll = std::pin::pin!(self.state.poll_once());

        loop {
            let tick = left.min(PROGRESS_INTERVAL);
            tokio::select! {
                // An answer that is ready counts even if the time has passed.
                biased;
                outcome = &mut poll => return Some(outcome),
                () = self.clock.timeout(tick) => {}
            }

            left = left.saturating_sub(tick);
            if left.is_zero() {
                return None;
            }

            self.last_report.send(&*self.progress);
        }
    }

    /// Reads the steps of the players for the progress report, at most until the limit and the grace period have passed.
    async fn read_steps(&mut self) {
        let left = (self.limit + self.grace).saturating_sub(self.elapsed());
        tokio::select! {
            () = self.state.read_steps() => {}
            () = self.clock.timeout(left) => {}
        }
    }

    /// Records the outcome of a poll.
    ///
    /// # Errors
    /// The failure of the poll, if it is permanent or the polls have failed for too long.
    fn record_outcome(&mut self, outcome: Result<(), Failure>) -> Result<(), Failure> {
        let Err(failure) = outcome else {
            self.failures.clear();
            self.failing_since = None;
            return Ok(());
        };

        tracing::info!("a poll failed: {failure}");
        self.failures.push(failure.clone());
        self.progress.report_pause(self.requested_pause());

        let now = self.clock.now();
        let outage = now.saturating_sub(*self.failing_since.get_or_insert(now));
        if failure.is_transient() && !should_give_up(self.failure_count(), outage) {
            return Ok(());
        }

        let failure = if self.state.has_answer() { self.with_known_state(failure) } else { failure };

        Err(self.final_failure(failure))
    }

    /// Records that the last poll had no answer in time.
    fn record_missing_answer(&mut self) {
        // An earlier failure says more about the cause.
        if self.failures.is_empty() {
            let message = "wait_for_completion: the service did not answer in time";
            let failure = Failure::new(Code::Timeout, message).hint("call again with the same arguments");
            self.failures.push(failure);
        }
    }

    /// Turns the failure of a poll into the failure of the wait.
    fn final_failure(&self, mut failure: Failure) -> Failure {
        let count = self.failure_count();
        if failure.is_transient() && count >= MOST_FAILURES {
            failure.message =
                format!("wait_for_completion: {count} polls in a row failed: {}", failure.message);
            failure = failure.hint("the runs continue: call again with the same arguments later");
        }

        failure.detail("polls", self.polls)
    }

    /// Returns the number of failed polls in a row.
    fn failure_count(&self) -> u32 {
        u32::try_from(self.failures.len()).unwrap_or(u32::MAX)
    }

    /// Adds what is known about the target to a failure.
    fn with_known_state(&self, failure: Failure) -> Failure {
        let mut completion = self.completion();
        completion.resource = None;
        completion.next = None;

        let mut known = json!(completion);
        if let Some(known) = known.as_object_mut() {
            // The wait failed: it is neither `completed` nor `timed_out`.
            known.shift_remove("status");
        }

        failure.detail("known", known)
    }

    /// Returns the pause that the service asked for in its last answer (`Retry-After`).
    fn requested_pause(&self) -> Duration {
        let failure = self.failures.last();
        failure.and_then(|failure| failure.facts.retry_after).unwrap_or_default()
    }

    /// Pauses, and repeats the last progress report at least every [`PROGRESS_INTERVAL`].
    async fn pause(&self, span: Duration) {
        let mut left = span;
        while !left.is_zero() {
            let slice = left.min(PROGRESS_INTERVAL);
            if self.end.run_until_cancelled(self.clock.sleep(slice)).await.is_none() {
                return;
            }
            left -= slice;
            self.last_report.send(&*self.progress);
        }
    }

    /// Reports the progress of `completion`. The number of finished tests never decreases between reports, because hosts
    /// reject progress that goes back.
    fn report_progress(&mut self, completion: &Completion) {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let done = number(completion.finished).max(self.last_report.done);
        let total = number(completion.total).max(done);

        self.last_report = ProgressReport { done, total, message: completion.progress_message() };
        self.last_report.send(&*self.progress);
    }

    /// Returns the result of the wait, or the last failure if no poll succeeded.
    fn finish(self, mut completion: Completion) -> Result<Completion, Failure> {
        let Some(failure) = self.failures.last() else { return Ok(completion) };
        if !self.state.has_answer() {
            return Err(self.final_failure(failure.clone()));
        }

        completion.last_failure = Some(failure.message.clone());

        Ok(completion)
    }

    /// Returns the result of a wait that would end now.
    fn completion(&self) -> Completion {
        let tenths = (self.elapsed().as_secs_f64() * 10.0).round();
        Completion::from_state(&self.state, self.polls, tenths / 10.0)
    }

    fn elapsed(&self) -> Duration {
        self.clock.now().saturating_sub(self.started)
    }
}
