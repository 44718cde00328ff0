//! Routes for tests and for people, below `/_sandbox`: not part of the service, and without a key.

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::{StatusCode, header};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use super::{
    builds, depot,
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
        .route("/release", post(release))
        .route("/requests", get(requests).delete(forget_requests))
        .route("/exports", post(exports))
        .route("/uploads", get(uploads))
        .route("/builds/{build}/content", get(content))
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
    service.faults().forget();
    done()
}

async fn release(State(service): Shared) -> Reply {
    service.faults().release();
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

/// Unfinished uploads, and where and in how many files the sandbox keeps the bytes of them and of builds.
async fn uploads(State(service): Shared) -> Reply {
    let mut world = service.world();
    world.look_at_clock();

    let uploads = world.projects().values().flat_map(|project| {
        project.storage.uploads.values().map(|upload| {
            json!({
                "project_id": project.id,
                "build_id": upload.build.id,
                "upload_id": upload.multipart.as_ref().map(|multipart| &multipart.upload_id),
                "object_key": upload.object_key,
                "parts": upload.pieces.keys().collect::<Vec<_>>(),
                "bytes": upload.received(),
            })
        })
    });

    let uploads: Vec<_> = uploads.collect();
    match service.depot.directory() {
        Ok(place) => {
            let (directory, files) = place.unzip();
            let files = files.unwrap_or_default();
            Reply::json(StatusCode::OK, &json!({"data": uploads, "files": files, "directory": directory}))
        }
        Err(problem) => Reply::error(StatusCode::INTERNAL_SERVER_ERROR, &problem.to_string()),
    }
}

/// The bytes of an uploaded build.
async fn content(State(service): Shared, Path(build): Path<String>) -> Response {
    let found =
        service.world().projects().values().find_map(|project| project.storage.contents.get(&build).cloned());
    let Some(pieces) = found else {
        return Reply::error(StatusCode::NOT_FOUND, builds::NOT_FOUND).into_response();
    };
    let length: u64 = pieces.iter().map(|piece| piece.size).sum();
    let headers = [
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
    ];

    (headers, depot::body(pieces)).into_response()
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
