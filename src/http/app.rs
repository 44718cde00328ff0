//! The HTTP server without its listeners: the routes, and the layers around them.

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Extension, Request, State},
    middleware::{Next, from_fn_with_state, map_request},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use tokio::time::sleep;
use tower_http::{
    catch_panic::CatchPanicLayer,
    request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer},
    set_header::SetResponseHeaderLayer,
};

use super::{
    access_log::AccessLine,
    auth::{ClientAddress, Requester, identify},
    body::read_message,
    endpoint::{Endpoint, no_such_path},
    front_page::{Answering, HostGuides, NeededCredential, front_page},
    handler::CallHandler,
    limits::REFUSAL_PAUSE,
    oauth::endpoint_of_metadata,
    origin::{check_origin, client_address, cross_origin_layer},
    refusal::{Reason, Refusal},
    request_id::{REQUEST_ID, drop_unusable_id, with_id_in_body},
    state::{Shared, SharedState},
};
use crate::{
    failure::Failure,
    settings::{HttpSettings, Settings},
};

/// Methods that the endpoint has.
const METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");

/// Media type of a response with events.
const EVENTS: &str = "text/event-stream";

/// The HTTP server without its listeners. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Application {
    pub(super) shared: SharedState,
    pub(super) router: Router,
}

/// The address of the connection that a request came through.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerAddress(pub(super) IpAddr);

impl Application {
    /// Creates the application of these settings.
    ///
    /// # Errors
    /// `not_configured` with every unusable setting.
    pub fn from_settings(settings: &Settings) -> Result<Self, Failure> {
        let shared = Shared::from_settings(settings)?;
        let open = |shared: &Shared, requester: &Requester| {
            shared.tenants.server(&requester.tenant, &requester.endpoint)
        };
        Ok(Self::new(shared, open))
    }

    /// Creates an application that serves another MCP handler than the servers of credentials. `open` returns the handler of
    /// each request. Origins, credentials, limits and messages are handled as for the server, but the service is not asked
    /// whether it accepts a credential.
    ///
    /// # Errors
    /// `not_configured` with every unusable setting.
    pub fn for_service<S: ServerHandler>(
        settings: &Settings,
        open: impl Fn() -> S + Clone + Send + Sync + 'static,
    ) -> Result<Self, Failure> {
        let mut shared = Shared::from_settings(settings)?;
        shared.confirms_credentials = false;
        Ok(Self::new(shared, move |_, _| open()))
    }

    fn new<S: ServerHandler>(
        shared: Shared,
        open: impl Fn(&Shared, &Requester) -> S + Clone + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(shared);
        let router = router(&shared, open);
        Self { shared, router }
    }

    /// Shows on the page at `/` how hosts connect.
    #[must_use]
    pub fn with_host_guides(self, guides: HostGuides) -> Self {
        self.shared.host_guides.get_or_init(|| guides);
        self
    }

    /// Returns the configuration of the HTTP server.
    pub fn settings(&self) -> &HttpSettings {
        &self.shared.settings
    }
}

/// Returns the routes. `open` returns the handler of the requests of a caller.
fn router<S: ServerHandler>(
    shared: &SharedState,
    open: impl Fn(&Shared, &Requester) -> S + Clone + Send + Sync + 'static,
) -> Router {
    let serve = async move |State(shared): State<SharedState>,
                            Extension(requester): Extension<Requester>,
                            request| {
        let server = open(&shared, &requester);
        serve(shared, server, request).await
    };
    let endpoint = post(serve)
        .route_layer(from_fn_with_state(Arc::clone(shared), read_message))
        .route_layer(from_fn_with_state(Arc::clone(shared), identify))
        .fallback(method_not_allowed);

    let header = |name, value| SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value));
    Router::new()
        .route("/", get(page).fallback(async || no_such_path()))
        .route("/mcp", endpoint.clone())
        .route("/mcp/", endpoint.clone())
        .route("/mcp/{*choices}", endpoint)
        .route("/.well-known/oauth-protected-resource/{*endpoint}", get(metadata))
        .fallback(async || no_such_path())
        // The last layer is the outermost one.
        .layer(cross_origin_layer())
        .layer(from_fn_with_state(Arc::clone(&shared.origins), check_origin))
        .layer(CatchPanicLayer::custom(|_| internal_error()))
        .layer(from_fn_with_state(Arc::clone(shared), observe))
        .layer(header(header::CACHE_CONTROL, "no-store"))
        .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(SetRequestIdLayer::new(REQUEST_ID, MakeRequestUuid))
        .layer(map_request(drop_unusable_id))
        .with_state(Arc::clone(shared))
}

