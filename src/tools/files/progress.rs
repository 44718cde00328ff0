//! How far files have come, in words, and how long somebody waits for them.

use std::time::Duration;

use tokio::time::Instant;

/// What a person reads: how much of how much is there, and how fast what is `new` of it has come in that time.
pub fn format_progress(there: u64, total: u64, new: u64, took: Duration) -> String {
    let rate = mebibytes(new) / took.as_secs_f64().max(0.001);
    format!("{:.1} of {:.1} MiB, {rate:.1} MiB/s", mebibytes(there), mebibytes(total))
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

/// Ends when nobody waits any longer; without an end, never.
pub async fn sleep_until(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}
