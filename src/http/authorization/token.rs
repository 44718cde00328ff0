//! The check of a user token (RFC 9068, RFC 7519).

use jsonwebtoken::{Algorithm, Validation, errors::ErrorKind};
use serde_json::Value;

use super::issuer::{Issuer, IssuerUnavailable};
use crate::fields::Fields;

/// How much the clocks of issuer and server may differ, in seconds.
const LEEWAY_S: u64 = 30;

/// Longest subject, in bytes.
const MAX_SUBJECT_BYTES: usize = 255;

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
    ///
    /// # Errors
    /// Describes what is wrong with the token, without showing it.
    pub(super) async fn verify(
        token: &str,
        issuer: &Issuer,
        audiences: &[String],
    ) -> Result<Self, TokenError> {
        let header = jsonwebtoken::decode_header(token).map_err(|error| describe(error.kind(), audiences))?;
        // A parameter that must be understood could change what the token means (RFC 7515, 4.1.11).
        if header.crit.is_some() {
            return Err(TokenError::Invalid("the token has critical parameters".to_owned()));
        }
        let keys = issuer.keys_for(header.kid.as_deref(), header.alg).await?;

        let validation = validation(header.alg, issuer, audiences);
        let mut problem = "no key of the issuer fits the token".to_owned();
        for candidate in keys.candidates(header.kid.as_deref(), header.alg) {
            match jsonwebtoken::decode::<Fields>(token, &candidate.key, &validation) {
                Ok(token) => return Self::check_subject(token.claims),
                Err(error) => problem = describe_text(error.kind(), audiences),
            }
        }

        Err(TokenError::Invalid(problem))
    }

    fn check_subject(claims: Fields) -> Result<Self, TokenError> {
        let claims = Self(claims);
        let subject = claims.subject();
        if subject.is_empty() || subject.len() > MAX_SUBJECT_BYTES {
            return Err(TokenError::Invalid("the token has no usable subject".to_owned()));
        }
        Ok(claims)
    }

    /// Returns the person whom the token identifies.
    pub(super) fn subject(&self) -> &str {
        self.0.get("sub").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the scopes of the token.
    pub(super) fn scopes(&self) -> Vec<&str> {
        // Issuers use either name, and either form.
        let claim = self.0.get("scope").or_else(|| self.0.get("scp"));
        match claim {
            Some(Value::String(scopes)) => scopes.split(' ').collect(),
            Some(Value::Array(scopes)) => scopes.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns all claims.
    pub(super) fn fields(&self) -> &Fields {
        &self.0
    }
}

fn validation(algorithm: Algorithm, issuer: &Issuer, audiences: &[String]) -> Validation {
    let mut validation = Validation::new(algorithm);
    // The library checks the audience and the issuer only if the token has them, unless they are required.
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    validation.set_audience(audiences);
    validation.set_issuer(&[issuer.name()]);
    validation.validate_nbf = true;
    validation.leeway = LEEWAY_S;
    validation
}

fn describe(problem: &ErrorKind, audiences: &[String]) -> TokenError {
    TokenError::Invalid(describe_text(problem, audiences))
}

fn describe_text(problem: &ErrorKind, audiences: &[String]) -> String {
    match problem {
        ErrorKind::InvalidSignature => "the signature is not of the issuer".to_owned(),
        ErrorKind::MissingRequiredClaim(claim) => format!("the token has no claim {claim}"),
        ErrorKind::ExpiredSignature => "the token has expired".to_owned(),
        ErrorKind::ImmatureSignature => "the token is not valid yet".to_owned(),
        ErrorKind::InvalidIssuer => "the token is of another issuer".to_owned(),
        ErrorKind::InvalidAudience => {
            let audience = audiences.first().map_or("", String::as_str);
            format!("the token is for another audience than {audience}")
        }
        _ => "the token is no usable JSON web token".to_owned(),
    }
}
