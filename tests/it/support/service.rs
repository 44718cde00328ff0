//! A sandbox that checks every answer against the contract, and settings for it.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tas_mcp::{
    sandbox::{self, Exchange, Options, Sandbox},
    settings::{self, Settings},
};

use super::{contract, time::START};

/// Returns the options of a sandbox whose clock stands still, so that records have the same times in every run of a test.
pub(crate) fn still_sandbox() -> Options {
    Options { start: Some(START), speed: 0.0, ..Options::default() }
}

/// A running sandbox. A violation of the contract in any answer fails the test.
pub(crate) struct Service {
    sandbox: Sandbox,
    control: reqwest::Client,
    violations: Arc<Mutex<Vec<String>>>,
}

impl Service {
    /// Starts a sandbox whose clock stands still.
    pub(crate) async fn start() -> Self {
        Self::with(still_sandbox()).await
    }

    /// Starts a sandbox with these options.
    pub(crate) async fn with(options: Options) -> Self {
        let violations = Arc::new(Mutex::new(Vec::new()));
        let found = Arc::clone(&violations);
        let observer = move |exchange: &Exchange| {
            let broken = contract::violations(
                exchange.method.as_str(),
                &exchange.path,
                exchange.status,
                exchange.content_type.as_deref(),
                &exchange.body,
            );
            found.lock().expect("no test panics here").extend(broken);
        };

        let free_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let sandbox =
            sandbox::start(free_port, options, Some(Arc::new(observer))).await.expect("a free port");
        let control = crate::support::plain_client().build().expect("a client");

        Self { sandbox, control, violations }
    }

    pub(crate) fn base_url(&self) -> String {
        self.sandbox.base_url()
    }

    pub(crate) fn knowledge_url(&self) -> String {
        self.sandbox.knowledge_url()
    }

    /// Returns the bytes at an address of the sandbox.
    pub(crate) async fn fetch(&self, address: &str, key: &str) -> Vec<u8> {
        let answer = self.control.get(address).header("x-api-key", key).send().await.expect("an answer");
        assert!(answer.status().is_success(), "{address}: {}", answer.status());
        answer.bytes().await.expect("a body").to_vec()
    }

    /// Returns settings with this key and these variables.
    pub(crate) fn settings(&self, key: &str, more: &[(&str, &str)]) -> Settings {
        let (base_url, knowledge_url) = (self.base_url(), self.knowledge_url());
        let own =
            [("TAS_BASE_URL", &*base_url), ("TAS_KNOWLEDGE_URL", &*knowledge_url), ("TAS_API_KEY", key)];
        settings(&[&own[..], more].concat())
    }

    /// Advances the clock of the sandbox.
    pub(crate) fn advance(&self, seconds: f64) {
        self.sandbox.advance(seconds);
    }

    /// Adds a fault; see `POST /_sandbox/faults`.
    pub(crate) async fn fault(&self, fault: Value) {
        self.post("faults", &fault).await;
    }

    /// Ends the delays of the current requests.
    pub(crate) async fn release(&self) {
        self.post("release", &json!({})).await;
    }

    /// Removes the faults that have not been used.
    pub(crate) async fn heal(&self) {
        let answer = self.control.delete(self.control_url("faults")).send().await;
        assert!(answer.expect("the sandbox is up").status().is_success());
    }

    /// Returns the answer of a control route.
    pub(crate) async fn control(&self, route: &str) -> Value {
        let answer = self.control.get(self.control_url(route)).send().await.expect("the sandbox is up");
        serde_json::from_slice(&answer.bytes().await.expect("a body")).expect("JSON")
    }

    /// Returns the bytes of an uploaded build, if there are any.
    pub(crate) async fn content(&self, build: &str) -> Option<Vec<u8>> {
        let url = self.control_url(&format!("builds/{build}/content"));
        let answer = self.control.get(url).send().await.expect("the sandbox is up");
        match answer.status().as_u16() {
            404 => None,
            200 => Some(answer.bytes().await.expect("a body").to_vec()),
            status => panic!("{status}"),
        }
    }

    /// Returns the requests so far, as `METHOD path status`.
    pub(crate) async fn requests(&self) -> Vec<String> {
        let log = self.control("requests").await;
        let line = |entry: &Value| {
            let path = entry["path"].as_str().expect("a path").trim_start_matches("/api/v1");
            format!("{} {path} {}", entry["method"].as_str().expect("a method"), entry["status"])
        };
        log["data"].as_array().expect("a list").iter().map(line).collect()
    }

    /// Returns the requests so far that were not GET requests.
    pub(crate) async fn writes(&self) -> Vec<String> {
        self.requests().await.into_iter().filter(|line| !line.starts_with("GET ")).collect()
    }

    async fn post(&self, route: &str, body: &Value) {
        let sending = self.control.post(self.control_url(route)).body(body.to_string());
        let answer =
            sending.header("content-type", "application/json").send().await.expect("the sandbox is up");
        assert!(answer.status().is_success(), "{route}: {}", answer.text().await.expect("a body"));
    }

    fn control_url(&self, route: &str) -> String {
        format!("http://{}/_sandbox/{route}", self.sandbox.address())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let violations = self.violations.lock().expect("no test panics here");
        // A second panic would abort the process and hide the first one.
        if !std::thread::panicking() {
            assert!(violations.is_empty(), "answers that violate the contract: {violations:#?}");
        }
    }
}

/// Returns settings from these variables only.
pub(crate) fn settings(variables: &[(&str, &str)]) -> Settings {
    settings_with(&[], variables)
}

/// Returns settings from these flags and variables.
pub(crate) fn settings_with(flags: &[&str], variables: &[(&str, &str)]) -> Settings {
    let arguments = ["tas-mcp"].iter().chain(flags);
    let matches = clap::Command::new("tas-mcp").args(settings::flags()).get_matches_from(arguments);
    let value = |name: &str| {
        variables.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    Settings::from_sources(&matches, value)
}
