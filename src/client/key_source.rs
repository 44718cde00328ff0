//! Where the API key comes from: a setting, a file, a command, or the keys that `tas-mcp login` has stored.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Mutex, task::JoinHandle, time::Instant};

use super::{
    address::HostUrl,
    key::ApiKey,
    key_command::KeyCommand,
    key_store::{FoundKey, KeyStore, KeyStoreError, StoredRecord},
};
use crate::{
    failure::{Code, Failure},
    text::guidance::Guidance,
};

/// Maximum size of a key file, in bytes.
const MAX_KEY_FILE_BYTES: u64 = 64 * 1024;

/// How long a key is used before it is looked up again.
const MAX_AGE: Duration = Duration::from_secs(5 * 60);

/// Least time between two look-ups after a failed one, and after the service has refused the key.
const PAUSE: Duration = Duration::from_secs(30);

/// How long a call waits for a look-up. The look-up continues, and a later call may see its end.
const WAIT_LIMIT: Duration = Duration::from_secs(35);

/// Where the API key comes from. The clones share what was looked up.
#[derive(Clone, Debug)]
pub enum KeySource {
    /// A key that stays the same.
    Fixed(ApiKey),
    /// A file that holds the key. It is read for every call: it is small, and a changed key is noticed in any case.
    File(PathBuf),
    /// A key that takes time to look up.
    Lookup(Arc<KeyLookup>),
    /// No key: each call brings its own one.
    EachCall,
}

impl KeySource {
    /// Creates a source with a fixed key.
    pub fn fixed(text: &str) -> Result<Self, String> {
        ApiKey::parse(text).map(Self::Fixed)
    }

    /// Creates a source that reads the key from a file.
    pub fn file(path: PathBuf) -> Result<Self, String> {
        read_key_file(&path)?;
        Ok(Self::File(path))
    }

    /// Creates a source that runs a command which prints the key. The command runs when a call first needs the key.
    pub fn command(text: &str) -> Result<Self, String> {
        let command = KeyCommand::parse(text)?;
        Ok(Self::Lookup(Arc::new(KeyLookup::new(LookupOrigin::Command(command)))))
    }

    /// Creates a source that looks for a stored key when a call first needs it.
    pub fn stored(stored: StoredKey) -> Self {
        Self::Lookup(Arc::new(KeyLookup::new(LookupOrigin::Stored(stored))))
    }

    /// Returns the key if it is known without a look-up.
    pub fn known_key(&self) -> Result<ApiKey, String> {
        match self {
            Self::Fixed(key) => Ok(key.clone()),
            Self::File(path) => read_key_file(path),
            Self::Lookup(_) => Err("is not known before a call".to_owned()),
            Self::EachCall => Err("is not set".to_owned()),
        }
    }

    /// Returns the current key.
    ///
    /// # Errors
    /// `not_configured` if there is no usable key.
    pub async fn key(&self) -> Result<ApiKey, Failure> {
        if let Self::Lookup(lookup) = self {
            return lookup.key().await;
        }

        self.known_key().map_err(|problem| {
            let message = format!("the API key cannot be used: TAS_API_KEY_FILE {problem}");
            Failure::new(Code::NotConfigured, message)
                .hint("put a valid key into that file; the next call reads it again")
        })
    }

    /// Notes that the service has refused the key. A key that was looked up is looked up again for a later call.
    pub fn note_refusal(&self) {
        if let Self::Lookup(lookup) = self {
            lookup.note_refusal();
        }
    }
}

