//! The check of a user token (RFC 9068, RFC 7519).

use jsonwebtoken::{Algorithm, Header, Validation, errors::ErrorKind};
use serde_json::Value;

use super::issuer::Issuer;
use crate::fields::Fields;

/// How much the clocks of issuer and server may differ, in seconds.
const LEEWAY_S: u64 = 30;

/// Longest subject, in bytes.
const MAX_SUBJECT_BYTES: usize = 255;

/// Media types of access tokens (RFC 9068, 2.1), and that of tokens of any kind, which many issuers use.
const ACCESS_TOKEN_TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "JWT"];

/// Claims that only ID tokens have (`OpenID` Connect Core 1.0, 2 and 3.3.2.11). A client gets one to know its user, not to call a
/// server.
const ID_TOKEN_CLAIMS: [&str; 3] = ["nonce", "at_hash", "c_hash"];

/// Why a token is not accepted.
#[derive(Debug)]
pub(super) enum TokenError {
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
pub(super) async fn verify(token: &str, issuer: &Issuer, audiences: &[String]) -> Result<Fields, TokenError> {
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
pub(super) fn scopes(claims: &Fields) -> Vec<&str> {
    match claims.get("scope").or_else(|| claims.get("scp")) {
        Some(Value::String(scopes)) => scopes.split(' ').collect(),
        Some(Value::Array(scopes)) => scopes.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
