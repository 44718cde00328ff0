//! Persons who sign in: the check of their tokens, and the grants that say what they may use (`http.md` 1.4).
//!
//! - `resource` is the endpoint as clients sign in to it, with its metadata;
//! - `issuer` reads the keys of the issuer, `key_set` selects the ones that fit a token, `signature` verifies signatures;
//! - `token` checks the claims, `challenge` tells a client how to get another token.

mod challenge;
mod issuer;
mod key_set;
mod resource;
mod signature;
mod token;

use axum::{Json, body::Body, response::IntoResponse as _};
use http::{Response, StatusCode};

pub(super) use self::issuer::IssuerReport;
pub(super) use self::resource::{Resource, endpoint_of_metadata};
use self::{
    challenge::Challenge,
    issuer::Issuer,
    token::{Claims, TokenError},
};
use super::{
    grants::{GrantsFile, UnusableGrants},
    refusal::Refusal,
};
use crate::{call::grant::Grant, settings::OauthSettings};

/// How long a client waits after a refusal because the issuer cannot be reached, in seconds.
const ISSUER_PAUSE_S: u64 = 10;

/// Signs in persons.
#[derive(Debug)]
pub(super) struct Authorization {
    settings: OauthSettings,
    issuer: Issuer,
    grants: GrantsFile,
}

/// A person who is signed in.
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
    /// Reads the grants of the settings.
    ///
    /// # Errors
    /// Every problem with the file of the grants.
    pub(super) fn new(settings: OauthSettings) -> Result<Self, UnusableGrants> {
        signature::install_verifier();
        let grants = GrantsFile::open(settings.grants_file.clone())?;
        Ok(Self { issuer: Issuer::new(&settings), grants, settings })
    }

    /// Returns the person of a token.
    ///
    /// # Errors
    /// Status 401 for a token that is not accepted, 403 without a scope or a grant, 503 if the issuer cannot be reached.
    pub(super) async fn sign_in(&self, token: &str, resource: &Resource) -> Result<Person, Refusal> {
        let challenge = self.challenge(resource);
        let audiences = match &self.settings.audience {
            Some(audience) => vec![audience.clone()],
            None => resource.audiences(),
        };

        let claims = Claims::verify(token, &self.issuer, &audiences).await.map_err(|error| match error {
            TokenError::Invalid(problem) => challenge.invalid_token(&problem),
            // The log contains the reason, which is no concern of clients.
            TokenError::Issuer(_) => {
                let message = "the issuer of user tokens cannot be reached: try again later";
                Refusal::retry_after(StatusCode::SERVICE_UNAVAILABLE, message, ISSUER_PAUSE_S)
            }
        })?;
        let scopes = claims.scopes();
        if !self.settings.scopes.iter().all(|needed| scopes.contains(&needed.as_str())) {
            return Err(challenge.insufficient_scope());
        }

        let grants = self.grants.of_person(claims.fields());
        if grants.is_empty() {
            let message = "no grant of this server names the person: the operator must add one";
            return Err(Refusal::new(StatusCode::FORBIDDEN, message));
        }
        let subject = claims.subject().to_owned();
        Ok(Person { principal: format!("{} {subject}", self.settings.issuer), subject, grants })
    }

    /// Returns the refusal of a request without a credential.
    pub(super) fn require_sign_in(&self, resource: &Resource) -> Refusal {
        self.challenge(resource).sign_in()
    }

    /// Returns the metadata of an endpoint.
    pub(super) fn metadata_response(&self, resource: &Resource) -> Response<Body> {
        Json(resource.metadata(&self.settings)).into_response()
    }

    /// Reads the metadata and the keys of the issuer.
    ///
    /// # Errors
    /// Describes why they cannot be read.
    pub(super) async fn examine_issuer(&self) -> Result<IssuerReport, String> {
        self.issuer.examine().await
    }

    /// Returns the grants, each with the persons whom it names.
    pub(super) fn grants(&self) -> Vec<(String, Grant)> {
        self.grants.described()
    }

    fn challenge<'a>(&'a self, resource: &'a Resource) -> Challenge<'a> {
        Challenge { resource, scopes: &self.settings.scopes }
    }
}
