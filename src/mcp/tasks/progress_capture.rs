//! Keeps the last progress of a poll, for the status of the task.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::tools::caller::ProgressSink;

/// Progress sink that keeps the last report.
#[derive(Debug, Default)]
pub(super) struct ProgressCapture(Mutex<CapturedProgress>);

/// The last report of a poll.
#[derive(Clone, Debug, Default)]
pub(super) struct CapturedProgress {
    pub(super) message: Option<String>,
    /// Pause that the service asked for.
    pub(super) pause: Duration,
}

impl ProgressCapture {
    pub(super) fn captured(&self) -> CapturedProgress {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ProgressSink for ProgressCapture {
    fn report(&self, _: u64, _: u64, message: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).message = Some(message.to_owned());
    }

    fn report_pause(&self, pause: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pause = pause;
    }

    fn is_observed(&self) -> bool {
        false
    }
}
