//! Shows the progress of a wait on standard error: a bar on a terminal, otherwise a line for every change.

use std::{
    io::{IsTerminal as _, Write as _},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{text::single_line, tools::call_options::ProgressSink};

/// Interval at which the spinner moves.
const TICK: Duration = Duration::from_millis(200);

/// Display of the progress of a wait.
#[derive(Debug)]
pub(super) enum WaitProgress {
    Bar(ProgressBar),
    /// The line that was printed last.
    Lines(Mutex<String>),
}

impl WaitProgress {
    /// Returns a display that suits standard error.
    pub(super) fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Mutex::default());
        }

        let style = ProgressStyle::with_template("{spinner} {elapsed_precise} [{bar:20}] {wide_msg}");
        let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(TICK);

        Self::Bar(bar)
    }
}

impl ProgressSink for WaitProgress {
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

impl Drop for WaitProgress {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
