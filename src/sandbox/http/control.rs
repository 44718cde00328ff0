//! Control routes for tests and for users, below `/_sandbox`. They are not part of the service and need no key.

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::{StatusCode, header};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use crate::sandbox::{
    answers::{builds, executions},
    http::{
        control_access::require_local_caller, guide, injected_fault::InjectedFault, reply::BufferedReply,
        state::SandboxState,
    },
    model::blob_store,
};

/// Maximum by which one request advances the clock, in seconds: a hundred years.
const MAX_ADVANCE_S: f64 = 100.0 * 365.0 * 86_400.0;

/// Returns the control routes.
pub(super) fn router(state: &Arc<SandboxState>) -> Router {
    Router::new()
        .route("/", get(get_guide))
        .route("/clock", post(advance_clock))
        .route("/faults", post(inject_fault).delete(clear_faults))
        .route("/release", post(release_delays))
        .route("/requests", get(list_requests).delete(clear_requests))
        .route("/exports", post(mark_export))
        .route("/uploads", get(list_uploads))
        .route("/builds/{build}/content", get(get_build_content))
        .route("/reset", post(reset))
        .fallback(|| async { BufferedReply::error(StatusCode::NOT_FOUND, "route not found") })
        .method_not_allowed_fallback(|| async {
            BufferedReply::error(StatusCode::METHOD_NOT_ALLOWED, "method not allowed")
        })
        .layer(middleware::from_fn(require_local_caller))
        .with_state(Arc::clone(state))
}

type SharedState = State<Arc<SandboxState>>;

async fn get_guide(State(state): SharedState) -> String {
    guide::text(&state)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockAdvance {
    advance_seconds: f64,
}

async fn advance_clock(State(state): SharedState, body: Bytes) -> Result<BufferedReply, BufferedReply> {
    let ClockAdvance { advance_seconds } = parse(&body)?;
    if !(0.0..=MAX_ADVANCE_S).contains(&advance_seconds) {
        return Err(invalid(&format!("advance_seconds: must be from 0 to {MAX_ADVANCE_S}")));
    }

    let mut world = state.world();
    world.advance(advance_seconds);

    Ok(BufferedReply::json(StatusCode::OK, &json!({"now": world.now.to_string()})))
}

async fn inject_fault(State(state): SharedState, body: Bytes) -> Result<BufferedReply, BufferedReply> {
    let fault: InjectedFault = parse(&body)?;
    if let Some(violation) = fault.violation() {
        return Err(invalid(&violation));
    }

    state.fault_queue().add(fault);

    Ok(done())
}

async fn clear_faults(State(state): SharedState) -> BufferedReply {
    state.fault_queue().clear();
    done()
}

async fn release_delays(State(state): SharedState) -> BufferedReply {
    state.fault_queue().release();
    done()
}

async fn list_requests(State(state): SharedState) -> BufferedReply {
    BufferedReply::json(StatusCode::OK, &json!({"data": state.request_log().requests()}))
}

async fn clear_requests(State(state): SharedState) -> BufferedReply {
    state.request_log().clear();
    done()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportMark {
    test_plan_execution_id: String,
    in_progress: bool,
}

/// Marks whether an export of an execution is in progress.
async fn mark_export(State(state): SharedState, body: Bytes) -> Result<BufferedReply, BufferedReply> {
    let ExportMark { test_plan_execution_id, in_progress } = parse(&body)?;
    let mut world = state.world();
    if !world.has_execution(&test_plan_execution_id) {
        return Err(BufferedReply::error(StatusCode::NOT_FOUND, executions::NOT_FOUND));
    }

    world.test_management.mark_in_progress(&test_plan_execution_id, in_progress);

    Ok(done())
}

/// Lists unfinished uploads, and the directory and number of the files that contain the bytes of builds.
async fn list_uploads(State(state): SharedState) -> BufferedReply {
    let mut world = state.world();
    world.update_now();

    let uploads = world.projects().values().flat_map(|project| {
        project.storage.uploads.values().map(|upload| {
            json!({
                "project_id": project.id,
                "build_id": upload.build.id,
                "upload_id": upload.multipart.as_ref().map(|multipart| &multipart.upload_id),
                "object_key": upload.object_key,
                "parts": upload.parts.keys().collect::<Vec<_>>(),
                "bytes": upload.received(),
            })
        })
    });
    let uploads: Vec<_> = uploads.collect();

    match state.blob_store.directory() {
        Ok(usage) => {
            let (directory, files) = usage.unzip();
            let files = files.unwrap_or_default();
            BufferedReply::json(
                StatusCode::OK,
                &json!({"data": uploads, "files": files, "directory": directory}),
            )
        }
        Err(failure) => BufferedReply::error(StatusCode::INTERNAL_SERVER_ERROR, &failure.to_string()),
    }
}

/// Returns the bytes of an uploaded build.
async fn get_build_content(State(state): SharedState, Path(build): Path<String>) -> Response {
    let blobs =
        state.world().projects().values().find_map(|project| project.storage.contents.get(&build).cloned());
    let Some(blobs) = blobs else {
        return BufferedReply::error(StatusCode::NOT_FOUND, builds::NOT_FOUND).into_response();
    };

    let length: u64 = blobs.iter().map(|blob| blob.size).sum();
    let headers = [
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
    ];

    (headers, blob_store::stream_blobs(blobs)).into_response()
}

async fn reset(State(state): SharedState) -> BufferedReply {
    state.reset();
    done()
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, BufferedReply> {
    serde_json::from_slice(body).map_err(|error| invalid(&error.to_string()))
}

fn invalid(violation: &str) -> BufferedReply {
    BufferedReply::error(StatusCode::BAD_REQUEST, violation)
}

fn done() -> BufferedReply {
    BufferedReply::json(StatusCode::OK, &json!({"ok": true}))
}
