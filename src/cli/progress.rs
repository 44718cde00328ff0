//! A bar on a terminal that shows how far a download has come.

use indicatif::{ProgressBar, ProgressStyle};

use crate::tools::caller::ProgressSink;

/// A bar on standard error; nothing where that is no terminal.
#[derive(Clone, Debug)]
pub(super) struct Bar(ProgressBar);

impl Bar {
    /// A bar of bytes.
    pub(super) fn new() -> Self {
        let bar = ProgressBar::no_length();
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Takes it away.
    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}

impl ProgressSink for Bar {
    fn progress(&self, done: u64, total: u64, told: &str) {
        self.0.set_length(total);
        self.0.set_position(done);
        self.0.set_message(told.to_owned());
    }
}
