//! The caller of a request: its credential, and the project and the tools that it has chosen.

use std::{borrow::Cow, net::IpAddr, sync::Arc};

use axum::{
    extract::{Extension, Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header, request::Parts};
use tokio::time::sleep;

use super::{
    access_log::AccessLine,
    endpoint::Endpoint,
    limits::{ClientLimits, REFUSAL_PAUSE},
    oauth::Person,
    refusal::{Exceeded, Refusal},
    state::{Shared, SharedState},
    tenants::Tenant,
};
use crate::client::ApiKey;

/// Header with an API key, as the service has it.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Parameters of a query that would contain a credential. Queries appear in the logs of proxies.
const SECRET_PARAMETERS: [&str; 5] = ["access_token", "api_key", "apikey", "key", "token"];

/// The address of the client of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientAddress(pub(super) IpAddr);

/// Who sends a request, and to which endpoint. The handler reads it from the extensions of the request.
#[derive(Clone, Debug)]
pub(super) struct Requester {
    pub(super) tenant: Arc<Tenant>,
    /// The user who is signed in, unless the credential is a key.
    pub(super) person: Option<Arc<Person>>,
    pub(super) endpoint: Endpoint,
    /// The limits that apply to the request.
    pub(super) limits: Arc<ClientLimits>,
    /// Whether the client sends more than it may. The handler answers a call that it exceeds.
    pub(super) rate: Result<(), Exceeded>,
    /// Whether the client accepts a stream of events.
    pub(super) accepts_events: bool,
    /// Whether the message is too long to be decoded on a thread that serves others. It is set when the body was read.
    pub(super) has_long_message: bool,
}

/// Adds the [`Requester`] to a request.
///
/// # Errors
/// Status 404 or 400 for an unusable endpoint, 400 for an unusable credential, and those of
/// [`sign_in`](super::oauth::Authorization::sign_in).
pub(super) async fn identify(
    State(app): State<SharedState>,
    Extension(ClientAddress(address)): Extension<ClientAddress>,
    Extension(line): Extension<AccessLine>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let (mut parts, body) = request.into_parts();
    let endpoint = Endpoint::read(parts.uri.path(), &parts.headers, &app.offered)?;
    let (tenant, person) = app.tenant_of(&parts).await?;
    line.identify(&tenant, endpoint.project.as_deref());

    let limits = app.tenants.limits(&tenant, address);
    let rate = limits.count_request();
    let accepts_events = accepts_events(&parts.headers);
    let requester =
        Requester { tenant, person, endpoint, limits, rate, accepts_events, has_long_message: false };
    parts.extensions.insert(requester);

    // The pause comes before the work, which a client that ends its connection meanwhile does not cause.
    if rate.is_err() {
        sleep(REFUSAL_PAUSE).await;
    }
    let response = next.run(Request::from_parts(parts, body)).await;
    let Err(exceeded) = rate else { return Ok(response) };

    // The method of a message refuses it itself. Other refusals are made before the rate is looked at.
    let is_refused = matches!(response.status(), StatusCode::OK | StatusCode::TOO_MANY_REQUESTS);
    if is_refused { Ok(response) } else { Err(exceeded.refusal()) }
}

impl Shared {
    /// Returns the caller of a request, and the user if one is signed in.
    async fn tenant_of(&self, request: &Parts) -> Result<(Arc<Tenant>, Option<Arc<Person>>), Refusal> {
        let credential = read_credential(&request.uri, &request.headers, self.authorization.is_some())?;
        let tenants = &self.tenants;
        let Some(authorization) = &self.authorization else {
            let tenant = match credential {
                Some(Credential::Key(key)) => tenants.tenant(&key),
                _ => tenants.anonymous(),
            };
            return Ok((tenant, None));
        };

        let resource = self.resource(&request.uri, &request.headers, request.uri.path());
        match credential {
            Some(Credential::Key(key)) => Ok((tenants.tenant(&key), None)),
            Some(Credential::UserToken(token)) => {
                let person = authorization.sign_in(&token, &resource).await?;
                Ok((tenants.tenant_of_person(&person), Some(Arc::new(person))))
            }
            None => Err(authorization.require_sign_in(&resource)),
        }
    }
}

/// The credential of a request.
enum Credential {
    /// An API key of the service.
    Key(ApiKey),
    /// A token that identifies a user. It is never sent to the service, and no output shows it.
    UserToken(String),
}

/// Reads the credential of a request: the header `X-Api-Key`, or a bearer token. A bearer token is an API key unless
/// `has_issuer`.
///
/// # Errors
/// Status 400 if the request has two different credentials, an unusable one, or one in its address.
fn read_credential(uri: &Uri, headers: &HeaderMap, has_issuer: bool) -> Result<Option<Credential>, Refusal> {
    refuse_query(uri)?;
    let keys = texts(headers.get_all(API_KEY).iter(), |text| Some(text))?;
    // A proxy may add credentials of another scheme, which are not meant for this server.
    let tokens = texts(headers.get_all(header::AUTHORIZATION).iter(), bearer_token)?;

    if has_issuer {
        return match (only(&keys)?, only(&tokens)?) {
            (Some(key), None) => Ok(Some(Credential::Key(parse_key(key)?))),
            (None, Some(token)) => Ok(Some(Credential::UserToken(token.to_owned()))),
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err(two_credentials()),
        };
    }

    let key = only(&[keys, tokens].concat())?.map(parse_key).transpose()?;
    Ok(key.map(Credential::Key))
}

/// Returns the texts of header values from which `select` selects a credential.
fn texts<'a>(
    values: impl Iterator<Item = &'a HeaderValue>,
    select: fn(&str) -> Option<&str>,
) -> Result<Vec<&'a str>, Refusal> {
    let texts: Result<Vec<_>, _> = values.map(HeaderValue::to_str).collect();
    let texts = texts.map_err(|_| bad("the credential has characters that no credential has"))?;
    Ok(texts.into_iter().filter_map(select).map(str::trim).collect())
}

