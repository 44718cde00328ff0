//! A service whose answers a test chooses. They may violate the contract.

use std::sync::{Arc, Mutex};

use axum::{Router, extract::Request, response::IntoResponse};
use serde_json::Value;
use tas_mcp::settings::Settings;
use tokio::{net::TcpListener, task::AbortHandle};

use super::service::settings;

/// A server on the loopback. It ends when this value is dropped.
pub(crate) struct Stub {
    base_url: String,
    targets: Arc<Mutex<Vec<String>>>,
    serving: AbortHandle,
}

impl Stub {
    /// Starts a service. `answer` returns the status and the JSON body for `METHOD path`, with the path below `/api/v1`.
    pub(crate) async fn start<A, F>(answer: A) -> Self
    where
        A: Fn(String) -> F + Send + Sync + 'static,
        F: Future<Output = (u16, Value)> + Send,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base_url = format!("http://{}/api/v1", listener.local_addr().expect("an address"));
        let targets = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&targets);
        // The server copies what answers for each request.
        let answer = Arc::new(answer);
        let router = Router::new().fallback(move |request: Request| {
            let path = request.uri().path_and_query().map_or("", |path| path.as_str());
            let target = format!("{} {}", request.method(), path.trim_start_matches("/api/v1"));
            log.lock().expect("no test panics here").push(target.clone());
            let pending = answer(target);
            async move {
                let (status, body) = pending.await;
                let status = axum::http::StatusCode::from_u16(status).expect("a status");
                // The client repeats failed requests without a pause.
                (status, [("content-type", "application/json"), ("retry-after", "0")], body.to_string())
                    .into_response()
            }
        });

        let serving = tokio::spawn(async move { axum::serve(listener, router).await }).abort_handle();

        Self { base_url, targets, serving }
    }

    /// Returns the address of the main API.
    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns settings with this key and these variables.
    pub(crate) fn settings(&self, key: &str, more: &[(&str, &str)]) -> Settings {
        let own = [("TAS_BASE_URL", self.base_url.as_str()), ("TAS_API_KEY", key)];
        settings(&[&own, more].concat())
    }

    /// Returns the requests so far, as `METHOD path`.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.targets.lock().expect("no test panics here").clone()
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
