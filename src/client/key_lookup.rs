//! A key that is looked up when a call first needs it, and kept in memory for some minutes.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::{sync::Mutex, task::JoinHandle, time::Instant};

use super::{ApiKey, key_command::KeyCommand, lookup_failure::LookupFailure, stored_key::StoredKey};
use crate::failure::Failure;

/// How long a key is used before it is looked up again.
const MAX_AGE: Duration = Duration::from_secs(5 * 60);

/// Least time between two look-ups after a failed one, and after the service has refused the key.
const PAUSE: Duration = Duration::from_secs(30);

/// How long a call waits for a look-up. The look-up continues, and a later call may see its end.
const WAIT_LIMIT: Duration = Duration::from_secs(35);

/// Where a key is looked up.
#[derive(Clone, Debug)]
pub(super) enum LookupOrigin {
    /// The output of a command.
    Command(KeyCommand),
    /// The keys that `tas-mcp login` has stored.
    Stored(StoredKey),
}

/// A key that is looked up when it is needed.
#[derive(Debug)]
pub struct KeyLookup {
    origin: LookupOrigin,
    state: Mutex<LookupState>,
    /// Whether the service has refused the key of the latest look-up.
    is_refused: AtomicBool,
}

#[derive(Debug, Default)]
struct LookupState {
    latest: Option<LookupOutcome>,
    /// A look-up that has not ended. Simultaneous calls share it, and it survives a cancelled call.
    running: Option<JoinHandle<Result<ApiKey, LookupFailure>>>,
}

/// The end of a look-up.
#[derive(Debug)]
struct LookupOutcome {
    at: Instant,
    result: Result<ApiKey, LookupFailure>,
}

impl KeyLookup {
    pub(super) fn new(origin: LookupOrigin) -> Self {
        Self { origin, state: Mutex::default(), is_refused: AtomicBool::new(false) }
    }

    /// Returns the key of the latest look-up, or of a new one if that is too old or was refused.
    ///
    /// # Errors
    /// `not_configured` if there is no usable key.
    pub(super) async fn key(&self) -> Result<ApiKey, Failure> {
        let mut state = self.state.lock().await;
        let is_refused = self.is_refused.load(Ordering::Relaxed);
        if let Some(latest) = state.latest.as_ref().filter(|latest| latest.counts(is_refused, Instant::now()))
        {
            return latest.result.clone().map_err(|failed| failed.failure);
        }

        let result = state.look_up(&self.origin).await;
        self.is_refused.store(false, Ordering::Relaxed);
        state.latest = Some(LookupOutcome { at: Instant::now(), result: result.clone() });

        result.map_err(|failed| failed.failure)
    }

    /// Notes that the service has refused the key.
    pub(super) fn note_refusal(&self) {
        self.is_refused.store(true, Ordering::Relaxed);
    }
}

impl LookupState {
    /// Waits for the end of the look-up that runs, or of a new one.
    async fn look_up(&mut self, origin: &LookupOrigin) -> Result<ApiKey, LookupFailure> {
        let running = self.running.get_or_insert_with(|| tokio::spawn(origin.clone().look_up()));
        let Ok(ended) = tokio::time::timeout(WAIT_LIMIT, running).await else {
            return Err(origin.failure("has not answered yet"));
        };
        self.running = None;

        ended.unwrap_or_else(|_| Err(origin.failure("could not be looked up")))
    }
}

impl LookupOutcome {
    /// Returns whether the outcome still counts at the time `now`.
    fn counts(&self, is_refused: bool, now: Instant) -> bool {
        let age = now.saturating_duration_since(self.at);
        match &self.result {
            Ok(_) => age < if is_refused { PAUSE } else { MAX_AGE },
            Err(failed) => !failed.is_cheap && age < PAUSE,
        }
    }
}

impl LookupOrigin {
    async fn look_up(self) -> Result<ApiKey, LookupFailure> {
        match &self {
            Self::Command(command) => command.run().await.map_err(|reason| self.failure(&reason)),
            Self::Stored(stored) => stored.find().await,
        }
    }

    /// Returns the failure of a look-up. `reason` continues a sentence that begins with the origin.
    fn failure(&self, reason: &str) -> LookupFailure {
        let pause = PAUSE.as_secs();
        let (origin, hint) = match self {
            Self::Command(_) => (
                "the command of TAS_API_KEY_COMMAND",
                format!("try the command in a terminal; a call runs it again after {pause} s"),
            ),
            Self::Stored(_) => {
                ("the keychain", format!("unlock the keychain; a call looks again after {pause} s"))
            }
        };

        LookupFailure::costly(format!("no API key: {origin} {reason}"), hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_outcome_counts_for_a_limited_time() {
        let at = Instant::now();
        let key = || Ok(ApiKey::parse("svc_abcdef").expect("a key"));
        let cheap = || Err(LookupFailure::cheap("no key", "none"));
        let costly = || Err(LookupFailure::costly("no key", "none"));

        for (result, is_refused, seconds, expected) in [
            (key(), false, 299, true),
            (key(), false, 300, false),
            (key(), true, 29, true),
            (key(), true, 30, false),
            (costly(), false, 29, true),
            (costly(), false, 30, false),
            (cheap(), false, 0, false),
        ] {
            let outcome = LookupOutcome { at, result };
            let counts = outcome.counts(is_refused, at + Duration::from_secs(seconds));
            assert_eq!(counts, expected, "{outcome:?} after {seconds} s");
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn simultaneous_calls_share_one_run_of_the_command() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("runs");
        let line = format!("sh -c 'echo run >> {}; echo svc_abcdef'", file.display());
        let lookup = KeyLookup::new(LookupOrigin::Command(KeyCommand::parse(&line).expect("a command")));

        let (first, second) = tokio::join!(lookup.key(), lookup.key());
        assert!(first.is_ok() && second.is_ok() && lookup.key().await.is_ok());
        lookup.note_refusal();
        assert!(lookup.key().await.is_ok());

        assert_eq!(std::fs::read_to_string(file).expect("the runs"), "run\n");
    }
}
