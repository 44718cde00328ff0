//! Downloading: files of runs and installers, from the tools and from the command line.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use tas_mcp::{
    backoff::Backoff,
    failure::Failure,
    sandbox::{keys, seed},
    tools::{
        caller::CallerContext,
        dispatcher::Dispatcher,
        download::{DownloadOptions, DownloadReport, DownloadRequest},
        files::FilesRoot,
    },
};
use tempfile::TempDir;

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::Service,
    time::Simulated,
};

mod choosing;
mod ending;
mod existing;
mod holding;
mod minions;
mod names;
mod resuming;
mod root;
mod saving;
mod scope;
mod secrecy;
mod terminal;

const TOOL: &str = "download_run_files";
const ALL: (&str, &str) = ("TAS_TOOLSETS", "all");

/// Files of every player in the sandbox.
const NAMES: [&str; 4] = ["agent.log", "deliverables/report.json", "recording.mp4", "screenshots/end.png"];

/// A sandbox, an empty files root, and a server in front of them.
async fn open() -> (Arc<Service>, TempDir, Host) {
    open_with(keys::DEMO, &[]).await
}

async fn open_with(key: &str, variables: &[(&str, &str)]) -> (Arc<Service>, TempDir, Host) {
    let fixture = Fixture::new().key(key).all_tools().files_root().variables(variables);
    let Session { service, files_root, host, .. } = fixture.open().await;
    (service, files_root.expect("a files root"), host)
}

/// Arguments that save all files of a run in `out`.
fn all_of(run: &str) -> Value {
    json!({"run_id": run, "destination_dir": "out"})
}

fn player(run: &str, number: u64) -> String {
    format!("{run}-{number}")
}

/// The bytes of a file as the sandbox serves them.
async fn served(service: &Service, player: &str, name: &str) -> Vec<u8> {
    service.fetch(&format!("{}/runs/{player}/artifacts/{name}", service.knowledge_url()), keys::DEMO).await
}

/// Every file below a directory, by its name there; links are not followed.
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
            files.insert(name, fs::read(entry.path()).unwrap_or_default());
        }
    }

    files
}

fn names_below(directory: &Path) -> Vec<String> {
    files_below(directory).into_keys().collect()
}

/// The paths of the files that a report says are there.
fn paths(report: &Value) -> Vec<&str> {
    let files = report["files"].as_array().expect("a list");
    files.iter().map(|file| file["path"].as_str().expect("a path")).collect()
}

/// What a report says of files that are not there: reference, code and message.
fn failures(report: &Value) -> Vec<(String, String, String)> {
    let text = |failed: &Value, name: &str| failed[name].as_str().expect("a text").to_owned();
    let said = |failed: &Value| (text(failed, "file_ref"), text(failed, "code"), text(failed, "message"));
    report["failed"].as_array().map(|failed| failed.iter().map(said).collect()).unwrap_or_default()
}

/// A download that waits for nothing between attempts.
struct DownloadFixture {
    service: Service,
    root: TempDir,
    options: DownloadOptions,
    audience: CallerContext,
    clock: Arc<Simulated>,
    key: &'static str,
}

impl DownloadFixture {
    async fn new() -> Self {
        let backoff = Backoff::new(Duration::ZERO, Duration::ZERO, 1.0);
        Self {
            service: Service::start().await,
            root: tempfile::tempdir().expect("a directory"),
            options: DownloadOptions { backoff, attempts: 4, ..DownloadOptions::default() },
            audience: CallerContext::silent(),
            clock: Simulated::alone(),
            key: keys::DEMO,
        }
    }

    fn out(&self) -> PathBuf {
        self.root.path().join("out")
    }

    /// Saves the file of that name of the failed run.
    async fn save(&self, name: &str) -> Result<DownloadReport, Failure> {
        let request = DownloadRequest {
            run_id: seed::RUN_FAILED.to_owned(),
            patterns: Some(vec![name.to_owned()]),
            ..DownloadRequest::default()
        };
        self.run(request).await
    }

    async fn run(&self, request: DownloadRequest) -> Result<DownloadReport, Failure> {
        let settings = self.service.settings(self.key, &[]);
        let dispatcher = Dispatcher::new(settings.tools_config()).with_clock(self.clock.clone());
        let root = FilesRoot::new(self.root.path()).expect("a directory");
        let destination = root.destination("out").expect("below the root");
        request.run(dispatcher.gateway(), &destination, &self.options, &self.audience).await
    }

    /// The bytes of a file of the failed run as they are served.
    async fn served(&self, name: &str) -> Vec<u8> {
        served(&self.service, &player(seed::RUN_FAILED, 1), name).await
    }

    /// Orders a fault for the next requests of this operation.
    async fn fault(&self, operation: &str, mut fault: Value) {
        fault["operation"] = json!(operation);
        self.service.fault(fault).await;
    }

    /// Requests for files so far: what kind of host, and its status.
    async fn fetches(&self) -> Vec<String> {
        let requests = self.service.requests().await;
        let short = |line: &String| {
            let (host, status) = (line.contains("/storage/"), line.rsplit(' ').next()?.to_owned());
            let is_file = host || line.contains("/artifacts/");
            is_file.then(|| format!("{} {status}", if host { "storage" } else { "knowledge" }))
        };
        requests.iter().filter_map(short).collect()
    }
}
