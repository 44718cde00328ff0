//! Progress bars on standard error, one for each file. Nothing is drawn if standard error is not a terminal.

use std::{sync::Arc, time::Duration};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::tools::upload::UploadProgress;

/// Interval at which the bars are drawn.
const DRAW_INTERVAL: Duration = Duration::from_millis(200);

/// The progress bars of several uploads.
pub(super) struct ProgressBars {
    display: MultiProgress,
    bars: Vec<(ProgressBar, Arc<UploadProgress>)>,
}

impl ProgressBars {
    /// Returns a bar for each upload, given by the name of the file and the progress of the upload.
    pub(super) fn new<'a>(uploads: impl Iterator<Item = (&'a str, Arc<UploadProgress>)>) -> Self {
        let display = MultiProgress::new();
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3}% {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bars = uploads.map(|(name, progress)| {
            let bar = ProgressBar::new(progress.total()).with_style(style.clone());
            (display.add(bar).with_prefix(name.to_owned()), progress)
        });

        Self { bars: bars.collect(), display }
    }

    /// Draws the bars repeatedly. Does not complete.
    pub(super) async fn keep_drawing(&self) {
        loop {
            self.update();
            tokio::time::sleep(DRAW_INTERVAL).await;
        }
    }

    /// Draws the bars for the last time.
    pub(super) fn finish(&self) {
        self.update();
        self.bars.iter().for_each(|(bar, _)| bar.abandon());
    }

    /// Hides the bars while `print` writes to the terminal.
    pub(super) fn print_between<T>(&self, print: impl FnOnce() -> T) -> T {
        self.display.suspend(print)
    }

    fn update(&self) {
        for (bar, progress) in &self.bars {
            bar.set_position(progress.sent());
            bar.set_message(progress.describe());
        }
    }
}
