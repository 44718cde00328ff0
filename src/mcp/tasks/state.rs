//! The state of a task as this process last saw it.

use std::time::Duration;

use jiff::Timestamp;
use rmcp::model::TaskPayload;

/// The state of a task as this process last saw it. Times without a date are those of the server's clock.
#[derive(Debug, Default)]
pub(super) struct TaskState {
    /// Time of the last poll.
    pub(super) polled_at: Option<Duration>,
    /// Time before which the service must not be polled again, because it asked for a pause.
    pub(super) paused_until: Option<Duration>,
    /// Date of the last change of this state.
    pub(super) updated_at: Option<Timestamp>,
    /// Number of polls.
    pub(super) polls: u32,
    /// Number of polls that have failed since the last success.
    pub(super) failures: u32,
    /// Time of the first of these failures.
    pub(super) failing_since: Option<Duration>,
    /// Progress or failure, as text for a person.
    pub(super) status_message: Option<String>,
    /// The result; a task with a result is not polled any more.
    pub(super) result: Option<TaskPayload>,
}

impl TaskState {
    /// Returns the state of a task that was cancelled at `date`.
    pub(super) fn cancelled(date: Timestamp) -> Self {
        let message = "the task is cancelled; the runs continue until they end or are stopped";
        Self {
            updated_at: Some(date),
            status_message: Some(message.to_owned()),
            result: Some(TaskPayload::Cancelled),
            ..Self::default()
        }
    }

    /// Returns whether the service may be polled at `now`: `pause` after the last poll, and not before the end of a
    /// pause that the service asked for.
    pub(super) fn is_poll_due(&self, now: Duration, pause: Duration) -> bool {
        let is_pause_over = self.paused_until.is_none_or(|until| now >= until);
        is_pause_over && self.polled_at.is_none_or(|polled_at| now.saturating_sub(polled_at) >= pause)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::TaskState;

    #[test]
    fn a_poll_is_due_after_the_interval_and_the_pause_of_the_service() {
        let seconds = Duration::from_secs;
        let cases = [
            (None, None, 0, true),
            (Some(10), None, 14, false),
            (Some(10), None, 15, true),
            (Some(10), Some(100), 99, false),
            (Some(10), Some(100), 100, true),
        ];

        for (polled_at, paused_until, now, is_due) in cases {
            let state = TaskState {
                polled_at: polled_at.map(seconds),
                paused_until: paused_until.map(seconds),
                ..TaskState::default()
            };
            assert_eq!(state.is_poll_due(seconds(now), seconds(5)), is_due, "{polled_at:?} {now}");
        }
    }
}
