//! Waiting until jobs, a run or an execution of a test plan are completed (service.md 3.3, 15).
//!
//! A wait sends few requests and reports progress at least every five seconds. At its time limit it returns what is
//! known so far and how to continue.

mod completion;
mod item;
mod target_state;

use std::{pin::pin, sync::Arc, time::Duration};

use serde_json::json;
use tokio_util::sync::CancellationToken;

pub(crate) use self::completion::{PASSED, all_passed, count_verdicts};
pub(crate) use self::item::{LONGEST_NAME, canonical_result, is_completed};
use self::target_state::TargetState;
pub use self::{
    completion::{Completion, WaitReply, WaitStatus},
    item::ResultItem,
};
use crate::{
    backoff::Backoff,
    call::Caller,
    client::CALL_LIMIT,
    clock::Clock,
    failure::{Code, Failure},
    service::record_kind::ResultTarget,
    tools::context::{CallOptions, ProgressSink},
};

/// Longest time without a progress report. The target is five seconds; one second is left for a busy machine.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(4);

/// Time for the last poll after the time limit of the wait has passed.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Minimum number of failed polls in a row before a wait ends.
const MOST_FAILURES: u32 = 5;

/// Minimum time that these polls span before a wait ends. A service that restarts is usually back earlier.
const LONGEST_OUTAGE: Duration = Duration::from_secs(120);

/// How long a wait continues although the service says that a record does not exist which was started or read before. The
/// service reads from several places, and one of them may be late.
const LATEST_ANSWER: Duration = Duration::from_secs(30);

/// Statuses with which a place that is late may answer: no such record, or no answer in time.
const LATE_STATUSES: [u16; 2] = [404, 408];

/// The shortest interval that is not requested by the caller.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);

/// The intervals between polls. Jitter prevents many waits from polling at the same moment.
const INTERVALS: Backoff = Backoff::new(SHORTEST_INTERVAL, Duration::from_secs(30), 1.5);

/// A request to wait.
#[derive(Debug)]
pub struct Wait {
    /// The run, the jobs or the execution to wait for.
    pub target: ResultTarget,
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
    /// Failures of the operations that read the target. A temporary failure ends the wait only after five polls in a
    /// row and two minutes; the failure then contains what is known.
    pub async fn run(self, caller: &Caller, options: &CallOptions) -> Result<Completion, Failure> {
        // A host that receives progress sees that the call is still active, and sets no limit.
        let wait_limit = options.wait_limit.filter(|_| !options.progress.is_observed());
        let (limit, grace) = match wait_limit {
            // A caller without time still gets one poll, which may last as long as one request.
            Some(limit) if limit.is_zero() => (limit, CALL_LIMIT),
            Some(limit) => (self.timeout.min(limit.saturating_sub(GRACE)), GRACE),
            None => (self.timeout, GRACE),
        };

        let state = TargetState::new(self.target, caller.clone(), self.project);
        let heartbeat = Heartbeat {
            clock: Arc::clone(caller.clock()),
            progress: Arc::clone(&options.progress),
            done: 0,
            total: state.progress().1,
            message: "reading the status".to_owned(),
        };

        let polling = PollLoop {
            state,
            started: heartbeat.clock.now(),
            heartbeat,
            requested: self.timeout,
            limit,
            grace,
            end: options.stopping.waits.clone(),
            polls: 0,
            failures: Vec::new(),
            failing_since: None,
        };
        polling.run(self.interval).await
    }
}

/// Returns whether a wait ends after `failures` failed polls in a row that span the time `outage`.
pub(crate) fn should_give_up(failures: u32, outage: Duration) -> bool {
    failures >= MOST_FAILURES && outage >= LONGEST_OUTAGE
}

/// A wait that is running.
#[derive(Debug)]
struct PollLoop {
    state: TargetState,
    heartbeat: Heartbeat,
    started: Duration,
    /// Time limit that the caller asked for.
    requested: Duration,
    /// Time limit of the wait.
    limit: Duration,
    /// Time for the last poll after the limit.
    grace: Duration,
    /// Its cancellation ends the wait as if the time limit had passed.
    end: CancellationToken,
    polls: u32,
    /// Failures of the polls since the last successful one.
    failures: Vec<Failure>,
    /// Time of the first of these failures.
    failing_since: Option<Duration>,
}

/// Reports the progress, and repeats the last report meanwhile.
#[derive(Debug)]
struct Heartbeat {
    clock: Arc<dyn Clock>,
    progress: Arc<dyn ProgressSink>,
    done: usize,
    total: usize,
    message: String,
}

impl Heartbeat {
    /// Works for at most `span`, and repeats the last report at least every [`PROGRESS_INTERVAL`]. Returns `None` if the time
    /// has passed.
    async fn within<T>(&self, span: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut left = span;
        let mut work = pin!(work);

        loop {
            let tick = left.min(PROGRESS_INTERVAL);
            tokio::select! {
                // What is ready counts even if the time has passed.
                biased;
                output = &mut work => return Some(output),
                () = self.clock.timeout(tick) => {}
            }

            left = left.saturating_sub(tick);
            if left.is_zero() {
                return None;
            }
            self.send();
        }
    }

