//! The check of a user token (RFC 9068, RFC 7519). The cryptographic library that TLS uses verifies its signature.

use jiff::Timestamp;
use jsonwebtoken::{
    Algorithm, DecodingKey, DecodingKeyKind, Validation,
    crypto::{CryptoProvider, JwtVerifier, KeyUtils},
    errors::ErrorKind,
    signature::{Error, Verifier},
};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::Value;

use super::issuer::{Issuer, IssuerUnavailable, differs_in_slash};
use crate::fields::Fields;

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
        issuer: &Issuer,
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

static PROVIDER: CryptoProvider = CryptoProvider {
    // This program signs no tokens.
    signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    verifier_factory: |algorithm, key| Ok(Box::new(SignatureVerifier(*algorithm, key.clone()))),
    key_utils: KeyUtils::new_unimplemented(),
};

/// Lets the token library verify signatures. Repeated calls have no effect.
pub(super) fn install_verifier() {
    let _: Result<(), &CryptoProvider> = PROVIDER.install_default();
}

struct SignatureVerifier(Algorithm, DecodingKey);

impl Verifier<Vec<u8>> for SignatureVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), Error> {
        let verified = match self.1.kind() {
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                let parameters = rsa_parameters(self.0).ok_or_else(Error::new)?;
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            DecodingKeyKind::SecretOrDer(key) => {
                let algorithm = curve_algorithm(self.0).ok_or_else(Error::new)?;
                UnparsedPublicKey::new(algorithm, key).verify(message, signature)
            }
        };
        verified.map_err(|_| Error::new())
    }
}

impl JwtVerifier for SignatureVerifier {
    fn algorithm(&self) -> Algorithm {
        self.0
    }
}

fn rsa_parameters(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::RS256 => &RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

fn curve_algorithm(algorithm: Algorithm) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match algorithm {
        Algorithm::ES256 => &ECDSA_P256_SHA256_FIXED,
        Algorithm::ES384 => &ECDSA_P384_SHA384_FIXED,
        Algorithm::EdDSA => &ED25519,
        _ => return None,
    })
}
