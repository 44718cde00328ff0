//! How far a wait is, while it goes on: a bar on a terminal, else a line whenever something changes. On standard error.

use std::{
    io::{IsTerminal, Write as _},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::tools::caller::ProgressSink;

/// Shows progress.
#[derive(Debug)]
pub(super) enum Live {
    Bar(ProgressBar),
    /// What was said last.
    Lines(Mutex<String>),
}

impl Live {
    pub(super) fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Mutex::default());
        }

        let style = ProgressStyle::with_template("{spinner} {elapsed_precise} [{bar:20}] {wide_msg}");
        let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(200));

        Self::Bar(bar)
    }
}

impl ProgressSink for Live {
    fn progress(&self, done: u64, total: u64, told: &str) {
        match self {
            Self::Bar(bar) => {
                bar.set_length(total);
                bar.set_position(done);
                bar.set_message(told.to_owned());
            }
            Self::Lines(last) => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                if *last != told {
                    told.clone_into(&mut last);
                    // Nothing is left to say it to when standard error is gone.
                    drop(writeln!(anstream::stderr(), "{told}"));
                }
            }
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
