//! Listening, routes and connections. The list of operations is the list of API routes. The server uses hyper below
//! axum, because an injected reset closes the connection without a response.

use std::{future::ready, io, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{RawPathParams, Request, rejection::RawPathParamsRejection},
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
};
use http::StatusCode;
use hyper::{body::Incoming, server::conn::http1, service::Service as _};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};

use crate::sandbox::answers::answer::endpoints;
use crate::sandbox::answers::presigned_url::STORAGE_PREFIX;
use crate::sandbox::http::authentication::keys;
use crate::sandbox::http::reply::{BufferedReply, ConnectionReset, Observer};
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
    let accept_task = tokio::spawn(accept(listener, router(&state))).abort_handle();

    Ok(Sandbox { state, accept_task })
}

/// A running sandbox. Dropping it closes every connection and removes the bytes of uploads.
pub struct Sandbox {
    state: Arc<SandboxState>,
    accept_task: AbortHandle,
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

    /// Returns the lines that a user sees when the sandbox starts.
    pub fn banner(&self) -> String {
        let rows = [
            (self.base_url(), "base URL"),
            (self.knowledge_url(), "knowledge URL"),
            (keys::DEMO.to_owned(), "key of the project demo"),
            (keys::ORGANIZATION.to_owned(), "key of all projects"),
        ];
        let rows = rows.map(|(value, meaning)| format!("  {value:<38} {meaning}\n"));

        format!("Sandbox of the Test Automation Service\n{}", rows.concat())
    }

    /// Advances the simulated time.
    pub fn advance(&self, seconds: f64) {
        self.state.world().advance(seconds);
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.accept_task.abort();
        self.state.blob_store.close();
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sandbox").field("address", &self.address()).finish_non_exhaustive()
    }
}

/// Accepts connections until the task is aborted, which also closes the connections.
async fn accept(listener: TcpListener, router: Router) {
    let mut connections = JoinSet::new();

    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, router.clone()));
                }
                // For example, no file descriptor is free. A connection that closes frees one.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, router: Router) {
    // Without this option, small answers wait for a full packet. If it cannot be set, answers are only slower.
    drop(stream.set_nodelay(true));

    let router = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |request: http::Request<Incoming>| {
        let response = router.call(request);
        async move {
            match response.await {
                Ok(response) => error_if_reset(response),
                // The error type of the router has no values.
                Err(never) => match never {},
            }
        }
    });

    // Errors of a connection are the client's: it may close the connection at any time.
    drop(http1::Builder::new().keep_alive(true).serve_connection(TokioIo::new(stream), service).await);
}

/// Returns an error for a response that is marked as a reset, so that hyper closes the connection.
fn error_if_reset(response: Response) -> io::Result<Response> {
    if response.extensions().get::<ConnectionReset>().is_some() {
        Err(io::ErrorKind::ConnectionReset.into())
    } else {
        Ok(response)
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

    router
        .fallback(refusal(StatusCode::NOT_FOUND, "route not found"))
        .method_not_allowed_fallback(refusal(StatusCode::METHOD_NOT_ALLOWED, "method not allowed"))
        .nest("/_sandbox", control::router(state))
        .nest(STORAGE_PREFIX, storage::router(state))
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
