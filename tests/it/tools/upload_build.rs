//! `upload_build` and `tas-mcp upload` (service.md 10, 15, 16).

use std::{path::PathBuf, time::Duration};

use serde_json::{Value, json};
use tas_mcp::{
    backoff::{Backoff, RetryPolicy},
    sandbox::{Options, keys},
    tools::upload::UploadTiming,
};

use crate::support::{
    fixture::{Fixture, Session},
    service::{Service, still_sandbox},
};

mod answers;
mod asked;
mod bounds;
mod cancelling;
mod command;
mod early;
mod fault_table;
mod faults;
mod files;
mod pausing;
mod private_files;
mod progress;
mod results;
mod resuming;
mod rules;
mod secure;

/// Size of a part in these tests, in bytes.
const PART: usize = 1_000;

/// Returns a fixture with small parts, a files root, a state directory, and uploads with short pauses.
fn fixture() -> Fixture {
    Fixture::new()
        .all_tools()
        .sandbox(Options { part_size: PART as u64, ..still_sandbox() })
        .files_root()
        .upload_timing(short_pauses())
}

impl<S> Session<S> {
    /// Writes a file below the files root.
    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.root().join(name);
        std::fs::write(&path, bytes).expect("it can be written");
        path
    }

    /// Returns the recorded states of uploads.
    fn states(&self) -> Vec<String> {
        self.state_paths().iter().map(|path| std::fs::read_to_string(path).unwrap_or_default()).collect()
    }

    fn state_paths(&self) -> Vec<PathBuf> {
        let Ok(files) = std::fs::read_dir(self.state().join("uploads")) else { return Vec::new() };
        let paths = files.map(|file| file.expect("an entry").path());
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
    }

    /// Waits until no upload is recorded.
    async fn wait_for_state_removal(&self) {
        while !self.states().is_empty() {
            tokio::task::yield_now().await;
        }
    }
}

impl Session {
    /// Returns the variables of the binary. The command line needs no files root.
    fn binary_variables(&self) -> Vec<(String, String)> {
        let own = [
            ("TAS_BASE_URL", self.service.base_url()),
            ("TAS_API_KEY", keys::DEMO.to_owned()),
            ("TAS_STATE_DIR", self.state().to_str().expect("UTF-8").to_owned()),
        ];
        own.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    /// Uploads a file through the tool, which must succeed.
    async fn upload(&mut self, name: &str) -> Value {
        self.host.succeed("upload_build", json!({"path": name})).await
    }

    /// Uploads a file through the tool, which must fail. Returns the error.
    async fn upload_failure(&mut self, name: &str) -> Value {
        self.host.fail("upload_build", json!({"path": name})).await
    }

    /// Starts an upload through the tool and returns the id of the request.
    async fn start_upload(&mut self, arguments: Value) -> u64 {
        self.host.start("tools/call", json!({"name": "upload_build", "arguments": arguments})).await
    }

    /// Cancels a request of the host.
    async fn cancel_request(&mut self, id: u64) {
        let params = json!({"requestId": id, "reason": "enough"});
        self.host
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
    }

    /// Returns the number of unfinished uploads, and of files that contain bytes of them.
    async fn leftovers(&self) -> (usize, u64) {
        let uploads = self.service.control("uploads").await;
        (uploads["data"].as_array().expect("a list").len(), uploads["files"].as_u64().expect("a number"))
    }

    /// Returns the PUT requests to the storage host so far, as `number status`, in the order of the requests.
    async fn puts(&self) -> Vec<String> {
        let log = self.service.control("requests").await;
        let requests = log["data"].as_array().expect("a list").iter();
        let line = |request: &Value| {
            let path = request["path"].as_str().expect("a path").split('?').next().unwrap_or_default();
            format!("{} {}", path.rsplit('/').next().unwrap_or_default(), request["status"])
        };

        requests.filter(|request| request["method"] == "PUT").map(line).collect()
    }

    /// Waits until `parts` parts are unanswered, and none has been answered.
    async fn wait_for_pending_parts(&self, parts: usize) {
        self.wait_for_parts(0, parts).await;
    }

    /// Waits until `answered` parts have been answered, and `pending` parts are unanswered.
    async fn wait_for_parts(&self, answered: usize, pending: usize) {
        loop {
            let puts = self.puts().await;
            // A request without an answer has the status `null`.
            let unanswered = puts.iter().filter(|put| put.ends_with(" null")).count();
            if (puts.len() - unanswered, unanswered) == (answered, pending) {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until the service has no unfinished upload.
    async fn wait_for_cleanup(&self) {
        while self.leftovers().await != (0, 0) {
            tokio::task::yield_now().await;
        }
    }
}

/// Returns the default timing with the shortest pauses.
fn short_pauses() -> UploadTiming {
    let backoff = Backoff::new(Duration::from_millis(1), Duration::from_millis(1), 1.0);
    let retries = RetryPolicy { backoff, ..UploadTiming::default().retries };
    UploadTiming { retries, ..UploadTiming::default() }
}

/// Returns the bytes of a file. Parts of a file differ, so that a wrong order of parts is detected.
fn bytes(size: usize) -> Vec<u8> {
    (0..size).map(|index| u8::try_from(index * 7 % 251).expect("less than 256")).collect()
}

/// Delays every part after the first `free` parts for longer than a test takes.
async fn hold_parts(service: &Service, free: usize) {
    if free > 0 {
        service.fault(json!({"operation": "put_part", "delay_ms": 0, "times": free})).await;
    }
    // Tests release or cancel the parts, so that the delay never ends by itself.
    service.fault(json!({"operation": "put_part", "delay_ms": 60_000, "times": 1_000})).await;
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Returns the SHA-256 digest in hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    let digits = digest.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}
