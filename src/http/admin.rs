//! Health and metrics, on an address of their own.

use axum::{Router, extract::State, routing::get};
use http::{HeaderName, HeaderValue, StatusCode, header};
use tokio::net::TcpListener;

use super::state::SharedState;

/// Media type of the metrics (`OpenMetrics` 1.0).
const METRICS_TYPE: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Serves health and metrics forever.
pub(super) async fn serve(listener: TcpListener, app: SharedState) {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(app);
    if let Err(error) = axum::serve(listener, router).await {
        tracing::error!("the admin listener has ended: {error}");
    }
}

/// Reports whether further requests are wanted, and whether the service answers. A process stays ready without the service: its
/// calls say so themselves, and another process would not have it either.
async fn ready(State(app): State<SharedState>) -> (StatusCode, String) {
    if app.draining.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the process is stopping\n".to_owned());
    }

    let outages = app.outages().into_iter().map(|outage| {
        let (setting, seconds) = (outage.setting, outage.duration().as_secs());
        format!("the service at {setting} has not answered for {seconds} s: {}\n", outage.reason)
    });
    (StatusCode::OK, ["ready\n".to_owned()].into_iter().chain(outages).collect())
}

async fn metrics(State(app): State<SharedState>) -> ([(HeaderName, HeaderValue); 1], String) {
    ([(header::CONTENT_TYPE, METRICS_TYPE)], app.metrics.render(app.credentials.count()))
}
