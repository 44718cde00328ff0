//! Local files: the directory that tools may read and write, names, patterns, and the progress of a transfer.

use std::{
    io,
    pin::pin,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use globset::{GlobBuilder, GlobMatcher};
use indicatif::HumanBytes;
use tokio::time::MissedTickBehavior;

use crate::{
    failure::{Cause, Code, Failure},
    text::{REPLACEMENT, first_characters, has_hidden},
    tools::context::CallOptions,
};

mod root;

pub use root::{Destination, FilesRoot};
pub(crate) use root::{FileSlot, OpenDirectory};

/// Longest file name in a failure, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Longest segment in bytes. File systems allow 255, and the names of incomplete files are longer than the final names.
const MAX_SEGMENT_BYTES: usize = 240;

/// Longest path in bytes.
const MAX_PATH_BYTES: usize = 1_000;

/// Names of devices on Windows, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Prefixes of device names on Windows that are followed by a digit.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Characters that this system does not allow in file names.
const FORBIDDEN: &[char] = if cfg!(windows) { &[':', '<', '>', '"', '|', '?', '*'] } else { &[] };

pub(crate) fn file_error(name: &str, what: &str) -> Failure {
    let name = first_characters(name, MAX_NAME_CHARS);
    Failure::new(Code::FileError, format!("`{name}` {what}")).detail("path", name)
}

/// Returns the failure of a file that cannot be read.
pub(crate) fn read_error(name: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => file_error(name, "does not exist")
            .hint("relative paths begin at TAS_FILES_ROOT, or at the working directory if it is not set"),
        _ => file_error(name, &format!("cannot be read: {error}")),
    }
}

/// Returns the failure of a file that cannot be written.
pub(crate) fn write_error(name: &str, error: &io::Error) -> Failure {
    use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};

    let mut failure = file_error(name, &format!("cannot be written: {error}"));
    if matches!(
        error.kind(),
        FileTooLarge | PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull
    ) {
        failure.facts.cause = Some(Cause::Unwritable);
        return failure.hint(
            "free disk space or choose another destination, and call again: saved files are not downloaded again",
        );
    }

    failure
}

/// Returns whether a name was refused because it leads out of the directory in which it was resolved.
pub(crate) fn is_escape(error: &io::Error) -> bool {
    // The refusal does not come from a system call and therefore has no error number.
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// Sleeps until `deadline`. Never returns if there is none.
pub(crate) async fn sleep_until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Returns the compiled pattern, such as `*.png` or `logs/**`. One without directories is matched with the last segment of a
/// name.
pub(crate) fn compile_pattern(pattern: &str) -> Result<GlobMatcher, String> {
    let anchored = match pattern.trim_start_matches('/') {
        below if pattern.contains('/') => below.to_owned(),
        last_segment => format!("**/{last_segment}"),
    };
    let glob = GlobBuilder::new(&anchored).literal_separator(true).backslash_escape(true).build();

    Ok(glob.map_err(|error| error.kind().to_string())?.compile_matcher())
}

/// Returns why `name`, a relative name with `/` between its segments, cannot be the name of a local file, or `None` if
/// it can. A name is used unchanged or refused, never changed into another one, so that two names cannot become equal.
pub fn path_problem(name: &str) -> Option<&'static str> {
    shape_problem(name).or_else(|| name.split('/').find_map(effect_problem))
}

/// Returns why `name` cannot be the name of a remote file, or `None` if it can. The file may need another local name.
pub(crate) fn shape_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("is empty");
    }
    if name.len() > MAX_PATH_BYTES {
        return Some("is too long");
    }
    if name.starts_with('/') || has_drive_letter(name) {
        return Some("is absolute");
    }

    name.split('/').find_map(segment_shape_problem)
}

/// Returns why `segment` cannot be the name of a single file or directory, or `None` if it can.
fn segment_problem(segment: &str) -> Option<&'static str> {
    segment_shape_problem(segment).or_else(|| effect_problem(segment))
}

