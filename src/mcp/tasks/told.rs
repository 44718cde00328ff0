//! What a look tells a person, and how long the service asks to be left alone.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::tools::caller::ProgressSink;

/// Remembers what would have been told.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<Last>);

/// What was told last.
#[derive(Clone, Debug, Default)]
pub(super) struct Last {
    pub(super) words: Option<String>,
    pub(super) rest: Duration,
}

impl Told {
    pub(super) fn last(&self) -> Last {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ProgressSink for Told {
    fn progress(&self, _: u64, _: u64, told: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).words = Some(told.to_owned());
    }

    fn rest(&self, span: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).rest = span;
    }

    fn is_there(&self) -> bool {
        false
    }
}
