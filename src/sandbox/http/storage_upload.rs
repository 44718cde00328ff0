//! PUT of files and parts to the storage host.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, header};

use crate::sandbox::{
    http::{
        state::SandboxState,
        storage_errors::{drain, error, no_upload, refuse},
    },
    model::{blob_store::Blob, pending_upload::PendingUpload, world::World},
};

/// Content type of a part (service.md 10.6).
const CONTENT_TYPE: &str = "application/octet-stream";

/// Receives a part of a multipart upload.
pub(super) async fn put_part(
    State(state): State<Arc<SandboxState>>,
    Path((build, upload, number)): Path<(String, String, u64)>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let target = UploadTarget { build: &build, upload: Some(&upload), number };
    target.receive(&state, &headers, body).await
}

/// Receives the file of a single-part upload.
pub(super) async fn put_file(
    State(state): State<Arc<SandboxState>>,
    Path(build): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let target = UploadTarget { build: &build, upload: None, number: 1 };
    target.receive(&state, &headers, body).await
}

/// The part of an upload to which the body of a PUT belongs.
struct UploadTarget<'a> {
    build: &'a str,
    /// Id of a multipart upload; `None` for a single-part upload.
    upload: Option<&'a str>,
    number: u64,
}

impl UploadTarget<'_> {
    async fn receive(&self, state: &SandboxState, headers: &HeaderMap, body: Body) -> Response {
        if !headers.contains_key(header::CONTENT_LENGTH) {
            let message = "You must provide the Content-Length HTTP header.";
            return refuse(body, StatusCode::LENGTH_REQUIRED, "MissingContentLength", message).await;
        }
        if headers.get(header::CONTENT_TYPE).is_none_or(|value| value != CONTENT_TYPE) {
            let message = "The Content-Type header must be application/octet-stream.";
            return refuse(body, StatusCode::BAD_REQUEST, "InvalidArgument", message).await;
        }
        if self.find_upload(&mut state.world()).is_none() {
            drain(body).await;
            return no_upload();
        }

        // The world is not locked while the bytes arrive, which may take long.
        let blob = match state.blob_store.receive(body).await {
            Ok(blob) => blob,
            Err(failure) => {
                return error(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", &failure.to_string());
            }
        };

        self.store(&mut state.world(), blob)
    }

    /// Adds the received bytes to the upload, which may have ended while the bytes arrived.
    fn store(&self, world: &mut World, blob: Blob) -> Response {
        world.update_now();
        let etag = format!("\"{}\"", blob.etag);
        let Some(upload) = self.find_upload(world) else { return no_upload() };
        upload.parts.insert(self.number, Arc::new(blob));

        (StatusCode::OK, [(header::ETAG, etag)]).into_response()
    }

    fn find_upload<'w>(&self, world: &'w mut World) -> Option<&'w mut PendingUpload> {
        world.upload(self.build).filter(|upload| upload.matches(None, self.upload))
    }
}