/// Returns why other programs could act on a file or directory with the name `segment`.
fn effect_problem(segment: &str) -> Option<&'static str> {
    match segment.chars().next() {
        Some('.') => Some("has a segment that begins with a dot, as files do that programs act on"),
        Some('-') => Some("has a segment that begins with `-`, as options of programs do"),
        _ => None,
    }
}

fn segment_shape_problem(segment: &str) -> Option<&'static str> {
    Some(match segment {
        "" => "has an empty segment",
        "." => "has the segment `.`",
        ".." => "has the segment `..`",
        _ if segment.contains('\\') => "has a backslash",
        _ if segment.contains(char::is_control) => "has a control character",
        _ if has_hidden(segment) => "has an invisible character",
        _ if segment.contains(REPLACEMENT) => "has a character that cannot be shown",
        _ if segment.contains(FORBIDDEN) => "has a character that this system does not allow",
        _ if has_drive_letter(segment) => "has a drive letter",
        _ if segment.ends_with(['.', ' ']) => "has a segment that ends with a dot or a space",
        _ if is_device(segment) => "has a segment that Windows takes for a device",
        _ if segment.len() > MAX_SEGMENT_BYTES => "has a segment that is too long",
        _ => return None,
    })
}

fn has_drive_letter(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn is_device(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or_default().trim_end_matches(' ').to_lowercase();
    let is_digit = |rest: &str| matches!(rest.chars().collect::<Vec<_>>()[..], ['0'..='9' | '¹' | '²' | '³']);
    let is_numbered = |device: &str| stem.strip_prefix(device).is_some_and(is_digit);
    DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.into_iter().any(is_numbered)
}

/// Counts the bytes of a transfer. All its parts or files share the counters.
#[derive(Debug, Default)]
pub(crate) struct TransferProgress {
    total: AtomicU64,
    /// Bytes at their destination, and the bytes of what is in transfer.
    done: AtomicU64,
    /// The part of `done` that an earlier transfer has left.
    present: AtomicU64,
    /// Bytes that had to be transferred again.
    again: AtomicU64,
    started: OnceLock<Instant>,
}

impl TransferProgress {
    /// Creates the progress of a transfer of `total` bytes.
    pub(crate) fn new(total: u64) -> Self {
        Self { total: total.into(), ..Self::default() }
    }

    pub(crate) fn start_clock(&self) {
        self.started.get_or_init(Instant::now);
    }

    /// Adds the size of a file whose size was not known before.
    pub(crate) fn add_expected(&self, bytes: u64) {
        self.total.fetch_add(bytes, Relaxed);
    }

    /// Counts bytes that need no transfer.
    pub(crate) fn add_present(&self, bytes: u64) {
        self.present.fetch_add(bytes, Relaxed);
        self.done.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn add_transferred(&self, bytes: u64) {
        self.done.fetch_add(bytes, Relaxed);
    }

    /// Takes back bytes that have to be transferred again.
    pub(crate) fn take_back(&self, bytes: u64) {
        self.done.fetch_sub(bytes, Relaxed);
        self.again.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    pub(crate) fn done(&self) -> u64 {
        self.done.load(Relaxed).min(self.total())
    }

    pub(crate) fn bytes_again(&self) -> u64 {
        self.again.load(Relaxed)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.get().map(Instant::elapsed).unwrap_or_default()
    }

    /// Returns the progress as text: bytes so far, total bytes and rate.
    pub(crate) fn describe(&self) -> String {
        let done = self.done();
        let transferred = done.saturating_sub(self.present.load(Relaxed));
        let rate = u128::from(transferred) * 1000 / self.elapsed().as_millis().max(1);

        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        let [done, total, rate] = [done, self.total(), rate].map(HumanBytes);
        format!("{done} of {total}, {rate}/s")
    }

    pub(crate) fn report_to(&self, options: &CallOptions) {
        options.progress.report(self.done(), self.total(), &self.describe());
    }

    /// Waits for `work`, and reports the progress meanwhile.
    pub(crate) async fn report_during<T>(
        &self,
        work: impl Future<Output = T>,
        options: &CallOptions,
        interval: Duration,
    ) -> T {
        let mut work = pin!(work);
        let mut ticks = tokio::time::interval(interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);

        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = ticks.tick() => self.report_to(options),
            }
        }
    }
}
