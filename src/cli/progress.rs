//! The progress of a call on standard error.

use std::{
    io::IsTerminal as _,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::Instant;

use super::output::{disarmed, write_error};
use crate::{
    text::single_line,
    tools::context::{CallOptions, ProgressSink},
};

/// Time without a change after which a line is printed again: several CI systems end a job that is silent for minutes. A wait reports
/// at least every five seconds, so that less than two minutes pass without a line.
const LONGEST_SILENCE: Duration = Duration::from_secs(110);

/// A bar, which only a terminal shows, or a line for every change.
#[derive(Debug)]
pub(super) enum Progress {
    Bar(ProgressBar),
    /// The message that was printed last, and when.
    Lines(Mutex<(String, Instant)>),
}

impl Progress {
    pub(super) fn bar(template: &str) -> Self {
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        // A bar of the length 0 would be shown as full.
        Self::Bar(ProgressBar::no_length().with_style(style))
    }

    pub(super) fn of_wait() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Mutex::new((String::new(), Instant::now())));
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
                bar.set_message(disarmed(&single_line(message)));
            }

            Self::Lines(last) => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(line) = next_line(&mut last, message) {
                    // If standard error is closed, the wait continues without progress messages.
                    drop(write_error(&format!("{}\n", single_line(&line))));
                }
            }
        }
    }
}

/// Returns the line to print after `last`, if any. Equal lines would fill the log of a CI job.
fn next_line(last: &mut (String, Instant), message: &str) -> Option<String> {
    let is_new = last.0 != message;
    if !is_new && last.1.elapsed() < LONGEST_SILENCE {
        return None;
    }

    *last = (message.to_owned(), Instant::now());
    Some(if is_new { message.to_owned() } else { format!("still {message}") })
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_line_is_printed_at_a_change_and_after_a_silence() {
        let mut last = (String::new(), Instant::now());
        for (seconds, message, expected) in [
            (0, "1 queued", Some("1 queued")),
            (109, "1 queued", None),
            (5, "1 queued", Some("still 1 queued")),
            (5, "1 running", Some("1 running")),
            (109, "1 running", None),
        ] {
            tokio::time::advance(Duration::from_secs(seconds)).await;
            assert_eq!(next_line(&mut last, message).as_deref(), expected);
        }
    }
}
