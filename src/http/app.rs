//! The HTTP server without its listeners: the routes with the page at `/`, and the layers around them.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Extension, Request, State},
    middleware::{Next, from_fn_with_state},
    response::{Html, IntoResponse as _, Response},
    routing::{get, post},
};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use tower_http::{catch_panic::CatchPanicLayer, timeout::RequestBodyTimeoutLayer};
use uuid::Uuid;

use super::{
    access_log::AccessLine,
    auth::{Requester, identify},
    endpoint::{Endpoint, no_such_path},
    handler::CallHandler,
    limits::{Reason, Refusal},
    oauth::endpoint_of_metadata,
    origin::{client_address, cross_origin_layer, restrict},
    state::{Shared, SharedState},
};
use crate::{failure::Failure, settings::Settings};

/// Media type of a response with events.
const EVENTS: &str = "text/event-stream";

/// How long a client may send nothing of a body. A proxy has limits of its own.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Header with the id of a request, which a proxy may have set.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The page has no scripts, loads nothing, and is in no frame.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE_STYLE: &str = ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}\
code{padding:.1rem .3rem;border-radius:4px;background:#8882}";

/// The HTTP server without its listeners. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Application {
    pub(super) shared: SharedState,
    pub(super) router: Router,
}

impl Application {
    /// Creates the application of these settings.
    ///
    /// # Errors
    /// `not_configured` with every unusable setting.
    pub fn from_settings(settings: &Settings) -> Result<Self, Failure> {
        let shared = Shared::from_settings(settings)?;
        let open = |shared: &Shared, requester: &Requester| {
            shared.credentials.server(&requester.credential, &requester.endpoint)
        };
        Ok(Self::new(shared, open))
    }

    /// Creates an application that serves another MCP handler than the servers of credentials. `open` returns the handler of
    /// each request. Origins, credentials, limits and messages are handled as for the server.
    ///
    /// # Errors
    /// `not_configured` with every unusable setting.
    pub fn for_service<S: ServerHandler>(
        settings: &Settings,
        open: impl Fn() -> S + Clone + Send + Sync + 'static,
    ) -> Result<Self, Failure> {
        Ok(Self::new(Shared::from_settings(settings)?, move |_, _| open()))
    }

    /// Makes the routes. `open` returns the handler of the requests of a caller.
    fn new<S: ServerHandler>(
        shared: Shared,
        open: impl Fn(&Shared, &Requester) -> S + Clone + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(shared);
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_retry(None);
        let has_own_key = shared.credentials.serves_anonymous() && !shared.uses_sandbox;
        let config = restrict(config, &shared.settings, has_own_key);
        let serve = async move |State(shared): State<SharedState>,
                                Extension(requester): Extension<Requester>,
                                request| {
            let handler = CallHandler { server: open(&shared, &requester), app: shared };
            serve(handler, config.clone(), &requester, request).await
        };
        let endpoint = post(serve)
            .route_layer(from_fn_with_state(Arc::clone(&shared), identify))
            .fallback(method_not_allowed);

        let router = Router::new()
            .route("/", get(front_page).fallback(async || no_such_path()))
            .route("/mcp", endpoint.clone())
            .route("/mcp/", endpoint.clone())
            .route("/mcp/{*choices}", endpoint)
            .route("/.well-known/oauth-protected-resource/{*endpoint}", get(metadata))
            .fallback(async || no_such_path())
            // The first layer is the outermost one. Each call of `layer` would copy and box what is inside of it for each request.
            .layer((
                from_fn_with_state(Arc::clone(&shared), observe),
                CatchPanicLayer::new(),
                cross_origin_layer(),
                RequestBodyTimeoutLayer::new(BODY_TIMEOUT),
            ))
            .with_state(Arc::clone(&shared));
        Self { shared, router }
    }
}

