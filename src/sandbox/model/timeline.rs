//! The timeline of a job: a pure function of the job and the scripted outcomes of its test.
//!
//! A timeline covers the time from the creation to the completion of the job, including the future. Answers contain the
//! part before `now`.

use crate::sandbox::model::{
    attempt::{RunAttempt, STARTING},
    job::SimulatedJob,
    moment::{Millis, Moment},
};

/// Time that a job waits for a device.
const QUEUED: Millis = 10_000;

/// Time that a stopped job has the status `STOPPING`.
const STOPPING: Millis = 2_000;

/// Time between the last attempt and the completion of a job.
const CLEANING_UP: Millis = 5_000;

/// Everything that happens to a job.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// When the job leaves the queue, unless it is stopped before.
    dequeued: Moment,
    attempts: Vec<RunAttempt>,
    /// End of the last attempt, or of the time in the queue if there is no attempt.
    ended: Moment,
    /// Whether a stop ended the job.
    stopped: bool,
    /// When the job is completed.
    pub(crate) completed: Moment,
}

/// States of a job (service.md 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobStatus {
    Queued,
    Starting,
    Running,
    Stopping,
    CleaningUp,
    Completed,
}

impl JobStatus {
    /// Returns the name that the service uses.
    pub(crate) const fn name(self) -> &'static str {
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
    pub(crate) fn from_job(job: &SimulatedJob) -> Self {
        let stop = job.stopped.as_ref().map(|stop| stop.at);
        let dequeued = job.created + QUEUED;
        let mut attempts = Vec::new();
        let mut next = job.rejection.is_none().then_some(dequeued);

        while let Some(created) = next.filter(|at| stop.is_none_or(|stop| stop > *at)) {
            let attempt = RunAttempt::from_job(job, attempts.len(), created, stop);
            // Only execution failures are retried, never verdicts (service.md 2.3).
            let is_retried = attempt.result.is_cut_off() && attempts.len() < usize::from(job.retries);
            next = is_retried.then_some(attempt.ended);
            attempts.push(attempt);
        }

        let left_queue = stop.map_or(dequeued, |stop| stop.min(dequeued));
        let ended = attempts.last().map_or(left_queue, |attempt| attempt.ended);
        let stopped = stop == Some(ended);
        let stopping = if stopped { STOPPING } else { 0 };
        let cleaning_up = if attempts.is_empty() { 0 } else { CLEANING_UP };

        Self { dequeued, attempts, ended, stopped, completed: ended + stopping + cleaning_up }
    }

    pub(crate) fn status(&self, now: Moment) -> JobStatus {
        if now >= self.completed {
            JobStatus::Completed
        } else if self.stopped && now >= self.ended && now < self.ended + STOPPING {
            JobStatus::Stopping
        } else if now >= self.ended {
            JobStatus::CleaningUp
        } else if now < self.dequeued {
            JobStatus::Queued
        } else if now < self.dequeued + STARTING {
            JobStatus::Starting
        } else {
            JobStatus::Running
        }
    }

    /// Returns whether the job has an attempt at any time.
    pub(super) fn has_attempts(&self) -> bool {
        !self.attempts.is_empty()
    }

    /// Returns the attempts that exist at `now`, first to last.
    pub(crate) fn attempts(&self, now: Moment) -> impl DoubleEndedIterator<Item = &RunAttempt> {
        self.attempts.iter().filter(move |attempt| attempt.created <= now)
    }

    /// Returns the attempts that exist at `now` by value, first to last.
    pub(crate) fn into_attempts(self, now: Moment) -> impl Iterator<Item = RunAttempt> {
        self.attempts.into_iter().filter(move |attempt| attempt.created <= now)
    }
}
