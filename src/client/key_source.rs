//! Where the API key comes from: a setting, a file, a command, or the keys that `tas-mcp login` has stored.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::Command,
    sync::Mutex,
    time::Instant,
};

use super::{
    address::HostUrl,
    key::ApiKey,
    key_store::{KeyStore, StoredRecord},
};
use crate::{
    failure::{Code, Failure},
    text::{guidance::Guidance, trimmed},
};

/// Maximum size of a key file, in bytes.
const MAX_KEY_FILE_BYTES: u64 = 64 * 1024;

/// How long a key is used before it is looked up again.
const MAX_AGE: Duration = Duration::from_secs(5 * 60);

/// How long a call waits for a look-up. A keychain or a password manager may ask the user.
const WAIT_LIMIT: Duration = Duration::from_secs(30);

/// Maximum size of what the command prints, in bytes. A key is far shorter.
const MAX_OUTPUT_BYTES: u64 = 4 * 1024;

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
    /// A fixed key.
    pub fn fixed(text: &str) -> Result<Self, String> {
        ApiKey::parse(text).map(Self::Fixed)
    }

    /// The key in a file.
    pub fn file(path: PathBuf) -> Result<Self, String> {
        read_key_file(&path)?;
        Ok(Self::File(path))
    }

    /// The output of a command, which runs when a call first needs the key.
    pub fn command(text: &str) -> Result<Self, String> {
        let command = KeyCommand::parse(text)?;
        Ok(Self::Lookup(Arc::new(KeyLookup::new(Origin::Command(command)))))
    }

    /// A stored key, which is looked for when a call first needs it.
    pub fn stored(stored: StoredKey) -> Self {
        Self::Lookup(Arc::new(KeyLookup::new(Origin::Stored(stored))))
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
            no_key(
                format!("the API key cannot be used: TAS_API_KEY_FILE {problem}"),
                "put a valid key into that file; the next call reads it again",
            )
        })
    }

    /// Notes that the service has refused the key. A key that was looked up is looked up again for a later call.
    pub fn note_refusal(&self) {
        // A look-up that has the lock finds another key.
        if let Self::Lookup(lookup) = self
            && let Ok(mut latest) = lookup.latest.try_lock()
        {
            *latest = None;
        }
    }
}

/// Reads the key in a file. Errors show only an absolute path: another text may be a key that was set in the wrong place.
fn read_key_file(path: &Path) -> Result<ApiKey, String> {
    let name = if path.is_absolute() { format!("{}, ", path.display()) } else { String::new() };
    let unreadable = |error: io::Error| format!("names {name}a file that cannot be read: {error}");

    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() > MAX_KEY_FILE_BYTES {
        return Err("does not name a file with a key".to_owned());
    }

    let text = fs::read_to_string(path).map_err(unreadable)?;

    ApiKey::parse(&text).map_err(|problem| format!("names a file whose content {problem}"))
}

fn no_key(message: String, hint: impl Into<Guidance>) -> Failure {
    Failure::new(Code::NotConfigured, message).hint(hint)
}

/// A key that is looked up when it is needed.
#[derive(Debug)]
pub struct KeyLookup {
    origin: Origin,
    /// What the latest look-up has found, and when. Simultaneous calls wait for the same look-up.
    latest: Mutex<Option<(Instant, Result<ApiKey, Failure>)>>,
}

#[derive(Debug)]
enum Origin {
    Command(KeyCommand),
    Stored(StoredKey),
}

impl KeyLookup {
    fn new(origin: Origin) -> Self {
        Self { origin, latest: Mutex::default() }
    }

    async fn key(&self) -> Result<ApiKey, Failure> {
        let mut latest = self.latest.lock().await;
        if let Some((at, found)) = &*latest
            && at.elapsed() < MAX_AGE
        {
            return found.clone();
        }

        let looked_up = tokio::time::timeout(WAIT_LIMIT, self.origin.look_up()).await;
        let late = || self.origin.failure(&format!("has not answered within {} s", WAIT_LIMIT.as_secs()));
        let found = looked_up.unwrap_or_else(|_| Err(late()));
        // A failed command is not run for every call, because it may ask a person. A key that is stored later is found.
        let is_kept = found.is_ok() || matches!(self.origin, Origin::Command(_));
        *latest = is_kept.then(|| (Instant::now(), found.clone()));

        found
    }
}

impl Origin {
    async fn look_up(&self) -> Result<ApiKey, Failure> {
        match self {
            Self::Command(command) => command.run().await.map_err(|reason| self.failure(&reason)),
            Self::Stored(stored) => stored.find().await,
        }
    }

    /// Returns the failure of a look-up. `reason` continues a sentence that begins with the origin.
    fn failure(&self, reason: &str) -> Failure {
        let (origin, hint) = match self {
            Self::Command(_) => ("the command of TAS_API_KEY_COMMAND", "try the command in a terminal"),
            Self::Stored(_) => ("the keychain", "unlock the keychain"),
        };
        no_key(format!("no API key: {origin} {reason}"), hint)
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
    /// The key of `account` for requests to these hosts. `withheld` says why another key is not used.
    pub fn new<'a>(
        store: KeyStore,
        account: String,
        hosts: impl IntoIterator<Item = &'a HostUrl>,
        withheld: Option<String>,
    ) -> Self {
        let addresses = hosts.into_iter().map(|host| host.as_str().to_owned()).collect();
        Self { store, account, addresses, withheld }
    }

