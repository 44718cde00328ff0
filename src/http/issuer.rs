//! The issuer of tokens: its metadata (RFC 8414, `OpenID` Connect Discovery), its public keys (RFC 7517), and the signatures that
//! they verify with the cryptographic library of TLS.

use std::{path::PathBuf, sync::Arc, time::Duration};

use jsonwebtoken::{
    Algorithm, DecodingKey, DecodingKeyKind,
    crypto::{CryptoProvider, JwtVerifier, KeyUtils},
    errors::ErrorKind,
    jwk::{Jwk, PublicKeyUse},
    signature::{Error, Verifier},
};
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::{sync::Mutex, time::Instant};

use crate::{
    client::{DocumentClient, HostUrl},
    text::shorten_line,
};

/// How long keys are used if the issuer states nothing.
const DEFAULT_MAX_AGE: Duration = Duration::from_secs(3600);

/// The longest time that keys are used, whatever the issuer states.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

/// Pause before the keys are read again because a token names an unknown key, or because reading has failed.
const REFRESH_PAUSE: Duration = Duration::from_secs(10);

/// Longest name of an issuer that a message repeats, in characters.
const MAX_NAME_CHARS: usize = 200;

#[derive(Debug)]
pub(super) struct Issuer {
    name: String,
    url: HostUrl,
    client: DocumentClient,
    /// Locked while keys are read, so that one reader serves all requests.
    known: Mutex<KnownKeys>,
}

#[derive(Debug, Default)]
struct KnownKeys {
    keys: Arc<KeySet>,
    /// `None` before keys were read.
    expire_at: Option<Instant>,
    /// When keys were read last, or could not be read.
    read_at: Option<Instant>,
    problem: String,
}

impl KnownKeys {
    fn usable(&self) -> Result<Arc<KeySet>, String> {
        let is_usable = self.expire_at.is_some_and(|end| Instant::now() < end);
        if is_usable { Ok(Arc::clone(&self.keys)) } else { Err(self.problem.clone()) }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    issuer: String,
    jwks_uri: String,
    registration_endpoint: Option<Value>,
    #[serde(default)]
    client_id_metadata_document_supported: bool,
}

impl Metadata {
    /// Says how a host can become a client of the issuer, on which most sign-ins fail that fail.
    pub(super) fn registration(&self) -> &'static str {
        match (self.client_id_metadata_document_supported, &self.registration_endpoint) {
            (true, _) => "accepts client metadata documents: hosts register themselves",
            (false, Some(_)) => "offers dynamic registration: hosts register themselves",
            (false, None) => "offers no registration: each host needs a client that is registered there",
        }
    }
}