/// Lets the library answer a request through the handler.
async fn serve<S: ServerHandler>(
    handler: CallHandler<S>,
    config: StreamableHttpServerConfig,
    requester: &Requester,
    request: Request,
) -> Response {
    let (handler, sessions) = (Arc::new(handler), Arc::new(NeverSessionManager::default()));
    let service = StreamableHttpService::new(move || Ok(Arc::clone(&handler)), sessions, config);
    let mut response = service.handle(request).await.map(Body::new);

    if let Some(exceeded) = requester.exceeded.get() {
        *response.status_mut() = exceeded.status();
        response.headers_mut().insert(header::RETRY_AFTER, exceeded.pause_seconds().into());
        response.extensions_mut().insert(Reason(exceeded.message().into()));
    }
    response
}

/// Finds the address of the client, limits the requests from it that end before their caller is known, writes the line of a request
/// that no method has answered, and adds the headers that all responses have.
async fn observe(
    State(shared): State<SharedState>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let client = client_address(peer.ip(), request.headers(), &shared.settings.trusted_proxies);
    let id = request.headers().get(REQUEST_ID).cloned().unwrap_or_else(random_id);
    let line = AccessLine::new(Arc::clone(&shared.metrics), client, &id, request.uri().path());
    let is_preflight = request.method() == Method::OPTIONS;
    request.extensions_mut().insert(line.clone());

    let mut response = next.run(request).await;
    // The method that sends events writes the line when it has ended.
    let sends_events = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == EVENTS);
    let entry = if sends_events || is_preflight { None } else { line.take() };
    if let Some(entry) = entry {
        if !entry.is_identified
            && let Err(exceeded) = shared.credentials.limits_of_address(client).count_request()
        {
            response = exceeded.refusal().into_response();
        }
        let reason = response.extensions().get::<Reason>().map_or("", |Reason(reason)| reason);
        entry.log_response(&line, response.status(), reason);
    }

    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if shared.draining.is_cancelled() {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn random_id() -> HeaderValue {
    HeaderValue::try_from(Uuid::now_v7().to_string()).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// Returns the page that tells a user that the server works, and the address and the credential that a host needs. Without a public
/// URL users take the address under which they have reached it.
async fn front_page(State(shared): State<SharedState>) -> Response {
    let address = match &shared.settings.public_url {
        Some(url) => format!("this address: <code>{url}mcp</code>"),
        None => "the address of this page, followed by <code>mcp</code>".to_owned(),
    };
    let advice = if shared.authorization.is_some() {
        "Your host asks you to sign in."
    } else if shared.credentials.serves_anonymous() {
        "No API key is needed: this server has its own, and serves this machine only."
    } else {
        "Your host sends your API key of the Test Automation Service with each request, in the header <code>X-Api-Key</code>."
    };
    let service = if shared.uses_sandbox {
        "Calls go to a sandbox with example data, which ends with this server."
    } else {
        "Calls go to the Test Automation Service."
    };

    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
<title>tas-mcp</title><style>{PAGE_STYLE}</style></head><body>\n<h1>This MCP server works</h1>\n\
<p>tas-mcp {}. {service}</p>\n<p>Add to your host, as a server over HTTP, {address}</p>\n<p>{advice}</p>\n\
<p>For one project, or fewer tools, add <code>/PROJECT</code>, <code>/x/lean</code> or <code>/readonly</code> to the address.</p>\n</body></html>\n",
        env!("CARGO_PKG_VERSION"),
    );

    ([(header::CONTENT_SECURITY_POLICY, PAGE_POLICY)], Html(page)).into_response()
}

/// Returns the metadata of an endpoint as a resource that clients sign in to (RFC 9728).
async fn metadata(State(shared): State<SharedState>, uri: Uri) -> Result<Response, Refusal> {
    let path = endpoint_of_metadata(uri.path()).ok_or_else(no_such_path)?;
    let authorization = shared.authorization.as_ref().ok_or_else(no_such_path)?;
    Endpoint::read(path, &HeaderMap::new(), &shared.offered).map_err(|_| no_such_path())?;
    Ok(authorization.metadata_response(&shared.resource(path)))
}

async fn method_not_allowed(method: Method) -> Refusal {
    let message = format!("the method {method} is not supported: this server has no sessions or streams");
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message)
        .header(header::ALLOW, HeaderValue::from_static("POST, OPTIONS"))
}
