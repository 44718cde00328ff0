//! Listening and routes. The list of operations is the list of API routes.

use std::{
    future::ready,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::http::{StatusCode, header, uri::Authority};
use axum::{
    Router,
    extract::{RawPathParams, Request, rejection::RawPathParamsRejection},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
    serve::ListenerExt as _,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::sandbox::answers::answer::endpoints;
use crate::sandbox::answers::files::STORAGE_PREFIX;
use crate::sandbox::http::reply::{BufferedReply, Observer};
use crate::sandbox::http::state::{API_PREFIX, SandboxState};
use crate::sandbox::http::{control, operations, storage};
use crate::sandbox::model::world::Options;
use crate::service::catalog::OperationEntry;
use crate::service::operation::{PROJECT, TMSYS, UrlBase};
use crate::service::request::encoded;
use crate::service::tool::Access;

/// Starts a sandbox that listens on `listen`. Port 0 selects a free port.
pub async fn start(listen: SocketAddr, options: Options, observer: Option<Observer>) -> io::Result<Sandbox> {
    let listener = TcpListener::bind(listen).await?;
    let address = listener.local_addr()?;
    let state = Arc::new(SandboxState::new(address, options, observer)?);
    // Without this option, small answers wait for a full packet. If it cannot be set, answers are only slower.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let stopping = CancellationToken::new();
    let server =
        axum::serve(listener, router(&state)).with_graceful_shutdown(stopping.clone().cancelled_owned());
    tokio::spawn(server.into_future());

    Ok(Sandbox { state, stopping })
}

/// A running sandbox. Dropping it closes idle connections and removes the bytes of uploads.
pub struct Sandbox {
    state: Arc<SandboxState>,
    stopping: CancellationToken,
}

impl Sandbox {
    /// Returns the address on which the sandbox listens.
    pub fn address(&self) -> SocketAddr {
        self.state.address
    }

    /// Returns the base URL of the main API.
    pub fn base_url(&self) -> String {
        self.state.base_url()
    }

    /// Returns the URL of the knowledge host.
    pub fn knowledge_url(&self) -> String {
        self.state.knowledge_url()
    }

    /// Advances the simulated time.
    pub fn advance(&self, seconds: f64) {
        self.state.world().advance(seconds);
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.stopping.cancel();
        self.state.blob_store.close();
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sandbox").field("address", &self.address()).finish_non_exhaustive()
    }
}

fn router(state: &Arc<SandboxState>) -> Router {
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
        move |request: Request| ready(refuse(&state, request, status, error))
    };

    router = router
        .fallback(refusal(StatusCode::NOT_FOUND, "route not found"))
        .method_not_allowed_fallback(refusal(StatusCode::METHOD_NOT_ALLOWED, "method not allowed"))
        .nest(STORAGE_PREFIX, storage::router(state));
    if state.options.secret.is_empty() {
        router = router.nest("/_sandbox", control::router(state));
    }

    if state.address.ip().is_loopback() { router.layer(middleware::from_fn(refuse_names)) } else { router }
}

/// Refuses requests to a name other than `localhost`: a web page can make a browser send them (DNS rebinding).
async fn refuse_names(request: Request, next: Next) -> Response {
    let host =
        request.headers().get(header::HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    let is_address = |host: &Authority| host.host().trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    if host.is_some_and(|host| host.host() == "localhost" || is_address(&host)) {
        return next.run(request).await;
    }

    BufferedReply::error(StatusCode::FORBIDDEN, "the host of the request is not this sandbox").into_response()
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
