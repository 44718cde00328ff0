//! Routes for tests and for people, below `/_sandbox`: not part of the service, and without a key.

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::State,
    routing::{get, post},
};
use http::StatusCode;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use super::{
    faults::Order,
    guide,
    service::{Reply, Service},
};

/// Furthest that the clock is moved at once: a hundred years.
const FURTHEST_S: f64 = 100.0 * 365.0 * 86_400.0;

/// The control routes.
pub(super) fn router(service: &Arc<Service>) -> Router {
    Router::new()
        .route("/", get(guide_text))
        .route("/clock", post(clock))
        .route("/faults", post(order_fault).delete(forget_faults))
        .route("/requests", get(requests).delete(forget_requests))
        .route("/exports", post(exports))
        .route("/reset", post(reset))
        .fallback(|| async { Reply::error(StatusCode::NOT_FOUND, "route not found") })
        .method_not_allowed_fallback(|| async {
            Reply::error(StatusCode::METHOD_NOT_ALLOWED, "method not allowed")
        })
        .with_state(Arc::clone(service))
}

type Shared = State<Arc<Service>>;

async fn guide_text(State(service): Shared) -> String {
    guide::text(&service)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance_seconds: f64,
}

async fn clock(State(service): Shared, body: Bytes) -> Result<Reply, Reply> {
    let Advance { advance_seconds } = parsed(&body)?;
    if !(0.0..=FURTHEST_S).contains(&advance_seconds) {
        return Err(invalid(&format!("advance_seconds: must be from 0 to {FURTHEST_S}")));
    }
    let mut world = service.world();
    world.advance(advance_seconds);
    Ok(Reply::json(StatusCode::OK, &json!({"now": world.now.to_string()})))
}

async fn order_fault(State(service): Shared, body: Bytes) -> Result<Reply, Reply> {
    let order: Order = parsed(&body)?;
    if let Some(problem) = order.problem() {
        return Err(invalid(&problem));
    }
    service.faults().add(order);
    Ok(done())
}

async fn forget_faults(State(service): Shared) -> Reply {
    *service.faults() = super::faults::Faults::default();
    done()
}

async fn requests(State(service): Shared) -> Reply {
    Reply::json(StatusCode::OK, &json!({"data": service.journal().seen()}))
}

async fn forget_requests(State(service): Shared) -> Reply {
    service.journal().clear();
    done()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Export {
    test_plan_execution_id: String,
    in_progress: bool,
}

async fn exports(State(service): Shared, body: Bytes) -> Result<Reply, Reply> {
    let Export { test_plan_execution_id, in_progress } = parsed(&body)?;
    let mut world = service.world();
    if !world.has_execution(&test_plan_execution_id) {
        return Err(Reply::error(StatusCode::NOT_FOUND, super::executions::NOT_FOUND));
    }
    world.remote.mark(&test_plan_execution_id, in_progress);
    Ok(done())
}

async fn reset(State(service): Shared) -> Reply {
    service.reset();
    done()
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Reply> {
    serde_json::from_slice(body).map_err(|error| invalid(&error.to_string()))
}

fn invalid(problem: &str) -> Reply {
    Reply::error(StatusCode::BAD_REQUEST, problem)
}

fn done() -> Reply {
    Reply::json(StatusCode::OK, &json!({"ok": true}))
}
