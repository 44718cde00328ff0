//! Health and metrics, on an address of their own. The host of a request does not matter there, because probes send any.

use std::io;

use axum::{Router, extract::State, routing::get};
use http::{HeaderName, HeaderValue, StatusCode, header};
use tokio::net::TcpListener;

use super::state::SharedState;

/// Media type of the metrics (`OpenMetrics` 1.0).
const METRICS_TYPE: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Serves health and metrics forever.
pub(super) async fn serve(listener: TcpListener, app: SharedState) -> io::Result<()> {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(app);
    axum::serve(listener, router).await
}

/// Reports whether further requests are wanted.
async fn ready(State(app): State<SharedState>) -> (StatusCode, &'static str) {
    if app.is_draining() {
        (StatusCode::SERVICE_UNAVAILABLE, "the process is stopping\n")
    } else {
        (StatusCode::OK, "ready\n")
    }
}

async fn metrics(State(app): State<SharedState>) -> ([(HeaderName, HeaderValue); 1], String) {
    let text = app.metrics.render(app.tenants.count());
    ([(header::CONTENT_TYPE, METRICS_TYPE)], text)
}