/// Returns the page for users, with the address under which they have reached it.
async fn page(State(shared): State<SharedState>, uri: Uri, headers: HeaderMap) -> Response {
    let address = shared.resource(&uri, &headers, "/mcp").address();
    let credential = match &shared.authorization {
        Some(_) => NeededCredential::UserToken,
        None if shared.tenants.serves_anonymous() => NeededCredential::None,
        None => NeededCredential::ApiKey,
    };
    let answering = match shared.outages().first() {
        Some(outage) => Answering::Nobody { seconds: outage.duration().as_secs() },
        None if shared.uses_sandbox => Answering::Sandbox,
        None => Answering::Service,
    };
    front_page(&address, credential, answering, shared.host_guides.get())
}

/// Finds the address of the client, limits the requests from it that end before their caller is known, and writes the line of a
/// request that no method has answered. The body of an error gets the id of that line.
async fn observe(State(shared): State<SharedState>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<PeerAddress>().map_or(IpAddr::from([0; 4]), |peer| peer.0);
    let client = client_address(peer, request.headers(), &shared.settings.trusted_proxies);
    let line = AccessLine::new(Arc::clone(&shared.metrics), client, &request);
    request.extensions_mut().insert(ClientAddress(client));
    request.extensions_mut().insert(line.clone());

    let mut response = next.run(request).await;
    // The method that sends events writes the line when it has ended.
    let sends_events = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == EVENTS);
    let entry = if sends_events { None } else { line.take() };
    if entry.as_ref().is_some_and(|entry| !entry.is_identified())
        && let Err(exceeded) = shared.tenants.limits_of_address(client).count_request()
    {
        sleep(REFUSAL_PAUSE).await;
        response = exceeded.refusal().into_response();
    }

    // Only the answer to a preflight request of a browser has no content.
    if let Some(entry) = entry.filter(|_| response.status() != StatusCode::NO_CONTENT) {
        let reason = response.extensions().get::<Reason>().map_or("", |Reason(reason)| reason);
        entry.log_response(response.status(), reason);
    }
    response = with_id_in_body(response, line.id()).await;
    if shared.is_draining() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Lets the library answer a request, whose message is a whole body, through `server`.
async fn serve<S: ServerHandler>(shared: SharedState, server: S, request: Request) -> Response {
    let exceeded = Arc::<OnceLock<_>>::default();
    let handler = Arc::new(CallHandler { server, app: shared, exceeded: Arc::clone(&exceeded) });
    // Hosts and origins are checked on every route. The calls of a process that stops are cancelled by their server, so that
    // they are answered, and not by this token.
    let accepts_events =
        request.extensions().get::<Requester>().is_none_or(|requester| requester.accepts_events);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_retry(None)
        .with_max_request_body_bytes(usize::MAX)
        .disable_allowed_hosts();
    let sessions = Arc::new(NeverSessionManager::default());

    let service = StreamableHttpService::new(move || Ok(Arc::clone(&handler)), sessions, config);
    let mut response = service.handle(request).await.map(Body::new);
    if !accepts_events {
        response = answer_only(response).await;
    }
    if let Some(exceeded) = exceeded.get() {
        *response.status_mut() = exceeded.status();
        response.headers_mut().insert(header::RETRY_AFTER, exceeded.pause_seconds().into());
    }
    response
}

/// Returns the answer without the notifications before it, for a client that accepts no events: the last event contains it.
async fn answer_only(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let json = HeaderValue::from_static("application/json");
    if parts.headers.get(header::CONTENT_TYPE) == Some(&json) {
        return Response::from_parts(parts, body);
    }

    let events = to_bytes(body, usize::MAX).await.unwrap_or_default();
    // JSON text contains no line break.
    let mut data = events.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data: "));
    let answer = data.next_back().map(|answer| events.slice_ref(answer)).unwrap_or_default();
    parts.headers.insert(header::CONTENT_TYPE, json);
    Response::from_parts(parts, answer.into())
}

/// Returns the metadata of an endpoint as a resource that clients sign in to (RFC 9728).
async fn metadata(
    State(shared): State<SharedState>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let path = endpoint_of_metadata(uri.path()).ok_or_else(no_such_path)?;
    let authorization = shared.authorization.as_ref().ok_or_else(no_such_path)?;
    Endpoint::read(path, &HeaderMap::new(), &shared.offered).map_err(|_| no_such_path())?;
    Ok(authorization.metadata_response(&shared.resource(&uri, &headers, path)))
}

async fn method_not_allowed(method: Method) -> Refusal {
    let message =
        format!("the method {method} is not supported: this server has no sessions and no streams to open");
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message).header(header::ALLOW, METHODS)
}

/// Returns the response to a request whose handling has failed outside of a method.
fn internal_error() -> Response {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error").into_response()
}
