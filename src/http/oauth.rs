//! Users who sign in at an issuer: the endpoint as a protected resource (RFC 9728), the check of a user token (RFC 9068, RFC 7519),
//! the grants of a user, and the refusals that tell a client how to get a token (RFC 6750).

use std::path::PathBuf;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use jsonwebtoken::{Algorithm, Header, Validation, errors::ErrorKind};
use serde_json::{Value, json};

use super::{
    grants::{Grant, Grants},
    issuer::{self, Issuer},
    limits::Refusal,
};
use crate::{fields::Fields, settings::HttpSettings};

/// How long a client waits after a refusal because the issuer cannot be reached, in seconds.
const ISSUER_PAUSE_S: u64 = 10;

/// How much the clocks of issuer and server may differ, in seconds.
const LEEWAY_S: u64 = 30;

/// Longest subject, in bytes.
const MAX_SUBJECT_BYTES: usize = 255;

/// Media types of access tokens (RFC 9068, 2.1), and that of tokens of any kind, which many issuers use.
const ACCESS_TOKEN_TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "JWT"];

/// Claims that only ID tokens have (`OpenID` Connect Core 1.0, 2 and 3.3.2.11). A client gets one to know its user, not to call a
/// server.
const ID_TOKEN_CLAIMS: [&str; 3] = ["nonce", "at_hash", "c_hash"];

#[derive(Debug)]
pub(super) struct Authorization {
    issuer: Issuer,
    grants: Grants,
    /// The audience of tokens, in place of the address of the endpoint.
    audience: Option<String>,
    /// Scopes that every token must have.
    scopes: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Person {
    /// The issuer and the subject of the person.
    pub(super) principal: String,
    /// Name of the person in the log.
    pub(super) subject: String,
    /// The grants that name the person; never empty.
    pub(super) grants: Vec<Grant>,
}

impl Authorization {
    /// Reads the grants that the settings name; `None` without an issuer.
    pub(super) fn from_settings(
        settings: &HttpSettings,
        ca_file: Option<PathBuf>,
    ) -> Result<Option<Self>, String> {
        let Some((name, url)) = settings.oauth_issuer.clone() else { return Ok(None) };

        issuer::install_verifier();
        let grants = settings.grants_file.as_deref().ok_or("`TAS_GRANTS_FILE` is not set")?;
        Ok(Some(Self {
            issuer: Issuer::new(name, url, ca_file),
            grants: Grants::read(grants)?,
            audience: settings.oauth_audience.clone(),
            scopes: settings.oauth_scopes.clone(),
        }))
    }

    /// Reads the metadata of the issuer, and logs how hosts can register there.
    pub(super) async fn log_issuer(&self) {
        match self.issuer.read_metadata().await {
            Ok(metadata) => tracing::warn!("the issuer {} {}", self.issuer.name(), metadata.registration()),
            Err(reason) => tracing::warn!("the issuer cannot be reached yet: {reason}"),
        }
    }

    pub(super) async fn sign_in(&self, token: &str, resource: &Resource) -> Result<Person, Refusal> {
        let audiences = match &self.audience {
            Some(audience) => vec![audience.clone()],
            None => resource.audiences(),
        };
        let claims = verify(token, &self.issuer, &audiences).await.map_err(|error| match error {
            TokenError::Invalid(problem) => {
                let message = format!("the user token is not accepted: {problem}");
                self.challenge(resource, StatusCode::UNAUTHORIZED, message, "invalid_token")
            }
            // The log contains the reason, which is no concern of clients.
            TokenError::Issuer => {
                let message = "the issuer of user tokens cannot be reached: try again later";
                let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message);
                refusal.header(header::RETRY_AFTER, ISSUER_PAUSE_S.into())
            }
        })?;

        let scopes = scopes(&claims);
        if !self.scopes.iter().all(|needed| scopes.contains(&needed.as_str())) {
            let message = format!("the user token needs the scopes {}", self.scopes.join(" "));
            return Err(self.challenge(resource, StatusCode::FORBIDDEN, message, "insufficient_scope"));
        }
        let grants = self.grants.of_person(&claims);
        if grants.is_empty() {
            // Entra names the place of groups that are too many for a token.
            let cause =
                if claims.contains_key("_claim_names") { ", and the token leaves groups out" } else { "" };
            let message =
                format!("no grant of this server names the person{cause}: the operator must add one");
            return Err(Refusal::new(StatusCode::FORBIDDEN, message));
        }

        let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Person { principal: format!("{} {subject}", self.issuer.name()), subject, grants })
    }

    pub(super) fn require_sign_in(&self, resource: &Resource) -> Refusal {
        let message = "the request has no credential: the client must sign in, or send an API key in the header X-Api-Key";
        self.challenge(resource, StatusCode::UNAUTHORIZED, message.to_owned(), "")
    }

    pub(super) fn metadata_response(&self, resource: &Resource) -> Response {
        Json(json!({
            "resource": resource.address(),
            "resource_name": "Test Automation Service",
            "authorization_servers": [self.issuer.name()],
            "scopes_supported": self.scopes,
            "bearer_methods_supported": ["header"],
        }))
        .into_response()
    }

    /// Returns a refusal that tells the client how to get another token (RFC 6750, RFC 9728).
    fn challenge(&self, resource: &Resource, status: StatusCode, message: String, error: &str) -> Refusal {
        let mut parameters = vec![("resource_metadata", resource.metadata_address())];
        if !self.scopes.is_empty() {
            parameters.push(("scope", self.scopes.join(" ")));
        }
        if !error.is_empty() {
            parameters.push(("error", error.to_owned()));
            parameters.push(("error_description", message.clone()));
        }
        let parameters = parameters.iter().map(|(name, value)| format!("{name}=\"{}\"", quotable(value)));
        let challenge = format!("Bearer {}", parameters.collect::<Vec<_>>().join(", "));

        let header = HeaderValue::try_from(challenge).ok().map(|value| (header::WWW_AUTHENTICATE, value));
        Refusal { header, ..Refusal::new(status, message) }
    }
}

