//! A sandbox whose clock stands still, and a plain HTTP client for it.

use std::net::{Ipv4Addr, SocketAddr};

use reqwest::{Method, RequestBuilder, Response, redirect::Policy};
use serde_json::{Value, json};
use tas_mcp::sandbox::{Observer, Options, Sandbox, keys, start};

use crate::support::service::still_sandbox;

/// A sandbox, and the key of the requests to it.
pub(super) struct Client {
    pub(super) sandbox: Sandbox,
    http: reqwest::Client,
    key: Option<&'static str>,
}

/// An answer: status and JSON body.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl Client {
    /// Starts a sandbox. Requests use the key of `demo`.
    pub(super) async fn demo() -> Self {
        Self::with(still_sandbox(), None).await
    }

    /// Starts a sandbox with these options and an observer.
    pub(super) async fn with(options: Options, observer: Option<Observer>) -> Self {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let sandbox = start(listen, options, observer).await.expect("a free port");

        let http = crate::support::plain_client().redirect(Policy::none()).build().expect("a plain client");

        Self { sandbox, http, key: Some(keys::DEMO) }
    }

    /// Returns the same sandbox with another key for requests.
    pub(super) fn key(mut self, key: &'static str) -> Self {
        self.key = Some(key);
        self
    }

    /// Returns the same sandbox with requests that have no key.
    pub(super) fn without_key(mut self) -> Self {
        self.key = None;
        self
    }

    /// Sends a request to the base URL, or to the knowledge host for paths outside the main API.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> reqwest::Result<Response> {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body);
        }
        request.send().await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let elsewhere =
            ["/_sandbox", "/file-storage/", "/storage/"].iter().any(|prefix| path.starts_with(prefix));
        let host = if elsewhere || path.contains("/artifacts") {
            self.sandbox.knowledge_url()
        } else {
            self.sandbox.base_url()
        };
        let request = self.http.request(method, format!("{host}{path}"));

        match self.key {
            Some(key) => request.header("x-api-key", key),
            None => request,
        }
    }

    /// Returns the response to a GET with these headers. A redirect is not followed.
    pub(super) async fn get_with(&self, path: &str, headers: &[(&'static str, &str)]) -> Response {
        let request = self.request(Method::GET, path);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        request.send().await.expect("an answer")
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        answer(self.send(Method::GET, path, None).await).await
    }

    /// Sends a request without fields.
    pub(super) async fn answer(&self, method: Method, path: &str) -> Answer {
        let body = (method != Method::DELETE).then(|| "{}".to_owned());
        answer(self.send(method, path, body).await).await
    }

    pub(super) async fn delete(&self, path: &str) -> Answer {
        self.answer(Method::DELETE, path).await
    }

    pub(super) async fn delete_with(&self, path: &str, body: Value) -> Answer {
        answer(self.send(Method::DELETE, path, Some(body.to_string())).await).await
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Answer {
        answer(self.send(Method::POST, path, Some(body.to_string())).await).await
    }

    pub(super) async fn patch(&self, path: &str, body: Value) -> Answer {
        answer(self.send(Method::PATCH, path, Some(body.to_string())).await).await
    }

    /// Returns the first job of a start.
    pub(super) async fn job(&self, started: &Answer) -> Value {
        let id = started.body["job_ids"][0].as_str().expect("a job id");
        self.read(&format!("/jobs/{id}")).await
    }

    /// Returns the last run of the first job of a start.
    pub(super) async fn last_run(&self, started: &Answer) -> Value {
        let job = self.job(started).await;
        let run = job["runs"].as_array().and_then(|runs| runs.last()).expect("a run");
        self.read(&format!("/runs/{}", run["multiplayer_run_id"].as_str().expect("a run id"))).await
    }

    /// Returns the body of a successful GET.
    pub(super) async fn read(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }
}

/// Returns an answer with the general error body.
pub(super) fn error(status: u16, error: &str) -> Answer {
    Answer { status, body: json!({"error": error}) }
}

async fn answer(response: reqwest::Result<Response>) -> Answer {
    let response = response.expect("an answer");
    let status = response.status().as_u16();
    let text = response.text().await.expect("a body");
    Answer { status, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) }
}
