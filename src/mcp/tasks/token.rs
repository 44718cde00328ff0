//! The id of a task: a sealed token with the arguments and the time of the call, and the times that follow from them.

use std::time::Duration;

use jiff::Timestamp;
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    fields::Fields,
    sealing,
    tools::composite::{CompositeTool as _, WaitForCompletion},
};

/// Purpose of the derived key that seals the ids.
pub(super) const KEY_PURPOSE: &[u8] = b"tas-mcp task ids 1";

/// Data that the seal is bound to besides the key.
const CONTEXT: &[u8] = WaitForCompletion::NAME.as_bytes();

/// Longest id of a task, in bytes. Hosts send it with every request, some of them in a header.
pub(super) const MAX_ID_BYTES: usize = 8 << 10;

/// How long a host can ask for a task after the end of its wait. The span includes the day after an overnight wait.
const RETENTION: Duration = Duration::from_secs(36 * 60 * 60);

/// Shortest poll interval that is suggested to the host if the caller names none.
const MIN_INTERVAL: Duration = Duration::from_secs(5);

/// Longest poll interval that is suggested to the host if the caller names none.
const MAX_INTERVAL: Duration = Duration::from_secs(30);

/// The content of a task id. The names are short, because hosts send the id with every request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TaskToken {
    /// The arguments of the call, checked: a host may have sent more text than they need.
    #[serde(rename = "a")]
    pub(super) arguments: Fields,
    /// Time of the call, in milliseconds since 1970.
    #[serde(rename = "s")]
    started: i64,
    /// Duration of the wait, in seconds.
    #[serde(rename = "t")]
    timeout: u64,
    /// Poll interval in seconds, if the caller names one.
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    interval: Option<u64>,
    /// Distinguishes equal calls.
    #[serde(rename = "n")]
    nonce: String,
}

impl TaskToken {
    /// Creates the token of a call at the time `now`. The arguments have the types of the schema.
    pub(super) fn new(arguments: Fields, now: Timestamp) -> Self {
        let seconds = |name: &str| arguments.get(name).and_then(Value::as_u64);
        Self {
            started: now.as_millisecond(),
            timeout: seconds("timeout_seconds").unwrap_or_default(),
            interval: seconds("poll_interval_seconds"),
            arguments,
            nonce: Uuid::now_v7().simple().to_string(),
        }
    }

    /// Returns the task id, sealed with `key`.
    pub(super) fn seal(&self, key: &[u8]) -> Option<String> {
        sealing::seal(key, CONTEXT, self)
    }

    /// Opens a task id. Returns `None` unless the id was sealed with `key`. No id that this server has given is too long.
    pub(super) fn open(id: &str, key: &[u8]) -> Option<Self> {
        (id.len() <= MAX_ID_BYTES).then(|| sealing::open(key, CONTEXT, id))?
    }

    /// Returns whether a host can still ask for the task.
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        now <= self.expires()
    }

    /// Returns the end of the lifetime.
    pub(super) fn expires(&self) -> Timestamp {
        self.started().checked_add(self.lifetime()).unwrap_or(Timestamp::MAX)
    }

    /// Returns how long after the call a host can ask for the task.
    pub(super) fn lifetime(&self) -> Duration {
        self.timeout() + RETENTION
    }

    /// Returns the duration of the wait.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    /// Returns the rest of the wait.
    pub(super) fn remaining(&self, now: Timestamp) -> Duration {
        self.timeout().saturating_sub(self.elapsed(now))
    }

    /// Returns the poll interval that is suggested to the host. Unless the caller names an interval, it grows with the
    /// age of the task.
    pub(super) fn interval(&self, now: Timestamp) -> Duration {
        let growing = || (self.elapsed(now) / 10).clamp(MIN_INTERVAL, MAX_INTERVAL);
        self.interval.map_or_else(growing, Duration::from_secs)
    }

    /// Returns the time since the call; none if another clock is ahead of this one.
    pub(super) fn elapsed(&self, now: Timestamp) -> Duration {
        Duration::try_from(now.duration_since(self.started())).unwrap_or_default()
    }

    pub(super) fn started(&self) -> Timestamp {
        Timestamp::from_millisecond(self.started).unwrap_or_default()
    }
}

