//! Users who sign in at an issuer: the endpoint as a protected resource (RFC 9728), the check of a token (RFC 9068, RFC 7519) with
//! the grants of its user, and the refusals that tell a client how to get a token (RFC 6750).

use std::{borrow::Cow, sync::Arc, time::Duration};

use axum::{
    Json,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, Validation, errors::ErrorKind};
use serde_json::{Value, json};
use url::Url;

use super::{
    grants::{Grant, GrantsFile, UnusableGrants},
    issuer::{self, Issuer, IssuerReport, IssuerUnavailable, differs_in_slash},
    refusal::Refusal,
};
use crate::{fields::Fields, settings::OauthSettings};

/// How long a client waits after a refusal because the issuer cannot be reached, in seconds.
const ISSUER_PAUSE_S: u64 = 10;

/// Pause between two looks at the grants of a person who waits.
const GRANTS_PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Authorization {
    settings: OauthSettings,
    issuer: Arc<Issuer>,
    grants: GrantsFile,
}

/// A user who is signed in.
#[derive(Debug)]
pub(super) struct Person {
    /// The issuer and the subject of the person.
    pub(super) principal: String,
    /// Name of the person in the log.
    pub(super) subject: String,
    /// The grants that name the person; never empty.
    pub(super) grants: Vec<Grant>,
    claims: Claims,
}

impl Authorization {
    /// Reads the grants that the settings name.
    pub(super) fn new(settings: OauthSettings) -> Result<Self, UnusableGrants> {
        issuer::install_verifier();
        let grants = GrantsFile::open(settings.grants_file.clone())?;
        Ok(Self { issuer: Arc::new(Issuer::new(&settings)), grants, settings })
    }

    /// Returns the person of a token.
    ///
    /// # Errors
    /// Status 401 for a token that is not accepted, 403 without a scope or a grant, 503 if the issuer cannot be reached.
    pub(super) async fn sign_in(&self, token: &str, resource: &Resource) -> Result<Person, Refusal> {
        let audiences = match &self.settings.audience {
            Some(audience) => vec![audience.clone()],
            None => resource.audiences(),
        };

        let claims = Claims::verify(token, &self.issuer, &audiences).await.map_err(|error| match error {
            TokenError::Invalid(problem) => {
                let message = format!("the user token is not accepted: {problem}");
                self.challenge(resource, StatusCode::UNAUTHORIZED, message, "invalid_token")
            }
            TokenError::Issuer(reason) => {
                let message = match reason {
                    // Both names are public, and the operator may read only the messages of clients.
                    IssuerUnavailable::OtherName { .. } => {
                        Cow::from(format!("user tokens cannot be checked: {reason}"))
                    }
                    // The log contains the reason, which is no concern of clients.
                    IssuerUnavailable::Unusable(_) => {
                        "the issuer of user tokens cannot be reached: try again later".into()
                    }
                };
                Refusal::retry_after(StatusCode::SERVICE_UNAVAILABLE, message, ISSUER_PAUSE_S)
            }
        })?;
        let scopes = claims.scopes();
        if !self.settings.scopes.iter().all(|needed| scopes.contains(&needed.as_str())) {
            let message = format!("the user token needs the scopes {}", self.settings.scopes.join(" "));
            return Err(self.challenge(resource, StatusCode::FORBIDDEN, message, "insufficient_scope"));
        }

        let grants = self.grants.of_person(claims.fields());
        if grants.is_empty() {
            let message = "no grant of this server names the person: the operator must add one";
            return Err(Refusal::new(StatusCode::FORBIDDEN, message));
        }
        let subject = claims.subject().to_owned();
        let principal = format!("{} {subject}", self.settings.issuer);
        Ok(Person { principal, subject, grants, claims })
    }

