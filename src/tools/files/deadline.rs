//! Optional deadlines.

use tokio::time::Instant;

/// Sleeps until `deadline`. Never returns if there is none.
pub(crate) async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
