//! The caller of a request: its credential, and the project and the tools that it has chosen.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use axum::{
    extract::{Extension, Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::{
    access_log::AccessLine,
    credentials::Credential,
    endpoint::Endpoint,
    limits::ClientLimits,
    origin::FORWARDED_FOR,
    refusal::{Exceeded, Refusal},
    state::{Shared, SharedState},
};
use crate::client::ApiKey;

/// Header with an API key, as the service has it.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The media types that the library asks a client to accept.
const ACCEPTED: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Who sends a request, and to which endpoint. The handler reads it from the extensions of the request.
#[derive(Clone, Debug)]
pub(super) struct Requester {
    pub(super) credential: Arc<Credential>,
    pub(super) endpoint: Endpoint,
    /// The limits that apply to the request.
    pub(super) limits: Arc<ClientLimits>,
    /// Whether the client sends more than it may. The handler answers a call that it exceeds.
    pub(super) rate: Result<(), Exceeded>,
    /// The limit that the request exceeds. The response gets its status, because the library knows only those of the protocol.
    pub(super) exceeded: Arc<OnceLock<Exceeded>>,
    /// Whether the client accepts a stream of events.
    pub(super) accepts_events: bool,
}

/// Adds the [`Requester`] to a request. A stranger who sends too much is refused before the message is read.
pub(super) async fn identify(
    State(app): State<SharedState>,
    Extension(line): Extension<AccessLine>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let endpoint = Endpoint::read(request.uri().path(), request.headers(), &app.offered)?;
    let credential = app.credential_of(request.uri().path(), request.headers()).await?;
    line.identify(&credential, endpoint.project.as_deref());

    let limits = app.credentials.limits(&credential, line.client);
    let rate = limits.count_request();
    if !credential.is_accepted() {
        rate.map_err(Exceeded::refusal)?;
    }

    let accepts_events = accepts_events(request.headers());
    let exceeded = Arc::default();
    let requester = Requester { credential, endpoint, limits, rate, exceeded, accepts_events };
    request.extensions_mut().insert(requester);
    // The library serves no client that accepts one of them only.
    request.headers_mut().insert(header::ACCEPT, ACCEPTED);
    Ok(next.run(request).await)
}

impl Shared {
    async fn credential_of(&self, path: &str, headers: &HeaderMap) -> Result<Arc<Credential>, Refusal> {
        let credential = read_credential(headers, self.authorization.is_some())?;

        match (credential, &self.authorization) {
            (Some(SentCredential::Key(key)), _) => Ok(self.credentials.of_key(&key)),
            (Some(SentCredential::UserToken(token)), Some(authorization)) => {
                let person = authorization.sign_in(&token, &self.resource(path)).await?;
                Ok(self.credentials.of_person(&person))
            }
            (None, Some(authorization)) => Err(authorization.require_sign_in(&self.resource(path))),
            // A proxy on this machine would let strangers use the key of the settings.
            (_, None) if is_forwarded(headers) && self.credentials.serves_anonymous() => Err(Refusal::new(
                StatusCode::UNAUTHORIZED,
                "the request came through a proxy: send an API key, because that of the server is for this machine only",
            )),
            (_, None) => Ok(Arc::clone(&self.credentials.anonymous)),
        }
    }
}

/// Returns whether a proxy has passed the request on.
fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key(header::FORWARDED) || headers.contains_key(FORWARDED_FOR)
}

/// The credential of a request.
enum SentCredential {
    /// An API key of the service.
    Key(ApiKey),
    /// A token that identifies a user. It is never sent to the service, and no output shows it.
    UserToken(String),
}

/// Reads the credential of a request: the header `X-Api-Key`, or a bearer token. A bearer token is an API key unless
/// `has_issuer`.
fn read_credential(headers: &HeaderMap, has_issuer: bool) -> Result<Option<SentCredential>, Refusal> {
    let mut sent = Vec::new();
    for key in headers.get_all(API_KEY) {
        sent.push((false, text_of(key)?));
    }
    // A proxy may add credentials of another scheme, which are not meant for this server.
    for value in headers.get_all(header::AUTHORIZATION) {
        if text_of(value)?.starts_with("Token ") {
            return Err(bad("the header `Authorization` has the scheme `Token`: send `Bearer KEY`"));
        }
        sent.extend(bearer_token(text_of(value)?).map(|token| (has_issuer, token.trim())));
    }
    sent.dedup();

    match sent[..] {
        [] => Ok(None),
        [(true, token)] => Ok(Some(SentCredential::UserToken(token.to_owned()))),
        [(false, key)] => {
            let key = ApiKey::parse(key).map_err(|problem| bad(format!("the API key {problem}")))?;
            Ok(Some(SentCredential::Key(key)))
        }
        _ => Err(bad("the request has two different credentials: send one")),
    }
}

fn text_of(value: &HeaderValue) -> Result<&str, Refusal> {
    value.to_str().map_err(|_| bad("the credential has characters that no credential has"))
}

/// Returns the token of an `Authorization` header with the scheme `Bearer`.
fn bearer_token(text: &str) -> Option<&str> {
    let (scheme, token) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then_some(token)
}

fn bad(message: impl Into<Cow<'static, str>>) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, message)
}

/// Returns whether a client accepts a stream of events. A client that names no media types accepts all.
fn accepts_events(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter().peekable();
    let names_events = |value: &HeaderValue| {
        let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
        ["text/event-stream", "text/*", "*/*"].iter().any(|name| text.contains(name))
    };
    accepted.peek().is_none() || accepted.any(names_events)
}
