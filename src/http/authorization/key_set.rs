//! The public keys of an issuer (RFC 7517).

use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::Value;

/// Largest number of keys that are used.
const MAX_KEYS: usize = 64;

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
    ///
    /// # Errors
    /// Describes why the document is no set of keys.
    pub(super) fn parse(document: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct KeyDocument {
            keys: Vec<Value>,
        }

        let document: KeyDocument = serde_json::from_slice(document)
            .map_err(|error| format!("the document with the keys is unusable: {error}"))?;
        let keys = document.keys.into_iter().filter_map(|key| IssuerKey::parse(key).ok().flatten());
        Ok(Self(keys.take(MAX_KEYS).collect()))
    }

    /// Returns the number of keys that can sign tokens.
    pub(super) fn count(&self) -> usize {
        self.0.iter().filter(|key| !key.algorithms.is_empty()).count()
    }

    /// Returns the keys that may have signed a token with this key id and algorithm. A token without a key id may be signed
    /// with any key.
    pub(super) fn candidates(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &IssuerKey> {
        let has_id = move |key: &IssuerKey| id.is_none() || key.id.as_deref() == id;
        self.0.iter().filter(move |key| has_id(key) && key.algorithms.contains(&algorithm))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the algorithms of a key with these fields.
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
}
