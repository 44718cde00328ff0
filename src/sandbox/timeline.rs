//! What happens to a job, from its start to its end: a pure function of the job and the script of its test.
//!
//! A timeline is whole from the beginning. What is visible at a moment follows from it.

use super::{
    attempt::{Attempt, STARTING},
    clock::{Millis, Moment},
    jobs::Job,
};

/// How long a job waits for a device.
const QUEUED: Millis = 10_000;

/// How long a stopped job shows that it is being stopped.
const STOPPING: Millis = 2_000;

/// How long a job cleans up after its last attempt.
const CLEANING_UP: Millis = 5_000;

/// Everything that happens to a job.
#[derive(Debug)]
pub(super) struct Timeline {
    begins: Moment,
    attempts: Vec<Attempt>,
    /// End of the last attempt, or of the waiting when there is none.
    over: Moment,
    stopped: bool,
    /// When the job is completed.
    pub(super) completed: Moment,
}

/// States of a job (supplement 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Queued,
    Starting,
    Running,
    Stopping,
    CleaningUp,
    Completed,
}

impl Status {
    /// The service's word.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Queued => "QUEUED",
            Self::Starting => "STARTING",
            Self::Running => "RUNNING",
            Self::Stopping => "STOPPING",
            Self::CleaningUp => "CLEANING_UP",
            Self::Completed => "COMPLETED",
        }
    }
}

impl Timeline {
    /// The timeline of `job`.
    pub(super) fn of(job: &Job) -> Self {
        let stop = job.stopped.as_ref().map(|stop| stop.at);
        let begins = job.created + QUEUED;
        let mut attempts = Vec::new();
        let mut next = job.rejection.is_none().then_some(begins);

        while let Some(created) = next.filter(|at| stop.is_none_or(|stop| stop > *at)) {
            let attempt = Attempt::of(job, attempts.len(), created, stop);
            let again = attempt.ending.is_cut_off() && attempts.len() < usize::from(job.retries);
            next = again.then_some(attempt.ended);
            attempts.push(attempt);
        }

        let waited = stop.map_or(begins, |stop| stop.min(begins));
        let over = attempts.last().map_or(waited, |attempt| attempt.ended);
        let stopped = stop == Some(over);
        let stopping = if stopped { STOPPING } else { 0 };
        let cleaning_up = if attempts.is_empty() { 0 } else { CLEANING_UP };

        Self { begins, attempts, over, stopped, completed: over + stopping + cleaning_up }
    }

    /// State of the job.
    pub(super) fn status(&self, now: Moment) -> Status {
        if now >= self.completed {
            Status::Completed
        } else if now >= self.over {
            if self.stopped && now < self.over + STOPPING { Status::Stopping } else { Status::CleaningUp }
        } else if now < self.begins {
            Status::Queued
        } else if now < self.begins + STARTING {
            Status::Starting
        } else {
            Status::Running
        }
    }

    /// Whether there is ever an attempt.
    pub(super) fn has_attempts(&self) -> bool {
        !self.attempts.is_empty()
    }

    /// The attempts that there are by now, first to last.
    pub(super) fn attempts(&self, now: Moment) -> impl DoubleEndedIterator<Item = &Attempt> {
        self.attempts.iter().filter(move |attempt| attempt.created <= now)
    }

    /// [`Self::attempts`], to keep.
    pub(super) fn into_attempts(self, now: Moment) -> impl Iterator<Item = Attempt> {
        self.attempts.into_iter().filter(move |attempt| attempt.created <= now)
    }
}
