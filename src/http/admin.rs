//! Health and metrics, on an address of their own. Probes send any host, unless the address is one of this machine only.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{Next, from_fn},
    response::Response,
    routing::get,
};
use http::{HeaderName, HeaderValue, StatusCode, header};
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tower::ServiceExt as _;

use super::{limits::with_write_limit, origin::requested_host, refusal::Refusal, state::SharedState};
use crate::settings::is_loopback_host;

/// Media type of the metrics (`OpenMetrics` 1.0).
const METRICS_TYPE: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Pause after a connection could not be accepted. For example, no file descriptor is free.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Largest number of open connections. Further ones wait.
const MAX_CONNECTIONS: usize = 64;

/// How long a connection may be without the whole head of a request.
const HEAD_LIMIT: Duration = Duration::from_secs(10);

/// Serves health and metrics forever.
pub(super) async fn serve(listener: TcpListener, app: SharedState) {
    let router = router(app, listener.local_addr().is_ok_and(|address| address.ip().is_loopback()));
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));

    // No code closes the semaphore, so that a place is always found.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };

        let router = router.clone();
        tokio::spawn(async move {
            serve_connection(stream, router).await;
            drop(place);
        });
    }
}

fn router(app: SharedState, is_loopback: bool) -> Router {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(app);
    if is_loopback { router.layer(from_fn(refuse_other_hosts)) } else { router }
}

async fn serve_connection(stream: TcpStream, router: Router) {
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        router.clone().oneshot(request.map(Body::new))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .serve_connection(TokioIo::new(with_write_limit(stream)), service);

    // Errors of a connection are the client's.
    drop(connection.await);
}

/// Refuses a web page that reaches this machine under a name of its own (DNS rebinding).
///
/// # Errors
/// Status 403 for a host that is not this machine, and 400 without a host.
async fn refuse_other_hosts(request: Request, next: Next) -> Result<Response, Refusal> {
    let host = requested_host(request.uri(), request.headers())?;
    if !is_loopback_host(host.host()) {
        let message = "the admin listener serves this machine only";
        return Err(Refusal::new(StatusCode::FORBIDDEN, message));
    }
    Ok(next.run(request).await)
}

/// Reports whether further requests are wanted, and whether the service answers. A process stays ready without the service: its
/// calls say so themselves, and another process would not have it either.
async fn ready(State(app): State<SharedState>) -> (StatusCode, String) {
    if app.is_draining() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the process is stopping\n".to_owned());
    }

    let outages = app.outages().into_iter().map(|outage| {
        let (setting, seconds) = (outage.setting, outage.duration().as_secs());
        format!("the service at {setting} has not answered for {seconds} s: {}\n", outage.reason)
    });
    (StatusCode::OK, ["ready\n".to_owned()].into_iter().chain(outages).collect())
}

async fn metrics(State(app): State<SharedState>) -> ([(HeaderName, HeaderValue); 1], String) {
    let text = app.metrics.render(app.tenants.count());
    ([(header::CONTENT_TYPE, METRICS_TYPE)], text)
}
