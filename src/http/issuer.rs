//! The issuer of tokens: its metadata (RFC 8414, `OpenID` Connect Discovery), its public keys (RFC 7517), and the signatures that
//! they verify with the cryptographic library of TLS.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use jsonwebtoken::{
    Algorithm, DecodingKey, DecodingKeyKind,
    crypto::{CryptoProvider, JwtVerifier, KeyUtils},
    errors::ErrorKind,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse},
    signature::{Error, Verifier},
};
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use self::IssuerUnavailable::Unusable;
use super::long_work::aside;
use crate::{
    client::{Document, DocumentClient, HostUrl},
    settings::OauthSettings,
    text::shorten_line,
};

/// How long keys are used if the issuer states nothing.
const DEFAULT_MAX_AGE: Duration = Duration::from_secs(3600);

/// The shortest and the longest time that keys are used, whatever the issuer states.
const MAX_AGE_LIMITS: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(24 * 3600));

/// How long keys are used after their time if the issuer cannot be reached.
const GRACE: Duration = Duration::from_secs(3600);

/// Pause before the keys are read again because a token names an unknown key, or because reading has failed.
const REFRESH_PAUSE: Duration = Duration::from_secs(10);

/// Why the issuer cannot be asked, so that no token can be verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum IssuerUnavailable {
    /// A request has failed, or an answer cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// The metadata of another issuer would let that one sign in users (RFC 8414, 3.3).
    #[error("TAS_OAUTH_ISSUER is `{expected}`, but the metadata of the issuer names `{named}`: they must be equal{}", advice(.expected, .named))]
    OtherName { expected: String, named: String },
}

/// Returns which of the two names to correct, if they mean the same issuer.
fn advice(expected: &str, named: &str) -> String {
    if differs_in_slash(expected, named) {
        format!(", and the operator must set TAS_OAUTH_ISSUER to `{named}`")
    } else {
        String::new()
    }
}

/// Returns whether two different names of issuers are equal without the slash at their end.
pub(super) fn differs_in_slash(one: &str, other: &str) -> bool {
    one != other && one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Longest name of an issuer that a message repeats, in characters.
const MAX_NAME_CHARS: usize = 200;

/// What an examination of the issuer has found.
#[derive(Debug)]
pub(super) struct IssuerReport {
    pub(super) name: String,
    /// Number of keys that can sign tokens.
    pub(super) keys: usize,
    /// How much the clock of the issuer is ahead of the clock of this machine, in seconds.
    pub(super) clock_ahead_s: Option<i64>,
}

#[derive(Debug)]
pub(super) struct Issuer {
    name: String,
    url: HostUrl,
    client: DocumentClient,
    known: Mutex<KnownKeys>,
    /// Held while keys are read, so that one reader serves all requests.
    reading: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Debug, Default)]
struct KnownKeys {
    keys: Arc<KeySet>,
    /// When the keys have to be read again; `None` before they were read.
    expires_at: Option<Instant>,
    /// The last attempt to read keys, and why it failed.
    attempt: Option<(Instant, Result<(), IssuerUnavailable>)>,
}