/// Returns the only credential; `None` if there is none.
fn only<'a>(texts: &[&'a str]) -> Result<Option<&'a str>, Refusal> {
    match texts {
        [] => Ok(None),
        [first, rest @ ..] if rest.iter().all(|text| text == first) => Ok(Some(first)),
        _ => Err(two_credentials()),
    }
}

fn parse_key(text: &str) -> Result<ApiKey, Refusal> {
    ApiKey::parse(text).map_err(|problem| bad(format!("the API key {problem}")))
}

fn two_credentials() -> Refusal {
    bad("the request has two different credentials: send one")
}

/// Returns the token of an `Authorization` header with the scheme `Bearer`.
fn bearer_token(text: &str) -> Option<&str> {
    let (scheme, token) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then_some(token)
}

fn refuse_query(uri: &Uri) -> Result<(), Refusal> {
    let query = uri.query().unwrap_or_default();
    let has_secret = url::form_urlencoded::parse(query.as_bytes())
        .any(|(name, _)| SECRET_PARAMETERS.contains(&name.to_ascii_lowercase().as_str()));
    if has_secret {
        return Err(bad("credentials in the address are refused: send them in a header"));
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the status of a refusal, or the text of the credential: a token in angle brackets.
    fn read_text(
        uri: &str,
        headers: &[(&'static str, &'static str)],
        has_issuer: bool,
    ) -> Result<Option<String>, u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }

        let credential = read_credential(&uri.parse().expect("an address"), &map, has_issuer);
        let credential = credential.map_err(|refusal| refusal.status.as_u16())?;
        Ok(credential.map(|credential| match credential {
            Credential::Key(key) => key.header().to_str().expect("text").to_owned(),
            Credential::UserToken(token) => format!("<{token}>"),
        }))
    }

    #[test]
    fn a_key_comes_from_one_of_two_headers() {
        let key = |text: &str| Ok(Some(text.to_owned()));
        let cases: [(&[_], _); 9] = [
            (&[], Ok(None)),
            (&[("x-api-key", "svc_abc1")], key("svc_abc1")),
            (&[("authorization", "Bearer svc_abc1")], key("svc_abc1")),
            (&[("authorization", "bEARER svc_abc1")], key("svc_abc1")),
            (&[("authorization", "Basic dXNlcjpwYXNz")], Ok(None)),
            (&[("authorization", "Basic dXNlcjpwYXNz"), ("x-api-key", "svc_abc1")], key("svc_abc1")),
            (&[("authorization", "Bearer svc_abc1"), ("x-api-key", "svc_abc1")], key("svc_abc1")),
            (&[("authorization", "Bearer svc_abc1"), ("x-api-key", "svc_abc2")], Err(400)),
            (&[("x-api-key", "no key")], Err(400)),
        ];

        for (headers, expected) in cases {
            assert_eq!(read_text("/mcp", headers, false), expected, "{headers:?}");
        }
    }

    #[test]
    fn with_an_issuer_a_bearer_token_is_never_a_key() {
        let text = |text: &str| Ok(Some(text.to_owned()));
        let cases: [(&[_], _); 5] = [
            (&[], Ok(None)),
            (&[("authorization", "Bearer svc_abc1")], text("<svc_abc1>")),
            (&[("x-api-key", "svc_abc1")], text("svc_abc1")),
            (&[("authorization", "Bearer svc_abc1"), ("x-api-key", "svc_abc1")], Err(400)),
            (&[("authorization", "Bearer a"), ("authorization", "Bearer b")], Err(400)),
        ];

        for (headers, expected) in cases {
            assert_eq!(read_text("/mcp", headers, true), expected, "{headers:?}");
        }
    }

    #[test]
    fn a_credential_in_the_address_is_refused() {
        for (uri, expected) in
            [("/mcp?access_token=x", Err(400)), ("/mcp?a=b&API_KEY=x", Err(400)), ("/mcp?a=b", Ok(None))]
        {
            assert_eq!(read_text(uri, &[], false), expected, "{uri}");
        }
    }

    #[test]
    fn a_client_accepts_events_unless_it_names_other_media_types_only() {
        let cases: [(&[&'static str], bool); 7] = [
            (&[], true),
            (&["application/json, text/event-stream"], true),
            (&["application/json", "Text/Event-Stream"], true),
            (&["*/*"], true),
            (&["text/*;q=0.5"], true),
            (&["application/json"], false),
            (&["text/html, application/json"], false),
        ];

        for (values, expected) in cases {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::ACCEPT, HeaderValue::from_static(value));
            }
            assert_eq!(accepts_events(&headers), expected, "{values:?}");
        }
    }
}
