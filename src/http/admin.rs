//! Health and metrics, on an address of their own. The host of a request does not matter there, because probes send any.

use std::io;

use axum::{Router, extract::State, routing::get};
use http::{HeaderName, HeaderValue, StatusCode, header};
use tokio::net::TcpListener;

use super::application::Application;

/// Media type of the metrics (`OpenMetrics` 1.0).
const METRICS_TYPE: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Serves health and metrics forever.
///
/// # Errors
/// The error of the listener.
pub(super) async fn serve(listener: TcpListener, application: Application) -> io::Result<()> {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(application);
    axum::serve(listener, router).await
}

/// Reports whether further requests are wanted.
async fn ready(State(application): State<Application>) -> (StatusCode, &'static str) {
    if application.is_draining() {
        (StatusCode::SERVICE_UNAVAILABLE, "the process is stopping\n")
    } else {
        (StatusCode::OK, "ready\n")
    }
}

async fn metrics(State(application): State<Application>) -> ([(HeaderName, HeaderValue); 1], String) {
    let text = application.0.metrics.render(application.0.tenants.count());
    ([(header::CONTENT_TYPE, METRICS_TYPE)], text)
}
