//! What happens to a job, from its start to its end: a pure function of the job and the script of its test.
//!
//! A timeline is whole from the beginning. What is visible at a moment follows from it.

use crate::sandbox::model::{
    attempt::{RunAttempt, STARTING},
    job::Job,
    moment::{Millis, Moment},
};

/// How long a job waits for a device.
const QUEUED: Millis = 10_000;

/// How long a stopped job shows that it is being stopped.
const STOPPING: Millis = 2_000;

/// How long a job cleans up after its last attempt.
const CLEANING_UP: Millis = 5_000;

/// Everything that happens to a job.
#[derive(Debug)]
pub(crate) struct Timeline {
    begins: Moment,
    attempts: Vec<RunAttempt>,
    /// End of the last attempt, or of the waiting when there is none.
    over: Moment,
    stopped: bool,
    /// When the job is completed.
    pub(crate) completed: Moment,
}

/// States of a job (supplement 3.2).
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
    /// The service's word.
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
    /// The timeline of `job`.
    pub(crate) fn from_job(job: &Job) -> Self {
        let stop = job.stopped.as_ref().map(|stop| stop.at);
        let begins = job.created + QUEUED;
        let mut attempts = Vec::new();
        let mut next = job.rejection.is_none().then_some(begins);

        while let Some(created) = next.filter(|at| stop.is_none_or(|stop| stop > *at)) {
            let attempt = RunAttempt::from_job(job, attempts.len(), created, stop);
            let again = attempt.result.is_cut_off() && attempts.len() < usize::from(job.retries);
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
    pub(crate) fn status(&self, now: Moment) -> JobStatus {
        if now >= self.completed {
            JobStatus::Completed
        } else if now >= self.over {
            if self.stopped && now < self.over + STOPPING {
                JobStatus::Stopping
            } else {
                JobStatus::CleaningUp
            }
        } else if now < self.begins {
            JobStatus::Queued
        } else if now < self.begins + STARTING {
            JobStatus::Starting
        } else {
            JobStatus::Running
        }
    }

    /// Whether there is ever an attempt.
    pub(crate) fn has_attempts(&self) -> bool {
        !self.attempts.is_empty()
    }

    /// The attempts that there are by now, first to last.
    pub(crate) fn attempts(&self, now: Moment) -> impl DoubleEndedIterator<Item = &RunAttempt> {
        self.attempts.iter().filter(move |attempt| attempt.created <= now)
    }

    /// [`Self::attempts`], to keep.
    pub(crate) fn into_attempts(self, now: Moment) -> impl Iterator<Item = RunAttempt> {
        self.attempts.into_iter().filter(move |attempt| attempt.created <= now)
    }
}
