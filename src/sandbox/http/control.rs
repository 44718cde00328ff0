//! Control routes for tests and for users, below `/_sandbox`: the clock, faults, and what was received. They are not part of
//! the service and need no key.

use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use crate::sandbox::answers::builds;
use crate::sandbox::http::faults::InjectedFault;
use crate::sandbox::http::reply::BufferedReply;
use crate::sandbox::http::state::SandboxState;
use crate::sandbox::model::builds::stream_blobs;

/// Maximum by which one request advances the clock, in seconds: a hundred years.
const MAX_ADVANCE_S: f64 = 100.0 * 365.0 * 86_400.0;

pub(super) fn router(state: &Arc<SandboxState>) -> Router {
    Router::new()
        .route("/clock", post(advance_clock))
        .route("/faults", post(inject_fault).delete(clear_faults))
        .route("/release", post(release_delays))
        .route("/requests", get(list_requests))
        .route("/uploads", get(list_uploads))
        .route("/builds/{build}/content", get(get_build_content))
        .fallback(|| async { BufferedReply::error(StatusCode::NOT_FOUND, "route not found") })
        .method_not_allowed_fallback(|| async {
            BufferedReply::error(StatusCode::METHOD_NOT_ALLOWED, "method not allowed")
        })
        .with_state(Arc::clone(state))
}

type SharedState = State<Arc<SandboxState>>;

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

/// Lists unfinished uploads, and the directory and number of the files that contain the bytes of builds.
async fn list_uploads(State(state): SharedState) -> BufferedReply {
    let world = state.world();
    let uploads = world.projects.values().flat_map(|project| {
        project.storage.uploads.values().map(|upload| {
            json!({
                "project_id": project.id,
                "build_id": upload.build.id,
                "upload_id": upload.multipart.as_ref().map(|multipart| &multipart.upload_id),
                "object_key": upload.object_key,
                "parts": upload.parts.keys().collect::<Vec<_>>(),
                "bytes": upload.parts.values().map(|part| part.size).sum::<u64>(),
            })
        })
    });
    let uploads: Vec<_> = uploads.collect();

    match state.blob_store.directory() {
        Ok(usage) => {
            let (directory, files) = usage.unzip();
            let body = json!({"data": uploads, "files": files.unwrap_or_default(), "directory": directory});
            BufferedReply::json(StatusCode::OK, &body)
        }
        Err(failure) => BufferedReply::error(StatusCode::INTERNAL_SERVER_ERROR, &failure.to_string()),
    }
}

async fn get_build_content(State(state): SharedState, Path(build): Path<String>) -> Response {
    let blobs =
        state.world().projects.values().find_map(|project| project.storage.contents.get(&build).cloned());
    let Some(blobs) = blobs else {
        return BufferedReply::error(StatusCode::NOT_FOUND, builds::NOT_FOUND).into_response();
    };

    let length: u64 = blobs.iter().map(|blob| blob.size).sum();
    let headers = [
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
    ];

    (headers, stream_blobs(blobs)).into_response()
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