/// Reads the key in a file. Errors do not show the path, because it may be a key that was set in the wrong place.
fn read_key_file(path: &Path) -> Result<ApiKey, String> {
    let unreadable = |error: io::Error| format!("names a file that cannot be read: {error}");

    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() > MAX_KEY_FILE_BYTES {
        return Err("does not name a file with a key".to_owned());
    }

    let text = fs::read_to_string(path).map_err(unreadable)?;

    ApiKey::parse(&text).map_err(|problem| format!("names a file whose content {problem}"))
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

/// Where a key is looked up.
#[derive(Clone, Debug)]
enum LookupOrigin {
    /// The output of a command.
    Command(KeyCommand),
    /// The keys that `tas-mcp login` has stored.
    Stored(StoredKey),
}

/// The end of a look-up.
#[derive(Debug)]
struct LookupOutcome {
    at: Instant,
    result: Result<ApiKey, LookupFailure>,
}

/// Why there is no key.
#[derive(Clone, Debug)]
struct LookupFailure {
    /// The failure of the call.
    failure: Failure,
    /// Whether the next call looks again without a pause, because a look-up costs nothing and disturbs nobody.
    is_cheap: bool,
}

impl LookupFailure {
    fn cheap(message: impl Into<String>, hint: impl Into<Guidance>) -> Self {
        Self { failure: Failure::new(Code::NotConfigured, message).hint(hint), is_cheap: true }
    }

    fn costly(message: impl Into<String>, hint: impl Into<Guidance>) -> Self {
        Self { is_cheap: false, ..Self::cheap(message, hint) }
    }
}

impl KeyLookup {
    fn new(origin: LookupOrigin) -> Self {
        Self { origin, state: Mutex::default(), is_refused: AtomicBool::new(false) }
    }

    /// Returns the key of the latest look-up, or of a new one if that is too old or was refused.
    ///
    /// # Errors
    /// `not_configured` if there is no usable key.
    async fn key(&self) -> Result<ApiKey, Failure> {
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

    fn note_refusal(&self) {
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

/// The stored key of an account, for requests to certain addresses.
#[derive(Clone, Debug)]
pub struct StoredKey {
    store: KeyStore,
    account: String,
    /// Addresses that the key would be sent to.
    addresses: Vec<String>,
    /// Why a key that is set is not used, as the end of a sentence that begins with its setting.
    withheld: Option<String>,
}

impl StoredKey {
    /// Returns the key of `account` for requests to these hosts. `withheld` says why another key is not used.
    pub fn new<'a>(
        store: KeyStore,
        account: String,
        hosts: impl IntoIterator<Item = &'a HostUrl>,
        withheld: Option<String>,
    ) -> Self {
        let addresses = hosts.into_iter().map(|host| host.as_str().to_owned()).collect();
        Self { store, account, addresses, withheld }
    }

    async fn find(&self) -> Result<ApiKey, LookupFailure> {
        let account = self.account.clone();
        match self.store.in_background(move |store| store.find(&account)).await {
            Ok(FoundKey::Found(record, _)) => self.bound_key(record),
            Ok(FoundKey::Missing(error)) => Err(self.missing(error.as_ref())),
            Err(error) => Err(unreadable(&error)),
        }
    }

    /// Returns the key if it was stored for all addresses.
    fn bound_key(&self, record: StoredRecord) -> Result<ApiKey, LookupFailure> {
        let other = self.addresses.iter().find(|address| !record.addresses.contains(address));
        let Some(other) = other else { return Ok(record.key) };

        let stored_for = record.addresses.join(" and ");
        let message = format!(
            "the API key of the account `{}` is stored for {stored_for}, and is not sent to {other}",
            self.account
        );
        let hint = "correct the address, or sign in for it with `tas-mcp login`";

        Err(LookupFailure::cheap(message, hint))
    }

    fn missing(&self, error: Option<&KeyStoreError>) -> LookupFailure {
        let reason = error.map(|error| format!(" ({error})")).unwrap_or_default();
        let message = format!(
            "no API key: no key is stored for the account `{}`{reason}, and `TAS_API_KEY` {}",
            self.account,
            self.withheld.as_deref().unwrap_or("is not set")
        );
        let hint = "run `tas-mcp login` in a terminal, or set TAS_API_KEY, TAS_API_KEY_FILE or TAS_API_KEY_COMMAND; `--sandbox` works without settings";

        LookupFailure::cheap(message, hint)
    }
}

fn unreadable(error: &KeyStoreError) -> LookupFailure {
    let (message, hint) = (format!("no API key: {error}"), error.hint());
    // A file is read again at once; a keychain may ask the user each time.
    if error.is_of_keychain() {
        LookupFailure::costly(message, hint)
    } else {
        LookupFailure::cheap(message, hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::KeyPlace;

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

        assert_eq!(fs::read_to_string(file).expect("the runs"), "run\n");
    }

    #[tokio::test]
    async fn a_key_is_used_only_for_the_addresses_that_it_was_stored_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = KeyStore::in_directory(directory.path());
        let [main, knowledge] = ["https://tas.example/api/v1", "https://files.example"];
        let key = ApiKey::parse("svc_planted").expect("a key");
        let record = StoredRecord { key, addresses: vec![main.to_owned(), knowledge.to_owned()] };
        store.save(KeyPlace::File, "default", &record).expect("written");

        for (hosts, refused) in [
            (&["https://tas.example/api/v1/"][..], None),
            (&[main, knowledge], None),
            (&["https://tas.example/other/api/v1"], Some("https://tas.example/other/api/v1")),
            (&["https://tas.example:444/api/v1"], Some("https://tas.example:444/api/v1")),
            (&["https://tas.example.evil/api/v1"], Some("https://tas.example.evil/api/v1")),
            (&[main, "https://evil.example"], Some("https://evil.example")),
        ] {
            let hosts: Vec<_> = hosts.iter().map(|host| HostUrl::parse(host).expect("an address")).collect();
            let found = StoredKey::new(store.clone(), "default".to_owned(), &hosts, None).find().await;
            match (found, refused) {
                (Ok(_), None) => {}
                (Err(LookupFailure { failure, .. }), Some(refused)) => {
                    assert!(failure.message.ends_with(&format!("is not sent to {refused}")), "{failure:?}");
                    assert!(!failure.to_json().contains("planted"), "{failure:?}");
                }
                (found, _) => panic!("{hosts:?}: {found:?}"),
            }
        }
    }
}