/// What is remembered of a task id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TaskDigest([u8; SHA256_OUTPUT_LEN]);

impl TaskDigest {
    pub(super) fn of(id: &str) -> Self {
        let mut bytes = [0; SHA256_OUTPUT_LEN];
        bytes.copy_from_slice(digest(&SHA256, id.as_bytes()).as_ref());
        Self(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;
    use proptest::prelude::any;
    use serde_json::json;

    use super::{MAX_ID_BYTES, TaskToken};
    use crate::{
        fields::Fields,
        random_inputs::{check_texts, check_values, object, text},
    };

    const START: Timestamp = Timestamp::constant(1_000_000, 0);

    fn token(interval: Option<u64>) -> TaskToken {
        let mut checked = Fields::from_iter([("timeout_seconds".to_owned(), json!(600))]);
        checked.extend(interval.map(|seconds| ("poll_interval_seconds".to_owned(), json!(seconds))));
        TaskToken::new(checked, START)
    }

    #[test]
    fn the_suggested_interval_grows_with_the_age_of_the_task() {
        for (age, interval) in [(0, 5), (100, 10), (299, 29), (5_000, 30)] {
            let now = START + Duration::from_secs(age);
            assert!(token(None).interval(now).as_secs().abs_diff(interval) < 1, "{age}");
            assert_eq!(token(Some(7)).interval(now).as_secs(), 7);
        }
    }

    #[test]
    fn a_token_is_valid_until_the_end_of_its_lifetime() {
        let lifetime = Duration::from_secs(600 + 36 * 60 * 60);

        for (age, is_valid) in [(0, true), (lifetime.as_secs(), true), (lifetime.as_secs() + 1, false)] {
            assert_eq!(token(None).is_valid(START + Duration::from_secs(age)), is_valid, "{age}");
        }
    }

    #[test]
    fn only_the_same_key_opens_an_id() {
        let id = token(None).seal(&[1; 32]).expect("an id");

        assert!(TaskToken::open(&id, &[1; 32]).is_some());
        assert!(TaskToken::open(&id, &[2; 32]).is_none());
    }

    #[test]
    fn any_other_id_is_refused() {
        let id = token(None).seal(&[1; 32]).expect("an id");

        check_texts(&(text(), 0..id.len(), any::<u8>()), |(text, position, byte)| {
            assert!(TaskToken::open(&text, &[1; 32]).is_none(), "{text:?}");

            let mut forged = id.clone().into_bytes();
            forged[position] = byte;
            let forged = String::from_utf8_lossy(&forged);
            assert!(forged == id || TaskToken::open(&forged, &[1; 32]).is_none(), "{forged}");
        });
    }

    #[test]
    fn a_long_id_is_not_opened() {
        for (length, is_opened) in [(MAX_ID_BYTES / 4, true), (MAX_ID_BYTES, false)] {
            let arguments = Fields::from_iter([("fields".to_owned(), json!("x".repeat(length)))]);
            let id = TaskToken::new(arguments, START).seal(&[1; 32]).expect("an id");
            assert_eq!(TaskToken::open(&id, &[1; 32]).is_some(), is_opened, "{length}");
        }
    }

    #[test]
    fn an_id_holds_any_arguments_unless_it_would_be_too_long() {
        check_values(&object(), 1, |arguments| {
            let sealed = TaskToken::new(arguments.clone(), START).seal(&[1; 32]).expect("an id");
            let opened = TaskToken::open(&sealed, &[1; 32]).map(|task| task.arguments);
            assert_eq!(opened, (sealed.len() <= MAX_ID_BYTES).then_some(arguments));
        });
    }
}
