//! Shows the progress of a download.

use indicatif::{ProgressBar, ProgressStyle};

use crate::{text::single_line, tools::call_options::ProgressSink};

/// Progress bar of a download on standard error. Shows nothing if standard error is not a terminal.
#[derive(Clone, Debug)]
pub(super) struct DownloadProgressBar(ProgressBar);

impl DownloadProgressBar {
    /// Returns a bar whose length is not known yet.
    pub(super) fn new() -> Self {
        let bar = ProgressBar::no_length();
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Removes the bar from the terminal.
    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl ProgressSink for DownloadProgressBar {
    fn report(&self, done: u64, total: u64, message: &str) {
        self.0.set_length(total);
        self.0.set_position(done);
        self.0.set_message(single_line(message));
    }
}
