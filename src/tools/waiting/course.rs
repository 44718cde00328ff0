//! The course of a wait: look, tell, pause.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::{
    Completion, MOST_TROUBLES, TELLING, completion::Status, is_lasting, pace::Pace, watched::Watched,
};
use crate::{
    clock::Clock,
    failure::{Code, Failure},
    tools::caller::ProgressSink,
};

/// A wait under way.
#[derive(Debug)]
pub(super) struct Course {
    subject: Watched,
    clock: Arc<dyn Clock>,
    watcher: Arc<dyn ProgressSink>,
    started: Duration,
    /// How long is waited.
    span: Duration,
    /// How long the last look may take after that.
    grace: Duration,
    polls: u32,
    /// Looks that failed since the last that did not.
    troubles: Vec<Failure>,
    /// When the first of them did.
    failing_since: Option<Duration>,
    told: (u64, u64, String),
}

impl Course {
    pub(super) fn new(
        subject: Watched,
        clock: Arc<dyn Clock>,
        watcher: Arc<dyn ProgressSink>,
        (span, grace): (Duration, Duration),
    ) -> Self {
        let total = u64::try_from(subject.counted().1).unwrap_or(u64::MAX);
        let (started, told) = (clock.now(), (0, total, "looking".to_owned()));
        let (polls, troubles, failing_since) = (0, Vec::new(), None);
        Self { subject, clock, watcher, started, span, grace, polls, troubles, failing_since, told }
    }

    pub(super) async fn run(mut self, interval: Option<Duration>) -> Result<Completion, Failure> {
        let mut pace = Pace::new(interval);
        loop {
            self.polls += 1;
            let outcome = self.look().await;
            let is_in_time = outcome.is_some();

            if let Some(outcome) = outcome {
                self.noted(outcome)?;
            } else {
                self.cut_off();
            }

            let completion = self.completion();
            self.hear(&completion);

            let left = self.span.saturating_sub(self.elapsed());
            if completion.status == Status::Completed || left.is_zero() || !is_in_time {
                return self.ended(completion);
            }

            self.pause(pace.next().max(self.asked_for()).min(left)).await;
        }
    }

    /// Looks once, and tells meanwhile; `None`: the time was over before there was an answer.
    async fn look(&mut self) -> Option<Result<(), Failure>> {
        let mut left = (self.span + self.grace).saturating_sub(self.elapsed());
        let mut looking = std::pin::pin!(self.subject.look());

        loop {
            let tick = left.min(TELLING);
            tokio::select! {
                biased;
                outcome = &mut looking => return Some(outcome),
                () = self.clock.timeout(tick) => {}
            }

            left = left.saturating_sub(tick);
            if left.is_zero() {
                return None;
            }

            tell(&*self.watcher, &self.told);
        }
    }

    /// Takes note of how a look went; a failure that is final, or one too many, is the end.
    fn noted(&mut self, outcome: Result<(), Failure>) -> Result<(), Failure> {
        let Err(failure) = outcome else {
            self.troubles.clear();
            self.failing_since = None;
            return Ok(());
        };
        let passes = failure.is_transient();
        tracing::info!("a look failed: {failure}");
        self.troubles.push(failure.clone());
        self.watcher.report_pause(self.asked_for());

        let first = *self.failing_since.get_or_insert(self.clock.now());
        if passes && !is_lasting(self.count(), self.clock.now().saturating_sub(first)) {
            return Ok(());
        }

        let failure = if self.subject.was_seen() { self.with_known(failure) } else { failure };

        Err(self.given_up(failure))
    }

    /// A failure as the end of the wait.
    fn given_up(&self, mut failure: Failure) -> Failure {
        let count = self.count();
        if failure.is_transient() && count >= MOST_TROUBLES {
            failure.message =
                format!("wait_for_completion: {count} looks in a row failed: {}", failure.message);
            failure = failure.hint("the runs go on without you: call again with the same arguments later");
        }

        failure.detail("polls", self.polls)
    }

    /// Looks in a row that failed.
    fn count(&self) -> u32 {
        u32::try_from(self.troubles.len()).unwrap_or(u32::MAX)
    }

    /// Takes note of a look that did not come to its end.
    fn cut_off(&mut self) {
        let unanswered =
            Failure::new(Code::Timeout, "wait_for_completion: the service did not answer in time")
                .hint("call again with the same arguments");
        if self.troubles.is_empty() {
            self.troubles.push(unanswered);
        }
    }

    fn with_known(&self, failure: Failure) -> Failure {
        let mut known = self.completion();
        known.resource = None;
        known.next = None;

        let mut known = json!(known);
        if let Some(known) = known.as_object_mut() {
            // The wait has failed, whether or not its time is over.
            known.shift_remove("status");
        }

        failure.detail("known", known)
    }

    /// How long the service asked to be left alone.
    fn asked_for(&self) -> Duration {
        let failure = self.troubles.last();
        failure.and_then(|failure| failure.facts.retry_after).unwrap_or_default()
    }

    /// Lets time pass, and tells at least every [`TELLING`].
    async fn pause(&self, span: Duration) {
        let mut left = span;
        while !left.is_zero() {
            let slice = left.min(TELLING);
            self.clock.sleep(slice).await;
            left -= slice;
            tell(&*self.watcher, &self.told);
        }
    }

    /// Remembers what is to be told, never less than before, and tells it.
    fn hear(&mut self, completion: &Completion) {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let done = number(completion.finished).max(self.told.0);
        self.told = (done, number(completion.total).max(done), completion.told());
        tell(&*self.watcher, &self.told);
    }

    /// The result; without a single look that succeeded there is none.
    fn ended(self, mut completion: Completion) -> Result<Completion, Failure> {
        let trouble = self.troubles.last();
        if let Some(failure) = trouble.filter(|_| !self.subject.was_seen()) {
            return Err(self.given_up(failure.clone()));
        }
        completion.last_failure = trouble.map(|failure| failure.message.clone());
        Ok(completion)
    }

    fn completion(&self) -> Completion {
        let tenths = (self.elapsed().as_secs_f64() * 10.0).round();
        Completion::of(&self.subject, self.polls, tenths / 10.0)
    }

    fn elapsed(&self) -> Duration {
        self.clock.now().saturating_sub(self.started)
    }
}

fn tell(watcher: &dyn ProgressSink, told: &(u64, u64, String)) {
    watcher.report(told.0, told.1, &told.2);
}
