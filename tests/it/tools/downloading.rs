//! Downloading: files of runs and installers, from the tool and from the command line.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tas_mcp::{
    failure::Failure,
    sandbox::{keys, seed},
    tools::{
        context::CallOptions,
        download::{DownloadReport, DownloadRunFiles, MAX_UNSIZED_BYTES},
        files::FilesRoot,
    },
};

use crate::support::{
    fixture::{Fixture, Session},
    service::Service,
};

mod ending;
mod existing;
mod names;
mod resuming;
mod root;
mod saving;
mod scope;
mod sizes;
mod terminal;

const TOOL: &str = "download_run_files";

/// Files of every player in the sandbox.
const NAMES: [&str; 5] = [
    "agent.log",
    "deliverables/report.json",
    "recording.mp4",
    "screenshots/end.png",
    "screenshots/step-2.png",
];

/// Returns a fixture with all tools and an empty files root.
fn fixture() -> Fixture {
    Fixture::new().all_tools().files_root()
}

/// Returns the arguments that save all files of a run in `out`.
fn all_of(run: &str) -> Value {
    with(run, json!({}))
}

/// Returns the arguments that save files of a run in `out`, with further arguments.
fn with(run: &str, mut more: Value) -> Value {
    more["run_id"] = json!(run);
    more["destination_dir"] = json!("out");
    more
}

/// Returns the directory in which the tool saves the files of the failed run.
fn out(session: &Session) -> PathBuf {
    session.root().join("out").join(seed::RUN_FAILED)
}

/// Returns the id of a player of a run.
fn player(run: &str, number: u64) -> String {
    format!("{run}-{number}")
}

/// Returns the bytes of a file as the sandbox serves them.
async fn served(service: &Service, player: &str, name: &str) -> Vec<u8> {
    service.fetch(&format!("{}/runs/{player}/artifacts/{name}", service.knowledge_url()), keys::DEMO).await
}

/// Returns the files below a directory by their relative names. Links are not followed.
fn files_below(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut rest) = (BTreeMap::new(), vec![directory.to_owned()]);
    while let Some(next) = rest.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a kind").is_dir() {
                rest.push(entry.path());
                continue;
            }
            let name = entry.path().strip_prefix(directory).expect("below").to_string_lossy().into_owned();
            // The mark of a directory of downloads.
            if name.ends_with(".tas-mcp-files") {
                continue;
            }
            files.insert(name, fs::read(entry.path()).unwrap_or_default());
        }
    }

    files
}

fn names_below(directory: &Path) -> Vec<String> {
    files_below(directory).into_keys().collect()
}

/// Returns the paths of the saved files in a report.
fn paths(report: &Value) -> Vec<&str> {
    let files = report["files"].as_array().expect("a list");
    files.iter().map(|file| file["path"].as_str().expect("a path")).collect()
}

/// Returns reference, code and message of each failed file in a report.
fn failures(report: &Value) -> Vec<(String, String, String)> {
    let text = |failed: &Value, name: &str| failed[name].as_str().expect("a text").to_owned();
    let fields = |failed: &Value| (text(failed, "file_ref"), text(failed, "code"), text(failed, "message"));
    report["failed"].as_array().map(|failed| failed.iter().map(fields).collect()).unwrap_or_default()
}

/// A session whose downloads are called without the host, with simulated time and a limit that no setting has.
struct DirectDownload {
    session: Session,
    max_unsized_bytes: u64,
    options: CallOptions,
}

impl DirectDownload {
    async fn open(fixture: Fixture) -> Self {
        let session = fixture.simulated_time_alone().open().await;
        Self { session, max_unsized_bytes: MAX_UNSIZED_BYTES, options: CallOptions::silent() }
    }

    /// Returns the destination of the downloads.
    fn out(&self) -> PathBuf {
        self.session.root().join("out")
    }

    /// Saves the file with this name of the failed run.
    async fn save(&self, name: &str) -> Result<DownloadReport, Failure> {
        self.run(with(seed::RUN_FAILED, json!({"patterns": [name]}))).await
    }

    async fn run(&self, arguments: Value) -> Result<DownloadReport, Failure> {
        let caller = self.session.tools().caller;
        let root = FilesRoot::new(self.session.root()).expect("a directory");
        let destination = root.destination("out").expect("below the root");
        let request: DownloadRunFiles = serde_json::from_value(arguments).expect("arguments");

        request.save(&caller, None, &destination, self.max_unsized_bytes, &self.options).await
    }

    /// Returns the bytes of a file of the failed run as the sandbox serves them.
    async fn served(&self, name: &str) -> Vec<u8> {
        served(&self.session.service, &player(seed::RUN_FAILED, 1), name).await
    }

    /// Adds a fault for the next requests of an operation.
    async fn fault(&self, operation: &str, mut fault: Value) {
        fault["operation"] = json!(operation);
        self.session.service.fault(fault).await;
    }

    /// Returns the requests for files so far, as `host status`.
    async fn file_requests(&self) -> Vec<String> {
        let requests = self.session.service.requests().await;
        let file_request = |line: &String| {
            let (is_storage, status) = (line.contains("/storage/"), line.rsplit(' ').next()?.to_owned());
            let is_file = is_storage || line.contains("/artifacts/");
            is_file.then(|| format!("{} {status}", if is_storage { "storage" } else { "knowledge" }))
        };

        requests.iter().filter_map(file_request).collect()
    }
}
