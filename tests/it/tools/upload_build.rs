//! `upload_build` and `tas-mcp upload`: a file becomes a build (specification, Multipart build upload; supplement 10, 15,
//! 16).

use std::{path::PathBuf, time::Duration};

use serde_json::{Value, json};
use tas_mcp::{
    backoff::Backoff,
    sandbox::{Options, keys},
    settings::Settings,
    tools::upload::UploadTiming,
};
use tempfile::TempDir;

use crate::support::{host::Host, service::Service};

mod answers;
mod asked;
mod bounds;
mod cancelling;
mod command;
mod details;
mod early;
mod fault_table;
mod faults;
mod files;
mod journal;
mod progress;
mod results;
mod resuming;
mod rules;
mod secure;
mod tokens;

/// Bytes of a part in these tests.
const PART: usize = 1_000;

/// A sandbox with small parts, a files root and a state directory.
struct UploadFixture {
    service: Service,
    root: TempDir,
    state: TempDir,
}

impl UploadFixture {
    async fn open() -> Self {
        let options = Options { speed: 0.0, part_size: PART as u64, ..Options::default() };
        let [root, state] = [(), ()].map(|()| TempDir::new().expect("a directory"));
        Self { service: Service::with(options).await, root, state }
    }

    /// Writes a file below the root.
    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.root.path().join(name);
        std::fs::write(&path, bytes).expect("it can be written");
        path
    }

    /// Settings of this fixture, with uploads that pause for no time.
    fn settings(&self, key: &str, more: &[(&str, &str)]) -> Settings {
        let [root, state] = [&self.root, &self.state].map(text_of);
        let own = [("TAS_FILES_ROOT", root.as_str()), ("TAS_STATE_DIR", state.as_str())];
        self.service.settings(key, &[&own, more].concat()).with_upload_timing(short_pauses())
    }

    async fn host(&self) -> Host {
        Host::open(&self.settings(keys::DEMO, &[])).await
    }

    /// The variables of the binary in this fixture.
    fn variables(&self) -> Vec<(String, String)> {
        let own = [
            ("TAS_BASE_URL", self.service.base_url()),
            ("TAS_API_KEY", keys::DEMO.to_owned()),
            ("TAS_STATE_DIR", text_of(&self.state)),
        ];
        own.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    /// How many uploads are under way, and in how many files the sandbox keeps bytes.
    async fn leftovers(&self) -> (usize, u64) {
        let shown = self.service.control("uploads").await;
        (shown["data"].as_array().expect("a list").len(), shown["files"].as_u64().expect("a number"))
    }

    /// The journals: each by its text.
    fn journals(&self) -> Vec<String> {
        self.journal_paths().iter().map(|path| std::fs::read_to_string(path).expect("a text")).collect()
    }

    fn journal_paths(&self) -> Vec<PathBuf> {
        let Ok(files) = std::fs::read_dir(self.state.path().join("uploads")) else { return Vec::new() };
        files.map(|file| file.expect("an entry").path()).collect()
    }

    /// What was PUT to the storage host so far, each as `number status`, in the order of the requests.
    async fn puts(&self) -> Vec<String> {
        let log = self.service.control("requests").await;
        let seen = log["data"].as_array().expect("a list").iter().filter(|seen| seen["method"] == "PUT");
        let line = |seen: &Value| {
            let path = seen["path"].as_str().expect("a path").split('?').next().unwrap_or_default();
            format!("{} {}", path.rsplit('/').next().unwrap_or_default(), seen["status"])
        };

        seen.map(line).collect()
    }

    /// Waits until so many parts are on their way and unanswered, and none has been answered.
    async fn wait_for_pending_parts(&self, parts: usize) {
        self.wait_for_parts(0, parts).await;
    }

    /// Waits until so many parts have been answered, and so many are unanswered.
    async fn wait_for_parts(&self, answered: usize, pending: usize) {
        loop {
            let puts = self.puts().await;
            let held = puts.iter().filter(|put| put.ends_with(" null")).count();
            if (puts.len() - held, held) == (answered, pending) {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until nothing is under way at the service any more.
    async fn wait_for_cleanup(&self) {
        while self.leftovers().await != (0, 0) {
            tokio::task::yield_now().await;
        }
    }
}

/// Retries at once, and never out of patience.
fn short_pauses() -> UploadTiming {
    UploadTiming {
        backoff: Backoff::new(Duration::from_millis(1), Duration::from_millis(1), 1.0),
        ..UploadTiming::default()
    }
}

fn text_of(directory: &TempDir) -> String {
    directory.path().to_str().expect("a text").to_owned()
}

/// Bytes of a file, different at every place.
fn bytes(size: usize) -> Vec<u8> {
    (0..size).map(|index| u8::try_from(index * 7 % 251).expect("less than 256")).collect()
}

/// Holds every part back for longer than a test takes, after the first `free` ones.
async fn hold_parts(service: &Service, free: usize) {
    if free > 0 {
        service.fault(json!({"operation": "put_part", "delay_ms": 0, "times": free})).await;
    }
    service.fault(json!({"operation": "put_part", "delay_ms": 60_000, "times": 1_000})).await;
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// SHA-256 of the whole, in hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    let digits = digest.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}
