//! The progress of a transfer, as text.

use std::time::Duration;

/// Returns the progress of a transfer for a person: `done` of `total` bytes, and the rate at which `transferred` bytes
/// moved within `elapsed`.
pub(crate) fn format_progress(done: u64, total: u64, transferred: u64, elapsed: Duration) -> String {
    let rate = mebibytes(transferred) / elapsed.as_secs_f64().max(0.001);
    format!("{:.1} of {:.1} MiB, {rate:.1} MiB/s", mebibytes(done), mebibytes(total))
}

#[expect(clippy::cast_precision_loss, reason = "the text has one decimal")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_counts_only_transferred_bytes() {
        const MIB: u64 = 1_048_576;

        let cases = [
            ((0, 0, 0, 0), "0.0 of 0.0 MiB, 0.0 MiB/s"),
            ((3 * MIB, 4 * MIB, 2 * MIB, 4), "3.0 of 4.0 MiB, 0.5 MiB/s"),
        ];
        for ((done, total, transferred, seconds), expected) in cases {
            assert_eq!(format_progress(done, total, transferred, Duration::from_secs(seconds)), expected);
        }
    }
}