impl Issuer {
    pub(super) fn new(name: String, url: HostUrl, ca_file: Option<PathBuf>) -> Self {
        Self { name, client: DocumentClient::new(&url, ca_file), url, known: Mutex::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the keys of the issuer. They are read again if they have expired, or if none of them fits a token.
    pub(super) async fn keys_for(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Arc<KeySet>, String> {
        let mut known = self.known.lock().await;
        let usable = known.usable();
        let fit = usable.as_ref().is_ok_and(|keys| keys.candidates(id, algorithm).next().is_some());
        if fit || known.read_at.is_some_and(|read_at| read_at.elapsed() < REFRESH_PAUSE) {
            return usable;
        }

        match self.read_keys().await {
            Ok((keys, max_age)) => {
                known.keys = Arc::new(keys);
                known.expire_at = Some(Instant::now() + max_age);
            }
            Err(reason) => {
                tracing::warn!("the keys of the issuer cannot be read: {reason}");
                known.problem = reason;
            }
        }
        known.read_at = Some(Instant::now());
        known.usable()
    }

    async fn read_keys(&self) -> Result<(KeySet, Duration), String> {
        let address = self.read_metadata().await?.jwks_uri;
        let document = self.client.read(&address).await;
        let document = document.and_then(|document| document.ok_or_else(|| "the status is 404".to_owned()));
        let document = document.map_err(|reason| format!("the keys at {address}: {reason}"))?;
        Ok((KeySet::parse(&document.body)?, document.max_age.unwrap_or(DEFAULT_MAX_AGE).min(MAX_AGE)))
    }

    /// Reads the metadata of the issuer. That of another issuer would let that one sign in users (RFC 8414, 3.3).
    pub(super) async fn read_metadata(&self) -> Result<Metadata, String> {
        for address in metadata_addresses(self.url.as_str()) {
            let read = self.client.read(&address).await;
            let Some(document) = read.map_err(|reason| format!("{address}: {reason}"))? else { continue };

            let metadata: Metadata = serde_json::from_slice(&document.body)
                .map_err(|error| format!("{address}: unusable metadata: {error}"))?;
            if metadata.issuer != self.name {
                let named = shorten_line(&metadata.issuer, MAX_NAME_CHARS);
                return Err(format!(
                    "TAS_OAUTH_ISSUER is `{}`, but the metadata of the issuer names `{named}`: they must be equal",
                    self.name
                ));
            }
            return Ok(metadata);
        }

        let reason = "the issuer has no metadata (RFC 8414, OpenID Connect Discovery)";
        Err(format!("{}: {reason}", self.url.as_str()))
    }
}

/// Returns the addresses at which an issuer may have its metadata, in the order of the protocol.
fn metadata_addresses(issuer: &str) -> [String; 3] {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";

    let issuer = issuer.trim_end_matches('/');
    let start = issuer.find("://").map_or(0, |scheme| scheme + 3);
    let slash = issuer.get(start..).and_then(|rest| rest.find('/'));
    let (origin, path) = issuer.split_at(slash.map_or(issuer.len(), |slash| start + slash));
    [format!("{origin}{OAUTH}{path}"), format!("{origin}{OPENID}{path}"), format!("{issuer}{OPENID}")]
}

/// Number of keys that are used, and with which a signature is compared, at most: each comparison takes time.
const MAX_KEYS: usize = 64;
const MAX_TRIED_KEYS: usize = 8;

/// The keys of an issuer that can sign tokens.
#[derive(Debug, Default)]
pub(super) struct KeySet(Vec<IssuerKey>);

#[derive(Debug)]
pub(super) struct IssuerKey {
    id: Option<String>,
    /// The only algorithm that it may be used with, if the issuer states one.
    algorithm: Option<Algorithm>,
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
        let keys = document.keys.into_iter().filter_map(IssuerKey::parse);
        Ok(Self(keys.take(MAX_KEYS).collect()))
    }

    /// Returns the first keys that may have signed a token with this key id and algorithm. A token without a key id may be
    /// signed with any key.
    pub(super) fn candidates(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &IssuerKey> {
        let fits = move |key: &&IssuerKey| {
            (id.is_none() || key.id.as_deref() == id)
                && key.algorithm.is_none_or(|stated| stated == algorithm)
        };
        self.0.iter().filter(fits).take(MAX_TRIED_KEYS)
    }
}

impl IssuerKey {
    /// Parses a key. Returns `None` for a key that signs no tokens.
    fn parse(value: Value) -> Option<Self> {
        let key: Jwk = serde_json::from_value(value).ok()?;
        if !matches!(key.common.public_key_use, None | Some(PublicKeyUse::Signature)) {
            return None;
        }

        let stated = key.common.key_algorithm.map(|name| name.to_string().parse());
        Some(Self {
            id: key.common.key_id.clone(),
            algorithm: stated.transpose().ok()?,
            key: DecodingKey::from_jwk(&key).ok()?,
        })
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

/// Verifies with the algorithms of public keys only: who can verify a token with a symmetric key can also make it.
struct SignatureVerifier(Algorithm, DecodingKey);

impl Verifier<Vec<u8>> for SignatureVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), Error> {
        let verified = match (scheme(self.0), self.1.kind()) {
            (Some(Scheme::Rsa(parameters)), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Some(Scheme::Curve(algorithm)), DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(algorithm, key).verify(message, signature)
            }
            _ => return Err(Error::new()),
        };
        verified.map_err(|_| Error::new())
    }
}

impl JwtVerifier for SignatureVerifier {
    fn algorithm(&self) -> Algorithm {
        self.0
    }
}

/// How the library of TLS verifies signatures of an algorithm.
enum Scheme {
    Rsa(&'static RsaParameters),
    Curve(&'static dyn VerificationAlgorithm),
}

fn scheme(algorithm: Algorithm) -> Option<Scheme> {
    Some(match algorithm {
        Algorithm::RS256 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
        Algorithm::ES256 => Scheme::Curve(&signature::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Scheme::Curve(&signature::ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDSA => Scheme::Curve(&signature::ED25519),
        _ => return None,
    })
}