/// Returns the characters of a text that a quoted value may contain.
fn quotable(text: &str) -> String {
    text.chars().filter(|character| (' '..='~').contains(character) && !"\"\\".contains(*character)).collect()
}

/// Path before the path of an endpoint, at which the metadata of the endpoint is.
const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// Returns the path of the endpoint whose metadata is at `path`.
pub(super) fn endpoint_of_metadata(path: &str) -> Option<&str> {
    path.strip_prefix(METADATA_PATH).filter(|endpoint| endpoint.starts_with('/'))
}

/// An endpoint with its public address.
#[derive(Debug)]
pub(super) struct Resource {
    origin: String,
    /// The path without a slash at the end.
    path: String,
}

impl Resource {
    pub(super) fn new(origin: String, path: &str) -> Self {
        Self { origin, path: path.trim_end_matches('/').to_owned() }
    }

    fn address(&self) -> String {
        format!("{}{}", self.origin, self.path)
    }

    fn metadata_address(&self) -> String {
        format!("{}{METADATA_PATH}{}", self.origin, self.path)
    }

    /// Returns the audiences of the tokens that this endpoint accepts: its address, the preferred one, and the addresses
    /// above it, each with and without a slash at the end.
    fn audiences(&self) -> Vec<String> {
        let ends = self.path.rmatch_indices('/').map(|(index, _)| self.path.get(..index).unwrap_or_default());
        let paths: Vec<_> = [self.path.as_str()].into_iter().chain(ends).collect();
        let audiences = |end| paths.iter().map(move |path| format!("{}{path}{end}", self.origin));
        audiences("").chain(audiences("/")).collect()
    }
}

#[derive(Debug)]
enum TokenError {
    Invalid(String),
    /// The issuer cannot be asked for its keys.
    Issuer,
}

impl From<&str> for TokenError {
    fn from(problem: &str) -> Self {
        Self::Invalid(problem.to_owned())
    }
}

/// Returns the claims of a token of `issuer` for one of the `audiences`.
async fn verify(token: &str, issuer: &Issuer, audiences: &[String]) -> Result<Fields, TokenError> {
    let header = jsonwebtoken::decode_header(token).map_err(|_| "the token is no usable JSON web token")?;
    check_header(&header)?;

    let id = header.kid.as_deref();
    let keys = issuer.keys_for(id, header.alg).await.map_err(|_| TokenError::Issuer)?;
    let validation = validation(header.alg, issuer.name(), audiences);
    let mut problem = "no key of the issuer fits the token".to_owned();
    for candidate in keys.candidates(id, header.alg) {
        match jsonwebtoken::decode::<Fields>(token, &candidate.key, &validation) {
            Ok(token) => return check_claims(token.claims),
            Err(error) => problem = describe(error.kind(), audiences),
        }
    }
    Err(TokenError::Invalid(problem))
}

fn check_header(header: &Header) -> Result<(), TokenError> {
    let is_known = |kind: &str| ACCESS_TOKEN_TYPES.iter().any(|known| known.eq_ignore_ascii_case(kind));
    if !header.typ.as_deref().is_none_or(is_known) {
        return Err("the token is no access token: its `typ` names another kind".into());
    }
    // A parameter that must be understood could change what the token means (RFC 7515, 4.1.11).
    if header.crit.is_some() {
        return Err("the token has critical parameters".into());
    }
    Ok(())
}

fn validation(algorithm: Algorithm, issuer: &str, audiences: &[String]) -> Validation {
    let mut validation = Validation::new(algorithm);
    // The library checks issuer and audience only if the token has them, unless they are required.
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    validation.set_issuer(&[issuer]);
    validation.set_audience(audiences);
    validation.validate_nbf = true;
    validation.leeway = LEEWAY_S;
    validation
}

fn check_claims(claims: Fields) -> Result<Fields, TokenError> {
    if let Some(claim) = ID_TOKEN_CLAIMS.iter().find(|claim| claims.contains_key(**claim)) {
        let problem = format!("the token is an ID token, as its claim {claim} shows, and no access token");
        return Err(TokenError::Invalid(problem));
    }
    let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
    if subject.is_empty() || subject.len() > MAX_SUBJECT_BYTES {
        return Err("the token has no usable subject".into());
    }
    Ok(claims)
}

fn describe(problem: &ErrorKind, audiences: &[String]) -> String {
    match problem {
        ErrorKind::InvalidSignature => "the signature is not of the issuer".to_owned(),
        ErrorKind::MissingRequiredClaim(claim) => format!("the token has no claim {claim}"),
        ErrorKind::InvalidIssuer => "the token is of another issuer".to_owned(),
        ErrorKind::InvalidAudience => {
            let audience = audiences.first().map_or("", String::as_str);
            format!("the token is for another audience than {audience}")
        }
        ErrorKind::ExpiredSignature => "the token has expired".to_owned(),
        ErrorKind::ImmatureSignature => "the token is not valid yet".to_owned(),
        _ => "the token is no usable JSON web token".to_owned(),
    }
}

/// Returns the scopes of a token. Issuers use either name, and either form.
fn scopes(claims: &Fields) -> Vec<&str> {
    match claims.get("scope").or_else(|| claims.get("scp")) {
        Some(Value::String(scopes)) => scopes.split(' ').collect(),
        Some(Value::Array(scopes)) => scopes.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
