//! The time limit and the progress reports of tools that read many records.

use std::{pin::pin, time::Duration};

use tokio_util::sync::CancellationToken;

use crate::{
    clock::Clock,
    failure::{Code, Failure},
    tools::call_options::CallOptions,
};

/// Time that is kept for the work after the reading.
const GRACE: Duration = Duration::from_secs(5);

/// Time between progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Ends the requests of a reader.
#[derive(Debug, Default)]
pub(super) struct StopSignal(CancellationToken);

impl StopSignal {
    pub(super) fn stop(&self) {
        self.0.cancel();
    }

    /// Waits for the result of a request, at most until the stop.
    ///
    /// # Errors
    /// The failure of the request, or `timeout` after the stop.
    pub(super) async fn until_stopped<T>(
        &self,
        request: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            // After the stop no further result is used, even if it is ready.
            biased;
            () = self.0.cancelled() => Err(Failure::new(Code::Timeout, "the time limit of the call has passed")),
            result = request => result,
        }
    }
}

/// A reader that can be stopped before it has read everything.
pub(super) trait StoppableReader {
    /// Ends the requests in flight. Every later request fails at once.
    fn stop(&self);

    /// Returns the number of completed units, the number of all units as far as it is known, and a message for users.
    fn progress(&self) -> (u64, u64, String);
}

/// Runs `work`, which sends its requests through `reader`, and reports its progress. Shortly before the time limit of
/// the caller the reader is stopped, so that `work` ends with what has been read. Progress reports do not extend the
/// limit.
pub(super) async fn run_with_limit<T>(
    reader: &impl StoppableReader,
    clock: &dyn Clock,
    options: &CallOptions,
    work: impl Future<Output = T>,
) -> T {
    let mut left = options.wait_limit.map(|limit| limit.saturating_sub(GRACE));
    let mut work = pin!(work);

    loop {
        let tick = left.map_or(PROGRESS_INTERVAL, |left| left.min(PROGRESS_INTERVAL));
        tokio::select! {
            biased;
            output = &mut work => return output,
            () = clock.timeout(tick) => {}
        }

        left = left.map(|left| left.saturating_sub(tick));
        if left.is_some_and(|left| left.is_zero()) {
            reader.stop();
            // Every request of a stopped reader fails at once, so that `work` ends soon.
            return work.await;
        }

        let (done, total, message) = reader.progress();
        options.progress.report(done, total, &message);
    }
}
