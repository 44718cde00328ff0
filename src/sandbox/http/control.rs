//! Control routes for tests and for users, below `/_sandbox`. They are not part of the service and need no key, so that
//! a page in a browser on the same machine must not reach them.

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::{Path, Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::{HeaderMap, StatusCode, header, uri::Authority};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use crate::sandbox::answers::{builds, executions};
use crate::sandbox::http::faults::InjectedFault;
use crate::sandbox::http::guide;
use crate::sandbox::http::reply::BufferedReply;
use crate::sandbox::http::state::SandboxState;
use crate::sandbox::model::builds::stream_blobs;

/// Maximum by which one request advances the clock, in seconds: a hundred years.
const MAX_ADVANCE_S: f64 = 100.0 * 365.0 * 86_400.0;

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
    if !world.projects.values().any(|project| project.executions.contains_key(&test_plan_execution_id)) {
        return Err(BufferedReply::error(StatusCode::NOT_FOUND, executions::NOT_FOUND));
    }

    if in_progress {
        world.test_management.in_progress.insert(test_plan_execution_id);
    } else {
        world.test_management.in_progress.remove(&test_plan_execution_id);
    }

    Ok(done())
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

async fn reset(State(state): SharedState) -> BufferedReply {
    match state.reset() {
        Ok(()) => done(),
        Err(problem) => BufferedReply::error(StatusCode::INTERNAL_SERVER_ERROR, &problem),
    }
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

/// Refuses requests that a page in a browser could have caused: those whose `Host` is a domain, which could belong to
/// the page (DNS rebinding), and those with the `Origin` of another host.
async fn require_local_caller(request: Request, next: Next) -> Response {
    match access_problem(request.headers()) {
        None => next.run(request).await,
        Some(problem) => BufferedReply::error(StatusCode::FORBIDDEN, problem).into_response(),
    }
}

/// Returns why a request is refused, or `None` if it is not.
fn access_problem(headers: &HeaderMap) -> Option<&'static str> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(host) = host.and_then(|host| host.parse::<Authority>().ok()) else {
        return Some("the header Host is missing or invalid");
    };
    if is_domain(host.host()) {
        return Some("the header Host must be an address or a name without dots");
    }

    let origin = headers.get(header::ORIGIN)?;
    let is_same = origin.to_str().is_ok_and(|origin| origin == format!("http://{host}"));

    (!is_same).then_some("requests of pages of another origin are refused")
}

/// Returns whether `host` is a name with dots, which anybody can register. An address and a name of the local network
/// are not.
fn is_domain(host: &str) -> bool {
    let is_address = host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok();
    !is_address && host.trim_end_matches('.').contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_that_no_foreign_page_can_cause_are_allowed() {
        let cases = [
            ("127.0.0.1:8080", None, true),
            ("localhost:8080", None, true),
            ("[::1]:8080", None, true),
            ("buildbox:8080", None, true),
            ("127.0.0.1:8080", Some("http://127.0.0.1:8080"), true),
            ("127.0.0.1:8080", Some("http://127.0.0.1:9090"), false),
            ("127.0.0.1:8080", Some("https://attacker.example"), false),
            ("127.0.0.1:8080", Some("null"), false),
            ("attacker.example:8080", None, false),
            ("attacker.example:8080", Some("http://attacker.example:8080"), false),
            ("", None, false),
        ];

        for (host, origin, is_allowed) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().expect("a header"));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().expect("a header"));
            }
            assert_eq!(access_problem(&headers).is_none(), is_allowed, "{host} {origin:?}");
        }
    }
}
