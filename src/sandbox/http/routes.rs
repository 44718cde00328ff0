//! The routes of the sandbox. The list of operations is the list of API routes.

use std::sync::Arc;

use axum::{
    Router,
    extract::{RawPathParams, Request, rejection::RawPathParamsRejection},
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
};
use http::StatusCode;

use crate::{
    sandbox::{
        answers::{endpoints::endpoints, presigned_url::STORAGE_PREFIX},
        http::{
            control, operations,
            reply::BufferedReply,
            state::{API_PREFIX, SandboxState},
            storage_host,
        },
    },
    service::{
        catalog::OperationEntry,
        operation::{PROJECT, TMSYS, UrlBase},
        request::encoded,
        tool::Access,
    },
};

/// Returns every route of the sandbox.
pub(super) fn router(state: &Arc<SandboxState>) -> Router {
    let mut router = Router::new();
    for endpoint in endpoints() {
        let path = endpoint.request.path.replace(TMSYS, &encoded(&state.options.tmsys_name));
        let Ok(method) = MethodFilter::try_from(endpoint.request.method.clone()) else { continue };

        for prefix in prefixes(&endpoint) {
            let state = Arc::clone(state);
            let handler = move |path: Result<RawPathParams, RawPathParamsRejection>, request: Request| {
                operations::handle(Arc::clone(&state), endpoint, path, request)
            };
            router = router.route(&format!("{prefix}{path}"), on(method, handler));
        }
    }

    // The log also contains requests without a route, because a client that sends one has a defect.
    let refusal = |status: StatusCode, error: &'static str| {
        let state = Arc::clone(state);
        move |request: Request| std::future::ready(refuse(&state, request, status, error))
    };

    router
        .fallback(refusal(StatusCode::NOT_FOUND, "route not found"))
        .method_not_allowed_fallback(refusal(StatusCode::METHOD_NOT_ALLOWED, "method not allowed"))
        .nest("/_sandbox", control::router(state))
        .nest(STORAGE_PREFIX, storage_host::router(state))
}

/// Returns the prefixes under which an operation is served. Without a key, only the path can name the project.
fn prefixes(entry: &OperationEntry) -> Vec<String> {
    let below_project = format!("{API_PREFIX}/project/{PROJECT}");
    match entry.request.url_base {
        UrlBase::Project | UrlBase::NamedProject if entry.access == Access::NoKey => vec![below_project],
        UrlBase::Project | UrlBase::NamedProject => vec![below_project, API_PREFIX.to_owned()],
        UrlBase::Base => vec![API_PREFIX.to_owned()],
        UrlBase::Knowledge => vec![String::new()],
    }
}

/// Logs a request that has no route and answers it with an error.
fn refuse(state: &SandboxState, request: Request, status: StatusCode, error: &str) -> Response {
    let (head, _) = request.into_parts();
    let number = state.log_request("", None, &head);
    state.request_log().set_status(number, status.as_u16());

    BufferedReply::error(status, error).into_response()
}