impl Issuer {
    pub(super) fn new(settings: &OauthSettings) -> Self {
        Self {
            name: settings.issuer.clone(),
            url: settings.issuer_url.clone(),
            client: DocumentClient::new(&settings.issuer_url, settings.ca_file.clone()),
            known: Mutex::default(),
            reading: Arc::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the keys of the issuer. They are read again if they are old, or if none of them fits a token.
    pub(super) async fn keys_for(
        self: &Arc<Self>,
        key_id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Arc<KeySet>, IssuerUnavailable> {
        if let Some(keys) = self.usable_keys(key_id, algorithm)? {
            return Ok(keys);
        }

        let reading = Arc::clone(&self.reading).lock_owned().await;
        // Another request may have read the keys meanwhile.
        if let Some(keys) = self.usable_keys(key_id, algorithm)? {
            return Ok(keys);
        }

        // It goes on when the client is gone that has caused it: else every client that leaves would cause another reading.
        let issuer = Arc::clone(self);
        let read = tokio::spawn(async move {
            let outcome = issuer.read_keys().await;
            let keys = issuer.remember(outcome);
            drop(reading);
            keys
        });
        read.await.unwrap_or_else(|error| Err(Unusable(error.to_string())))
    }

    /// Returns the known keys; `None` if they have to be read.
    fn usable_keys(
        &self,
        key_id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Option<Arc<KeySet>>, IssuerUnavailable> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let now = Instant::now();
        let is_fresh = known.expires_at.is_some_and(|end| now < end);
        if is_fresh && known.keys.candidates(key_id, algorithm).next().is_some() {
            return Ok(Some(known.keys));
        }

        let recent = known.attempt.filter(|(at, _)| now.saturating_duration_since(*at) < REFRESH_PAUSE);
        match (recent, known.expires_at) {
            (Some(_), Some(end)) if now < end + GRACE => Ok(Some(known.keys)),
            (Some((_, Err(reason))), _) => Err(reason),
            _ => Ok(None),
        }
    }

    /// Remembers what an attempt to read keys has led to.
    fn remember(
        &self,
        outcome: Result<(KeySet, Duration), IssuerUnavailable>,
    ) -> Result<Arc<KeySet>, IssuerUnavailable> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();

        match outcome {
            Ok((keys, max_age)) => {
                let keys = Arc::new(keys);
                *known = KnownKeys {
                    keys: Arc::clone(&keys),
                    expires_at: Some(now + max_age),
                    attempt: Some((now, Ok(()))),
                };
                Ok(keys)
            }
            Err(reason) => {
                tracing::warn!("the keys of the issuer cannot be read: {reason}");
                known.attempt = Some((now, Err(reason.clone())));
                let is_usable = known.expires_at.is_some_and(|end| now < end + GRACE);
                if is_usable { Ok(Arc::clone(&known.keys)) } else { Err(reason) }
            }
        }
    }

    async fn read_keys(&self) -> Result<(KeySet, Duration), IssuerUnavailable> {
        let Document { body, max_age, .. } = self.read_key_document().await?;
        let (least, most) = MAX_AGE_LIMITS;
        Ok((parse_keys(&body)?, max_age.unwrap_or(DEFAULT_MAX_AGE).clamp(least, most)))
    }

    async fn read_key_document(&self) -> Result<Document, IssuerUnavailable> {
        let address = self.key_address().await?;
        let document = self.client.read(&address).await;
        let document = document.and_then(|document| document.ok_or_else(|| "the status is 404".to_owned()));
        document.map_err(|reason| Unusable(format!("the keys at {address}: {reason}")))
    }

    pub(super) async fn examine(&self) -> Result<IssuerReport, IssuerUnavailable> {
        let document = self.read_key_document().await?;
        let keys = parse_keys(&document.body)?.count();
        let ahead = document.date.map(|date| date.duration_since(Timestamp::now()).as_secs());
        Ok(IssuerReport { name: self.name.clone(), keys, clock_ahead_s: ahead })
    }

    /// Returns the address of the keys, from the metadata of the issuer.
    async fn key_address(&self) -> Result<String, IssuerUnavailable> {
        #[derive(Deserialize)]
        struct Metadata {
            issuer: String,
            jwks_uri: String,
        }

        for address in metadata_addresses(self.url.as_str()) {
            let read = self.client.read(&address).await;
            let read = read.map_err(|reason| Unusable(format!("{address}: {reason}")))?;
            let Some(document) = read else { continue };

            let metadata: Metadata = aside(|| serde_json::from_slice(&document.body))
                .map_err(|error| Unusable(format!("{address}: unusable metadata: {error}")))?;
            if metadata.issuer != self.name {
                let named = shorten_line(&metadata.issuer, MAX_NAME_CHARS);
                return Err(IssuerUnavailable::OtherName { expected: self.name.clone(), named });
            }
            return Ok(metadata.jwks_uri);
        }

        let reason = "the issuer has no metadata (RFC 8414, OpenID Connect Discovery)";
        Err(Unusable(format!("{}: {reason}", self.url.as_str())))
    }
}

fn parse_keys(body: &[u8]) -> Result<KeySet, IssuerUnavailable> {
    aside(|| KeySet::parse(body)).map_err(Unusable)
}

/// Returns the addresses at which an issuer may have its metadata, in the order of the protocol.
fn metadata_addresses(issuer: &str) -> Vec<String> {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";

    let path_start = issuer.find("://").map_or(0, |scheme| scheme + 3);
    let rest = issuer.get(path_start..).unwrap_or_default();
    let Some(slash) = rest.find('/') else {
        return vec![format!("{issuer}{OAUTH}"), format!("{issuer}{OPENID}")];
    };

    let (origin, path) = issuer.split_at(path_start + slash);
    vec![format!("{origin}{OAUTH}{path}"), format!("{origin}{OPENID}{path}"), format!("{issuer}{OPENID}")]
}

const MAX_KEYS: usize = 64;

/// Number of keys that a signature is compared with, at most: an issuer that states no ids has few keys, and each costs time.
const MAX_TRIED_KEYS: usize = 8;

/// The keys of an issuer that can sign tokens.
#[derive(Debug, Default)]
pub(super) struct KeySet(Vec<IssuerKey>);

/// A public key with the algorithms that it may be used with.
#[derive(Debug)]
pub(super) struct IssuerKey {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    pub(super) key: DecodingKey,
}

impl KeySet {
    /// Parses a document with keys. Keys of unknown kinds are left out.
    fn parse(document: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct KeyDocument {
            keys: Vec<Value>,
        }

        let document: KeyDocument = serde_json::from_slice(document)
            .map_err(|error| format!("the document with the keys is unusable: {error}"))?;
        let keys = document.keys.into_iter().filter_map(|key| IssuerKey::parse(key).ok().flatten());
        Ok(Self(keys.take(MAX_KEYS).collect()))
    }

    fn count(&self) -> usize {
        self.0.iter().filter(|key| !key.algorithms.is_empty()).count()
    }

    /// Returns the first keys that may have signed a token with this key id and algorithm. A token without a key id may be
    /// signed with any key.
    pub(super) fn candidates(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &IssuerKey> {
        let has_id = move |key: &IssuerKey| id.is_none() || key.id.as_deref() == id;
        let fitting = self.0.iter().filter(move |key| has_id(key) && key.algorithms.contains(&algorithm));
        fitting.take(MAX_TRIED_KEYS)
    }
}

impl IssuerKey {
    /// Parses a key. Returns `None` for a key that signs no tokens.
    fn parse(value: Value) -> Result<Option<Self>, Box<dyn std::error::Error>> {
        let key: Jwk = serde_json::from_value(value)?;
        if !matches!(key.common.public_key_use, None | Some(PublicKeyUse::Signature)) {
            return Ok(None);
        }

        let stated: Option<Algorithm> =
            key.common.key_algorithm.map(|name| name.to_string().parse()).transpose()?;
        let algorithms: Vec<_> = possible_algorithms(&key)
            .iter()
            .copied()
            .filter(|possible| stated.is_none_or(|stated| stated == *possible))
            .collect();

        Ok(Some(Self { id: key.common.key_id.clone(), algorithms, key: DecodingKey::from_jwk(&key)? }))
    }
}

/// Returns the algorithms of this kind of key. A symmetric key has none: who can verify such a token can also make it.
fn possible_algorithms(key: &Jwk) -> &'static [Algorithm] {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};

    match &key.algorithm {
        AlgorithmParameters::RSA(_) => &[RS256, RS384, RS512, PS256, PS384, PS512],
        AlgorithmParameters::EllipticCurve(curve) => match curve.curve {
            EllipticCurve::P256 => &[ES256],
            EllipticCurve::P384 => &[ES384],
            _ => &[],
        },
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => &[EdDSA],
        _ => &[],
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
        Algorithm::RS256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &signature::RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &signature::RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

fn curve_algorithm(algorithm: Algorithm) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match algorithm {
        Algorithm::ES256 => &signature::ECDSA_P256_SHA256_FIXED,
        Algorithm::ES384 => &signature::ECDSA_P384_SHA384_FIXED,
        Algorithm::EdDSA => &signature::ED25519,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use axum::{Json, Router};
    use http::Uri;
    use serde_json::json;
    use tokio::{net::TcpListener, sync::Semaphore};

    use super::*;

    #[tokio::test]
    async fn a_reading_of_keys_goes_on_without_the_client_that_has_caused_it() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a listener");
        let name = format!("http://{}", listener.local_addr().expect("an address"));
        let [requests, answers] = [(); 2].map(|()| Arc::new(Semaphore::new(0)));
        let state = (name.clone(), Arc::clone(&requests), Arc::clone(&answers));
        let document = async move |uri: Uri| {
            let (name, requests, answers) = state.clone();
            requests.add_permits(1);
            answers.acquire().await.expect("a test").forget();
            let is_metadata = uri.path() != "/keys";
            Json(if is_metadata {
                json!({"issuer": name, "jwks_uri": format!("{name}/keys")})
            } else {
                json!({"keys": []})
            })
        };
        tokio::spawn(axum::serve(listener, Router::new().fallback(document)).into_future());
        let url = HostUrl::parse(&name).expect("an address");
        let client = DocumentClient::new(&url, None);
        let issuer = Arc::new(Issuer { name, url, client, known: Mutex::default(), reading: Arc::default() });

        tokio::select! {
            keys = issuer.keys_for(None, Algorithm::RS256) => panic!("no answer was sent: {keys:?}"),
            request = requests.acquire() => request.expect("a test").forget(),
        }
        answers.add_permits(10);
        issuer.keys_for(None, Algorithm::RS256).await.expect("keys");
        assert_eq!(requests.available_permits(), 1, "the metadata were read once");
    }

    #[test]
    fn the_metadata_of_an_issuer_with_a_path_has_three_addresses() {
        assert_eq!(
            metadata_addresses("https://id.example/realms/qa"),
            [
                "https://id.example/.well-known/oauth-authorization-server/realms/qa",
                "https://id.example/.well-known/openid-configuration/realms/qa",
                "https://id.example/realms/qa/.well-known/openid-configuration",
            ]
        );
        assert_eq!(metadata_addresses("https://id.example").len(), 2);
    }

    fn algorithms(fields: &Value) -> Option<Vec<Algorithm>> {
        IssuerKey::parse(fields.clone()).ok().flatten().map(|key| key.algorithms)
    }

    #[test]
    fn a_key_is_used_with_the_algorithms_of_its_kind_only() {
        let point = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
        let cases = [
            (json!({"kty": "EC", "crv": "P-256", "x": point, "y": point}), Some(vec![Algorithm::ES256])),
            (json!({"kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": "PS256"}), Some(vec![Algorithm::PS256])),
            (json!({"kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": "HS256"}), Some(vec![])),
            (json!({"kty": "RSA", "n": "AQAB", "e": "AQAB", "use": "enc"}), None),
            (json!({"kty": "OKP", "crv": "Ed25519", "x": point}), Some(vec![Algorithm::EdDSA])),
            (json!({"kty": "oct", "k": "c2VjcmV0"}), Some(vec![])),
            (json!({"kty": "new"}), None),
        ];

        for (fields, expected) in cases {
            assert_eq!(algorithms(&fields), expected, "{fields}");
        }
    }

    #[test]
    fn one_unusable_key_does_not_hide_the_others() {
        let document =
            json!({"keys": [{"kty": "new"}, {"kty": "RSA", "kid": "a", "n": "AQAB", "e": "AQAB"}]});
        let keys = KeySet::parse(document.to_string().as_bytes()).expect("a set of keys");

        assert_eq!(keys.candidates(Some("a"), Algorithm::RS256).count(), 1);
        assert_eq!(keys.candidates(None, Algorithm::RS256).count(), 1);
        assert_eq!(keys.candidates(Some("b"), Algorithm::RS256).count(), 0);
        assert_eq!(keys.candidates(Some("a"), Algorithm::HS256).count(), 0);
    }

    #[test]
    fn few_of_many_keys_without_an_id_are_tried() {
        let key = json!({"kty": "RSA", "n": "AQAB", "e": "AQAB"});
        let document = json!({"keys": vec![key; MAX_KEYS]});
        let keys = KeySet::parse(document.to_string().as_bytes()).expect("a set of keys");

        assert_eq!(keys.candidates(None, Algorithm::RS256).count(), MAX_TRIED_KEYS);
    }
}