    /// Completes when the token of the person has expired, or the person has other grants than at the sign-in.
    pub(super) async fn end_of_grants(&self, person: &Person) {
        let has_same_grants = || {
            let grants = self.grants.of_person(person.claims.fields());
            grants.iter().map(Grant::identity).eq(person.grants.iter().map(Grant::identity))
        };
        while !person.claims.are_expired() && has_same_grants() {
            tokio::time::sleep(GRANTS_PAUSE).await;
        }
    }

    /// Returns the refusal of a request without a credential.
    pub(super) fn require_sign_in(&self, resource: &Resource) -> Refusal {
        let message = "the request has no credential: the client must sign in, or send an API key in the header X-Api-Key";
        self.challenge(resource, StatusCode::UNAUTHORIZED, message.to_owned(), "")
    }

    pub(super) fn metadata_response(&self, resource: &Resource) -> Response {
        Json(resource.metadata(&self.settings)).into_response()
    }

    pub(super) async fn examine_issuer(&self) -> Result<IssuerReport, IssuerUnavailable> {
        self.issuer.examine().await
    }

    /// Returns the grants, each with the persons whom it names.
    pub(super) fn grants(&self) -> Vec<(String, Grant)> {
        self.grants.described()
    }

    /// Returns a refusal that tells the client how to get another token (RFC 6750, RFC 9728).
    fn challenge(&self, resource: &Resource, status: StatusCode, message: String, error: &str) -> Refusal {
        let mut parameters = vec![("resource_metadata", resource.metadata_address())];
        if !self.settings.scopes.is_empty() {
            parameters.push(("scope", self.settings.scopes.join(" ")));
        }
        if !error.is_empty() {
            parameters.push(("error", error.to_owned()));
            parameters.push(("error_description", message.clone()));
        }
        let parameters = parameters.iter().map(|(name, value)| format!("{name}=\"{}\"", quotable(value)));
        let challenge = format!("Bearer {}", parameters.collect::<Vec<_>>().join(", "));

        let refusal = Refusal::new(status, message);
        match HeaderValue::try_from(challenge) {
            Ok(challenge) => refusal.header(header::WWW_AUTHENTICATE, challenge),
            // The host of the request cannot be in a header.
            Err(_) => refusal,
        }
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
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Resource {
    origin: String,
    /// The path without a slash at the end.
    path: String,
}

impl Resource {
    /// Returns the endpoint at `path`. Without a public URL the origin is that of the request, whose host is a known one.
    pub(super) fn new(public_url: Option<&Url>, uri: &Uri, headers: &HeaderMap, path: &str) -> Self {
        let requested_host = || {
            let header = headers.get(header::HOST).and_then(|host| host.to_str().ok());
            uri.authority().map(http::uri::Authority::as_str).or(header).unwrap_or_default().to_owned()
        };
        let origin = match public_url {
            Some(url) => url.origin().ascii_serialization(),
            None => format!("http://{}", requested_host()),
        };
        Self { origin, path: path.trim_end_matches('/').to_owned() }
    }

    pub(super) fn address(&self) -> String {
        format!("{}{}", self.origin, self.path)
    }

    fn metadata_address(&self) -> String {
        format!("{}{METADATA_PATH}{}", self.origin, self.path)
    }

    /// Returns the audiences of the tokens that this endpoint accepts: its address, the preferred one, and the addresses
    /// above it.
    fn audiences(&self) -> Vec<String> {
        let mut audiences = vec![self.address()];
        let ends = self.path.rmatch_indices('/').map(|(index, _)| index);
        for end in ends {
            let parent = self.path.get(..end).unwrap_or_default();
            audiences.push(format!("{}{parent}", self.origin));
        }

        let with_slash: Vec<_> = audiences.iter().map(|audience| format!("{audience}/")).collect();
        audiences.extend(with_slash);
        audiences
    }

    fn metadata(&self, settings: &OauthSettings) -> Value {
        json!({
            "resource": self.address(),
            "resource_name": "Test Automation Service",
            "authorization_servers": [settings.issuer],
            "scopes_supported": settings.scopes,
            "bearer_methods_supported": ["header"],
        })
    }
}

/// How much the clocks of issuer and server may differ, in seconds.
const LEEWAY_S: f64 = 30.0;

/// Longest subject, in bytes.
const MAX_SUBJECT_BYTES: usize = 255;

/// Media types of access tokens (RFC 9068, 2.1), and that of tokens of any kind, which many issuers use.
const ACCESS_TOKEN_TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "JWT"];

/// Claims that only ID tokens have (`OpenID` Connect Core 1.0, 2 and 3.3.2.11). A client gets one to know its user, not to call a
/// server.
const ID_TOKEN_CLAIMS: [&str; 3] = ["nonce", "at_hash", "c_hash"];

/// The claims of a token whose signature, issuer, audience and times are valid.
#[derive(Debug)]
pub(super) struct Claims(Fields);

/// Why a token is not accepted.
#[derive(Debug, thiserror::Error)]
pub(super) enum TokenError {
    #[error("{0}")]
    Invalid(String),
    #[error("the issuer cannot be reached: {0}")]
    Issuer(#[from] IssuerUnavailable),
}

impl Claims {
    /// Verifies a token of `issuer` for one of the `audiences`.
    pub(super) async fn verify(
        token: &str,
        issuer: &Arc<Issuer>,
        audiences: &[String],
    ) -> Result<Self, TokenError> {
        let header = jsonwebtoken::decode_header(token).map_err(|error| describe(error.kind(), audiences))?;
        if !header.typ.as_deref().is_none_or(is_access_token) {
            return Err(TokenError::Invalid(
                "the token is no access token: its `typ` names another kind".to_owned(),
            ));
        }
        // A parameter that must be understood could change what the token means (RFC 7515, 4.1.11).
        if header.crit.is_some() {
            return Err(TokenError::Invalid("the token has critical parameters".to_owned()));
        }
        let keys = issuer.keys_for(header.kid.as_deref(), header.alg).await?;

        let validation = validation(header.alg, audiences);
        let mut problem = "no key of the issuer fits the token".to_owned();
        for candidate in keys.candidates(header.kid.as_deref(), header.alg) {
            match jsonwebtoken::decode::<Fields>(token, &candidate.key, &validation) {
                Ok(token) => return Self::check(token.claims, issuer.name()),
                Err(error) => problem = describe_text(error.kind(), audiences),
            }
        }

        Err(TokenError::Invalid(problem))
    }

