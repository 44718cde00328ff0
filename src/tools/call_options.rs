//! What the host or the command that calls a tool offers to the call: the time that it waits, a receiver of progress
//! messages, and the end of the process.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use crate::text::guidance::{AllTools, OfferedTools};

/// What the host, or the command, that calls a tool offers to the call.
#[derive(Clone, Debug)]
pub struct CallOptions {
    /// Receives the progress of the call.
    pub progress: Arc<dyn ProgressSink>,
    /// Maximum duration of a call before it returns an intermediate answer. `None`: no limit. Zero: one poll.
    pub wait_limit: Option<Duration>,
    /// Whether the reply has links to files, because the host shares no files with this process.
    pub gets_links: bool,
    /// The tools that the texts of the answer may name.
    pub tools: Arc<dyn OfferedTools>,
    /// The end of the process.
    pub stopping: Stopping,
}

/// The end of a process, in two stages. Neither happens when only the host disconnects.
#[derive(Clone, Debug, Default)]
pub struct Stopping {
    /// Cancelled when waits shall end with an intermediate answer.
    pub waits: CancellationToken,
    /// Cancelled when every call ends.
    pub calls: CancellationToken,
}

impl CallOptions {
    /// Returns the options of a call without progress and without a limit, whose texts may name all tools.
    pub fn silent() -> Self {
        Self {
            progress: Arc::new(NoProgress),
            wait_limit: None,
            gets_links: false,
            tools: Arc::new(AllTools),
            stopping: Stopping::default(),
        }
    }
}

/// Receives the progress of a call.
pub trait ProgressSink: std::fmt::Debug + Send + Sync {
    /// Reports that `done` of `total` units are complete, with a text for users. Called at most once per second. What has to be
    /// done again takes `done` back.
    fn report(&self, done: u64, total: u64, message: &str);

    /// Returns whether the messages of a wait shall contain the steps of the players, which takes further requests.
    fn shows_steps(&self) -> bool {
        false
    }

    /// Returns whether anybody receives the progress.
    fn is_observed(&self) -> bool {
        true
    }
}

/// A sink that ignores all progress.
#[derive(Clone, Copy, Debug)]
struct NoProgress;

impl ProgressSink for NoProgress {
    fn report(&self, _: u64, _: u64, _: &str) {}

    fn is_observed(&self) -> bool {
        false
    }
}