    async fn find(&self) -> Result<ApiKey, Failure> {
        let account = self.account.clone();
        match self.store.in_background(move |store| store.find(&account)).await {
            Ok(Some((record, _))) => return self.bound_key(record),
            Ok(None) => {}
            Err(failure) => return Err(no_key(format!("no API key: {failure}"), failure.hint)),
        }

        let message = format!(
            "no API key: no key is stored for the account `{}`, and `TAS_API_KEY` {}",
            self.account,
            self.withheld.as_deref().unwrap_or("is not set")
        );
        let hint = "run `tas-mcp login` in a terminal, or set TAS_API_KEY, TAS_API_KEY_FILE or TAS_API_KEY_COMMAND; `--sandbox` works without settings";

        Err(no_key(message, hint))
    }

    /// Returns the key if it was stored for all addresses.
    fn bound_key(&self, record: StoredRecord) -> Result<ApiKey, Failure> {
        let other = self.addresses.iter().find(|address| !record.addresses.contains(address));
        let Some(other) = other else { return Ok(record.key) };

        let stored_for = record.addresses.join(" and ");
        let message = format!(
            "the API key of the account `{}` is stored for {stored_for}, and is not sent to {other}",
            self.account
        );

        Err(no_key(message, "correct the address, or sign in for it with `tas-mcp login`"))
    }
}

/// A command line that prints the key. It runs without a shell.
#[derive(Clone)]
struct KeyCommand {
    program: String,
    arguments: Vec<String>,
}

impl fmt::Debug for KeyCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The words are left out, because the key may have been set in place of a command.
        formatter.debug_struct("KeyCommand").finish_non_exhaustive()
    }
}

impl KeyCommand {
    /// Splits a command line into words as a shell does. Nothing is expanded.
    ///
    /// # Errors
    /// Describes why the text is no command line, without showing it.
    fn parse(text: &str) -> Result<Self, String> {
        let words = shlex::split(text).ok_or("has a quotation mark or backslash without its counterpart")?;
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty()).ok_or("names no program")?;

        Ok(Self { program, arguments: words.collect() })
    }

    /// Runs the command, and returns the key that it prints.
    ///
    /// # Errors
    /// Describes what went wrong, without anything that the command printed.
    async fn run(&self) -> Result<ApiKey, String> {
        let output = self.output().await?;
        let text = std::str::from_utf8(&output).map_err(|_| "prints text that is not UTF-8")?;
        let text = trimmed(text);
        if text.is_empty() {
            return Err("prints nothing".to_owned());
        }
        if text.lines().count() > 1 {
            return Err("prints more than one line: it must print only the key".to_owned());
        }

        ApiKey::parse(text).map_err(|problem| format!("prints a text that {problem}"))
    }

    /// Returns what the command prints. If this future is dropped, the command is killed.
    async fn output(&self) -> Result<Vec<u8>, String> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).kill_on_drop(true);
        // Standard error is not shown, because it may contain secrets.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());

        let mut child = command.spawn().map_err(|error| not_started(&error))?;
        let printed = read_output(child.stdout.take()).await?;
        let status = child.wait().await.map_err(|error| format!("cannot be waited for: {error}"))?;

        match status.code() {
            Some(0) => Ok(printed),
            Some(code) => Err(format!("fails with exit code {code}")),
            None => Err("was ended by a signal".to_owned()),
        }
    }
}

/// Reads the output to its end, unless it is too long for a key.
async fn read_output(output: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, String> {
    let mut printed = Vec::new();
    if let Some(output) = output {
        let read = output.take(MAX_OUTPUT_BYTES + 1).read_to_end(&mut printed).await;
        read.map_err(|error| format!("prints what cannot be read: {error}"))?;
    }
    if u64::try_from(printed.len()).is_ok_and(|length| length > MAX_OUTPUT_BYTES) {
        return Err(format!("prints more than {MAX_OUTPUT_BYTES} bytes, which cannot be a key"));
    }

    Ok(printed)
}

fn not_started(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "names a program that does not exist".to_owned(),
        _ => format!("names a program that cannot be started: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[tokio::test]
    async fn simultaneous_calls_share_one_run_of_the_command() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("runs");
        let runs = || fs::read_to_string(&file).expect("the runs").lines().count();
        let source = KeySource::command(&format!("sh -c 'echo run >> {}; echo svc_abcdef'", file.display()));
        let source = source.expect("a command");

        let (first, second) = tokio::join!(source.key(), source.key());
        assert!(first.is_ok() && second.is_ok() && source.key().await.is_ok());
        assert_eq!(runs(), 1);

        source.note_refusal();
        assert!(source.key().await.is_ok() && source.key().await.is_ok());
        assert_eq!(runs(), 2, "a refused key is looked up again");
    }
}
