//! The time of a summary: who watches is told how far it is, and once the caller waits no longer nothing more is asked.

use std::{pin::pin, time::Duration};

use super::reader::Reader;
use crate::tools::caller::CallerContext;

/// Room for what is left to do when the caller's time is nearly over.
const GRACE: Duration = Duration::from_secs(5);

/// How often a person is told how far it is.
const TELLING: Duration = Duration::from_secs(1);

/// Does `work`, which asks through `reader`. Nobody can ask a summary to take longer than a call: that it is watched
/// gives it no more time.
pub(super) async fn within<T>(reader: &Reader, audience: &CallerContext, work: impl Future<Output = T>) -> T {
    let clock = reader.gateway.clock();
    let mut left = audience.wait_limit.map(|patience| patience.saturating_sub(GRACE));
    let mut work = pin!(work);

    loop {
        let tick = left.map_or(TELLING, |left| left.min(TELLING));
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = clock.timeout(tick) => {}
        }

        left = left.map(|left| left.saturating_sub(tick));
        if left.is_some_and(|left| left.is_zero()) {
            reader.stop();
            return work.await;
        }

        let (done, total, told) = reader.progress();
        audience.progress.report(done, total, &told);
    }
}
