//! The progress of a call on standard error.

use std::{
    io::{IsTerminal as _, Write as _},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    text::single_line,
    tools::context::{CallOptions, ProgressSink},
};

/// A bar, which only a terminal shows, or a line for every change.
#[derive(Debug)]
pub(super) enum Progress {
    Bar(ProgressBar),
    /// The line that was printed last.
    Lines(Mutex<String>),
}

impl Progress {
    pub(super) fn bar(template: &str) -> Self {
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        // A bar of the length 0 would be shown as full.
        Self::Bar(ProgressBar::no_length().with_style(style))
    }

    pub(super) fn of_wait() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Mutex::default());
        }

        let progress = Self::bar("{spinner} {elapsed_precise} [{bar:20}] {wide_msg}");
        if let Self::Bar(bar) = &progress {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        progress
    }

    /// Returns the options of a call with this progress. A bar disappears with them, so that it is not mixed with the result.
    pub(super) fn options(self) -> CallOptions {
        CallOptions { progress: Arc::new(self), ..CallOptions::silent() }
    }
}

impl ProgressSink for Progress {
    fn shows_steps(&self) -> bool {
        true
    }

    fn report(&self, done: u64, total: u64, message: &str) {
        match self {
            Self::Bar(bar) => {
                bar.set_length(total);
                bar.set_position(done);
                bar.set_message(single_line(message));
            }

            Self::Lines(last) => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                // Equal lines would fill the log of a CI job.
                if *last != message {
                    message.clone_into(&mut last);
                    // If standard error is closed, the wait continues without progress messages.
                    drop(writeln!(anstream::stderr(), "{}", single_line(message)));
                }
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
