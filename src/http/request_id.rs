//! The id of a request: in the header of its response, in its line of the log, and in the error that answers it, because a user
//! quotes the error and not the header.

use axum::{
    body::{Bytes, to_bytes},
    extract::Request,
    response::Response,
};
use http::{HeaderName, HeaderValue, header};
use rmcp::model::{ErrorData, JsonRpcError};
use serde_json::{Value, json};

/// Header with the id of a request, which a proxy may have set.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Field of an error with the id of its request.
pub(super) const FIELD: &str = "request_id";

/// Longest id of a request that is used, in bytes.
const MAX_ID_BYTES: usize = 80;

/// Leaves out an id of a request that no log can show as it is.
pub(super) async fn drop_unusable_id(mut request: Request) -> Request {
    let is_usable = |id: &HeaderValue| {
        id.len() <= MAX_ID_BYTES
            && id.as_bytes().iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/".contains(byte))
    };
    if !request.headers().get(REQUEST_ID).is_none_or(is_usable) {
        request.headers_mut().remove(REQUEST_ID);
    }
    request
}

/// Adds the id of the request to an error. Data that is no object stays as it is.
pub(super) fn with_id(mut error: ErrorData, id: &str) -> ErrorData {
    if let Value::Object(data) = error.data.get_or_insert_with(|| json!({})) {
        data.insert(FIELD.to_owned(), id.into());
    }
    error
}

/// Adds the id of the request to the error that is the body of a response, whichever part of the server has made it.
pub(super) async fn with_id_in_body(response: Response, id: &str) -> Response {
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !is_json || !(response.status().is_client_error() || response.status().is_server_error()) {
        return response;
    }

    let (mut parts, body) = response.into_parts();
    // This process has made the body, of a bounded length.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let named = serde_json::from_slice::<JsonRpcError>(&body)
        .ok()
        .and_then(|answer| serde_json::to_vec(&JsonRpcError::new(answer.id, with_id(answer.error, id))).ok());
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, named.map_or(body, Bytes::from).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_keeps_its_data_beside_the_id() {
        for (data, expected) in [
            (None, json!({"request_id": "r1"})),
            (Some(json!({"supported": ["a"]})), json!({"supported": ["a"], "request_id": "r1"})),
            (Some(json!("a text")), json!("a text")),
        ] {
            let error = with_id(ErrorData::invalid_request("no", data), "r1");
            assert_eq!(error.data, Some(expected));
        }
    }
}
