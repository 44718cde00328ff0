//! Users who sign in at an issuer: the endpoint as a protected resource (RFC 9728), the check of a token, the grants of its
//! user, and the refusals that tell a client how to get a token (RFC 6750).

use std::{borrow::Cow, time::Duration};

use axum::{
    Json,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use serde_json::{Value, json};
use url::Url;

use super::{
    granted_callers::Grant,
    grants::{GrantsFile, UnusableGrants},
    issuer::{Issuer, IssuerReport, IssuerUnavailable},
    refusal::Refusal,
    token::{self, Claims, TokenError},
};
use crate::settings::OauthSettings;

/// How long a client waits after a refusal because the issuer cannot be reached, in seconds.
const ISSUER_PAUSE_S: u64 = 10;

/// Pause between two looks at the grants of a person who waits.
const GRANTS_PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Authorization {
    settings: OauthSettings,
    issuer: Issuer,
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
        token::install_verifier();
        let grants = GrantsFile::open(settings.grants_file.clone())?;
        Ok(Self { issuer: Issuer::new(&settings), grants, settings })
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

    fn address(&self) -> String {
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