    /// Checks the claims of a token whose signature is valid.
    fn check(claims: Fields, issuer: &str) -> Result<Self, TokenError> {
        check_issuer(&claims, issuer).and_then(|()| check_times(&claims)).map_err(TokenError::Invalid)?;
        if let Some(claim) = ID_TOKEN_CLAIMS.iter().find(|claim| claims.contains_key(**claim)) {
            let problem =
                format!("the token is an ID token, as its claim {claim} shows, and no access token");
            return Err(TokenError::Invalid(problem));
        }

        let claims = Self(claims);
        let subject = claims.subject();
        if subject.is_empty() || subject.len() > MAX_SUBJECT_BYTES {
            return Err(TokenError::Invalid("the token has no usable subject".to_owned()));
        }
        Ok(claims)
    }

    pub(super) fn subject(&self) -> &str {
        self.0.get("sub").and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn scopes(&self) -> Vec<&str> {
        // Issuers use either name, and either form.
        let claim = self.0.get("scope").or_else(|| self.0.get("scp"));
        match claim {
            Some(Value::String(scopes)) => scopes.split(' ').collect(),
            Some(Value::Array(scopes)) => scopes.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns whether a sign-in with the token would fail by now, because it has expired.
    pub(super) fn are_expired(&self) -> bool {
        let end = self.0.get("exp").and_then(Value::as_f64).unwrap_or_default();
        now() > end + LEEWAY_S
    }

    pub(super) fn fields(&self) -> &Fields {
        &self.0
    }
}

fn is_access_token(media_type: &str) -> bool {
    ACCESS_TOKEN_TYPES.iter().any(|known| known.eq_ignore_ascii_case(media_type))
}

fn validation(algorithm: Algorithm, audiences: &[String]) -> Validation {
    let mut validation = Validation::new(algorithm);
    // The library checks the audience only if the token has one, unless it is required. It does not read times with a
    // fraction, and does not tell the name of the issuer: `Claims::check` checks both.
    validation.set_required_spec_claims(&["iss", "aud", "sub"]);
    validation.set_audience(audiences);
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation
}

/// Checks that the token is of the issuer `expected`. The names are compared letter by letter (`OpenID` Connect Core 1.0,
/// 3.1.3.7).
fn check_issuer(claims: &Fields, expected: &str) -> Result<(), String> {
    let named = claims.get("iss").and_then(Value::as_str).unwrap_or_default();
    if named == expected {
        return Ok(());
    }
    if !differs_in_slash(named, expected) {
        return Err("the token is of another issuer".to_owned());
    }
    Err(format!(
        "the token names the issuer `{named}`, but TAS_OAUTH_ISSUER and the metadata of the issuer name `{expected}`: they must be equal, and the issuer must write `{expected}` into its tokens"
    ))
}

/// Checks the times of a token, numbers that may have a fraction (RFC 7519, 2).
fn check_times(claims: &Fields) -> Result<(), String> {
    let time = |name: &str| {
        let unusable = || format!("the claim {name} of the token is no number");
        claims.get(name).map(|value| value.as_f64().ok_or_else(unusable)).transpose()
    };
    let now = now();

    let end = time("exp")?.ok_or("the token has no claim exp")?;
    if now > end + LEEWAY_S {
        return Err("the token has expired".to_owned());
    }
    if time("nbf")?.is_some_and(|start| start > now + LEEWAY_S) {
        return Err("the token is not valid yet".to_owned());
    }
    Ok(())
}

/// Returns the seconds since 1970.
fn now() -> f64 {
    Timestamp::now().as_duration().as_secs_f64()
}

fn describe(problem: &ErrorKind, audiences: &[String]) -> TokenError {
    TokenError::Invalid(describe_text(problem, audiences))
}

fn describe_text(problem: &ErrorKind, audiences: &[String]) -> String {
    match problem {
        ErrorKind::InvalidSignature => "the signature is not of the issuer".to_owned(),
        ErrorKind::MissingRequiredClaim(claim) => format!("the token has no claim {claim}"),
        ErrorKind::InvalidAudience => {
            let audience = audiences.first().map_or("", String::as_str);
            format!("the token is for another audience than {audience}")
        }
        _ => "the token is no usable JSON web token".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_for_an_endpoint_or_an_address_above_it_are_accepted() {
        let public = Url::parse("https://tas.example.com").expect("an address");
        let resource = Resource::new(Some(&public), &Uri::from_static("/"), &HeaderMap::new(), "/mcp/demo/");

        assert_eq!(
            resource.audiences(),
            [
                "https://tas.example.com/mcp/demo",
                "https://tas.example.com/mcp",
                "https://tas.example.com",
                "https://tas.example.com/mcp/demo/",
                "https://tas.example.com/mcp/",
                "https://tas.example.com/",
            ]
        );
    }

    #[test]
    fn metadata_is_below_the_well_known_path() {
        let cases = [
            ("/.well-known/oauth-protected-resource/mcp/demo", Some("/mcp/demo")),
            ("/.well-known/oauth-protected-resource", None),
            ("/.well-known/oauth-protected-resources/mcp", None),
            ("/mcp", None),
        ];
        for (path, expected) in cases {
            assert_eq!(endpoint_of_metadata(path), expected, "{path}");
        }
    }

    #[test]
    fn without_a_public_url_the_host_of_the_request_counts() {
        let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost:8900"))]);
        let resource = Resource::new(None, &Uri::from_static("/mcp"), &headers, "/mcp");

        assert_eq!(
            resource.metadata_address(),
            "http://localhost:8900/.well-known/oauth-protected-resource/mcp"
        );
    }
}