    async fn pause(&self, span: Duration) {
        let mut left = span;
        while !left.is_zero() {
            let slice = left.min(PROGRESS_INTERVAL);
            self.clock.sleep(slice).await;
            left -= slice;
            self.send();
        }
    }

    fn send(&self) {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.progress.report(number(self.done), number(self.total), &self.message);
    }
}

impl PollLoop {
    /// Polls until the target is completed, the time limit has passed, or the polls fail for too long.
    async fn run(mut self, interval: Option<Duration>) -> Result<Completion, Failure> {
        loop {
            self.polls += 1;
            let outcome = self.heartbeat.within(self.time_to_read(), self.state.poll_once()).await;
            let is_in_time = outcome.is_some();

            match outcome {
                Some(outcome) => self.record_outcome(outcome)?,
                None => self.record_missing_answer(),
            }

            if self.heartbeat.progress.shows_steps() {
                self.heartbeat.within(self.time_to_read(), self.state.read_steps()).await;
            }
            if is_in_time && self.state.is_finished() {
                self.heartbeat.within(self.time_to_read(), self.state.name_builds()).await;
            }
            let completion = self.completion();
            self.report_progress(&completion);

            let left = self.limit.saturating_sub(self.elapsed());
            let is_over = left.is_zero() || !is_in_time || self.end.is_cancelled();
            if completion.status == WaitStatus::Completed || is_over {
                return self.finish(completion);
            }

            let pause = self.next_pause(interval).max(self.requested_pause()).min(left);
            self.end.run_until_cancelled(self.heartbeat.pause(pause)).await;
        }
    }

    /// Returns the pause before the next poll. A late answer is asked for again with growing pauses.
    fn next_pause(&self, interval: Option<Duration>) -> Duration {
        let is_late = self.failures.last().is_some_and(|failure| self.may_be_late(failure));
        let growing = |number: u32| INTERVALS.pause_before(number.saturating_add(1)).max(SHORTEST_INTERVAL);

        match interval {
            _ if is_late => growing(self.failure_count()),
            Some(interval) => interval,
            None => growing(self.polls),
        }
    }

    /// Returns whether a poll may have failed only because the service does not know the record yet, or not everywhere.
    fn may_be_late(&self, failure: &Failure) -> bool {
        let is_late_status = failure.status.is_some_and(|status| LATE_STATUSES.contains(&status));
        is_late_status && self.state.was_seen()
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

        let now = self.heartbeat.clock.now();
        let outage = now.saturating_sub(*self.failing_since.get_or_insert(now));
        let is_temporary = failure.is_transient() && !should_give_up(self.failure_count(), outage);
        if is_temporary || self.may_be_late(&failure) && outage < LATEST_ANSWER {
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
        let completion = Completion { next_step: None, ..self.completion() };
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

    /// Reports the progress of `completion`. The number of finished tests never decreases between reports, because
    /// hosts reject progress that goes back.
    fn report_progress(&mut self, completion: &Completion) {
        let done = completion.finished.max(self.heartbeat.done);
        self.heartbeat.done = done;
        self.heartbeat.total = completion.total.max(done);
        self.heartbeat.message = completion.progress_message(&self.state.steps);
        self.heartbeat.send();
    }

    /// Returns the result of the wait, or the last failure if no poll succeeded.
    fn finish(self, mut completion: Completion) -> Result<Completion, Failure> {
        completion.ended_early = self.early_end(completion.status);
        let Some(failure) = self.failures.last() else { return Ok(completion) };
        if !self.state.has_answer() {
            return Err(self.final_failure(failure.clone()));
        }

        Ok(completion.with_last_failure(failure))
    }

    /// Returns why a wait has ended before the time that the caller asked for.
    fn early_end(&self, status: WaitStatus) -> Option<String> {
        let (limit, requested) = (self.limit.as_secs(), self.requested.as_secs());
        if status == WaitStatus::Completed || self.limit.is_zero() {
            return None;
        }
        if self.end.is_cancelled() {
            return Some(
                "the server or the access of the user ended: call again with the same arguments".to_owned(),
            );
        }

        (limit < requested).then(|| {
            format!(
                "it ended after {limit} of {requested} s, because a host that shows no progress gives up long calls: \
                 call again with the same arguments, as often as needed"
            )
        })
    }

    /// Returns the result of a wait that would end now.
    fn completion(&self) -> Completion {
        let tenths = (self.elapsed().as_secs_f64() * 10.0).round();
        Completion::from_state(&self.state, self.polls, tenths / 10.0)
    }

    /// The time that is left for requests, with that after the limit of the wait.
    fn time_to_read(&self) -> Duration {
        (self.limit + self.grace).saturating_sub(self.elapsed())
    }

    fn elapsed(&self) -> Duration {
        self.heartbeat.clock.now().saturating_sub(self.started)
    }
}
