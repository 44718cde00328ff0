//! The caller of a request: its credential, and the project and the tools that it has chosen.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use axum::{
    extract::{Extension, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
};

use super::{
    access_log::AccessLine,
    credentials::Credential,
    endpoint::Endpoint,
    limits::{ClientLimits, Exceeded, Kind, Place, Refusal},
    state::{Shared, SharedState},
};
use crate::client::{ApiKey, KEY_PREFIX};

/// Header with an API key, as the service has it.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Longest message that everybody may send, in bytes.
const SHORT_MESSAGE: usize = 64 * 1024;

/// The media types that the library asks a client to accept.
const ACCEPTED: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Who sends a request, and to which endpoint. The handler reads it from the extensions of the request.
#[derive(Clone, Debug)]
pub(super) struct Requester {
    pub(super) credential: Arc<Credential>,
    pub(super) endpoint: Endpoint,
    pub(super) limits: Arc<ClientLimits>,
    /// Whether the client sends more than it may. The handler answers a call that it exceeds.
    pub(super) rate: Result<(), Exceeded>,
    /// The limit that the request exceeds. The response gets its status, because the library knows only those of the protocol.
    pub(super) exceeded: Arc<OnceLock<Exceeded>>,
    pub(super) accepts_events: bool,
    /// The places of a long message, until its method has ended.
    _places: Arc<Vec<Place>>,
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

    let places = Arc::new(app.admit_length(request.headers(), &credential, &limits)?);
    let accepts_events = accepts_events(request.headers());
    let exceeded = Arc::default();
    let requester =
        Requester { credential, endpoint, limits, rate, exceeded, accepts_events, _places: places };
    request.extensions_mut().insert(requester);
    // The library serves no client that accepts one of them only.
    request.headers_mut().insert(header::ACCEPT, ACCEPTED);
    Ok(next.run(request).await)
}

impl Shared {
    /// Takes one of the places for messages that are long or state no length. Only an accepted credential gets one.
    fn admit_length(
        &self,
        headers: &HeaderMap,
        credential: &Credential,
        limits: &ClientLimits,
    ) -> Result<Vec<Place>, Refusal> {
        let length =
            headers.get(header::CONTENT_LENGTH).map_or("0", |length| length.to_str().unwrap_or_default());
        let is_short = length.parse().is_ok_and(|length: usize| length <= SHORT_MESSAGE);
        if is_short && !headers.contains_key(header::TRANSFER_ENCODING) {
            return Ok(Vec::new());
        }

        if !credential.is_accepted() {
            let message =
                "a message above 64 KiB or of unknown length needs a key that the service has accepted";
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        }

        limits.admit([Kind::LongMessage], &self.places).map_err(Exceeded::refusal)
    }

    async fn credential_of(&self, path: &str, headers: &HeaderMap) -> Result<Arc<Credential>, Refusal> {
        let credential = read_credential(headers, self.authorization.is_some())?;

        match (credential, &self.authorization) {
            (Some((true, token)), Some(authorization)) => {
                let person = authorization.sign_in(token, &self.resource(path)).await?;
                Ok(self.credentials.of_person(&person))
            }
            (Some((_, key)), _) => {
                let key = ApiKey::parse(key).map_err(|problem| bad(format!("the API key {problem}")))?;
                Ok(self.credentials.of_key(&key))
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

fn is_forwarded(headers: &HeaderMap) -> bool {
    let is_of_proxy =
        |name: &str| name.starts_with("x-forwarded-") || ["forwarded", "via", "x-real-ip"].contains(&name);
    headers.keys().any(|name| is_of_proxy(name.as_str()))
}

/// Reads the credential of a request, and whether it is a user token: the header `X-Api-Key`, or a bearer token. A bearer token is an
/// API key unless `has_issuer`. A user token is never sent to the service, and no output shows it.
fn read_credential(headers: &HeaderMap, has_issuer: bool) -> Result<Option<(bool, &str)>, Refusal> {
    let mut sent = Vec::new();
    for key in headers.get_all(API_KEY) {
        sent.push((false, text_of(key)?));
    }
    for value in headers.get_all(header::AUTHORIZATION) {
        let words: Vec<_> = text_of(value)?.split_whitespace().collect();
        let seen = match words[..] {
            [scheme, token] if scheme.eq_ignore_ascii_case("Bearer") => {
                sent.push((has_issuer, token));
                continue;
            }
            [scheme, ..] if scheme.eq_ignore_ascii_case("Bearer") => {
                "`Bearer` without a word, or with several"
            }
            [scheme, ..] if scheme.eq_ignore_ascii_case("Token") => "the scheme `Token`",
            [key] if key.starts_with(KEY_PREFIX) => "a key without a scheme",
            // A proxy may add credentials of another scheme, which are not meant for this server.
            _ => continue,
        };
        return Err(bad(format!("the header `Authorization` has {seen}: send `Bearer KEY`")));
    }
    sent.dedup();

    match sent[..] {
        [] => Ok(None),
        [credential] => Ok(Some(credential)),
        _ => Err(bad("the request has two different credentials: send one")),
    }
}

fn text_of(value: &HeaderValue) -> Result<&str, Refusal> {
    value.to_str().map_err(|_| bad("the credential has characters that no credential has"))
}

fn bad(message: impl Into<Cow<'static, str>>) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, message)
}

/// Returns whether a client accepts a stream of events. A client that names no media types accepts all.
fn accepts_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let accepted = accepted.collect::<String>().to_ascii_lowercase();
    accepted.is_empty() || ["text/event-stream", "text/*", "*/*"].iter().any(|name| accepted.contains(name))
}
