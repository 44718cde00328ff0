//! An issuer of user tokens.

use std::sync::{Arc, Mutex, MutexGuard};

use axum::{Json, Router, extract::Request, http::StatusCode, response::IntoResponse};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::AbortHandle};

/// An issuer on the loopback. It ends when this value is dropped.
pub(crate) struct Issuer {
    pub(crate) url: String,
    state: Arc<Mutex<IssuerState>>,
    serving: AbortHandle,
}

pub(super) struct IssuerState {
    pub(super) key: SigningKey,
    /// The issuer that the metadata names.
    pub(super) named: String,
    pub(super) is_down: bool,
    /// How often the keys were read.
    pub(super) reads: usize,
}

/// A key with its id.
pub(super) struct SigningKey {
    id: String,
    pair: EcdsaKeyPair,
}

impl SigningKey {
    pub(super) fn new(id: &str) -> Self {
        let random = SystemRandom::new();
        let document =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random);
        Self { id: id.to_owned(), pair: pair.expect("a key") }
    }

    /// The public key, as a point of the curve.
    pub(super) fn point(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    fn public(&self) -> Value {
        let coordinate = |range| URL_SAFE_NO_PAD.encode(&self.point()[range]);
        json!({
            "kty": "EC", "crv": "P-256", "kid": self.id, "use": "sig",
            "x": coordinate(1..33), "y": coordinate(33..65),
        })
    }

    /// Returns a token with these claims, and with these parameters in its header beside the usual ones.
    pub(super) fn sign(&self, parameters: &Value, claims: &Value) -> String {
        let header = with_fields(json!({"alg": "ES256", "typ": "at+jwt", "kid": self.id}), parameters);
        let message = unsigned(&header, claims);
        let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).expect("a signature");
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// Returns a token without a signature, up to the last dot.
pub(super) fn unsigned(header: &Value, claims: &Value) -> String {
    [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".")
}

/// Returns an object with further fields, which replace those of the same name.
fn with_fields(mut object: Value, more: &Value) -> Value {
    let fields = object.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    object
}

impl Issuer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state =
            IssuerState { key: SigningKey::new("first"), named: url.clone(), is_down: false, reads: 0 };
        let state = Arc::new(Mutex::new(state));

        let (shared, base) = (Arc::clone(&state), url.clone());
        let router = Router::new().fallback(move |request: Request| {
            let mut state = shared.lock().expect("no test panics here");
            let response = match request.uri().path() {
                _ if state.is_down => StatusCode::BAD_GATEWAY.into_response(),
                "/.well-known/openid-configuration" => {
                    Json(json!({"issuer": state.named, "jwks_uri": format!("{base}/keys")})).into_response()
                }
                "/keys" => {
                    state.reads += 1;
                    Json(json!({"keys": [state.key.public()]})).into_response()
                }
                _ => StatusCode::NOT_FOUND.into_response(),
            };
            async move { response }
        });
        let serving = tokio::spawn(async move { axum::serve(listener, router).await }).abort_handle();

        Self { url, state, serving }
    }

    /// What a test reads and changes. No request is answered while this value is held.
    pub(super) fn state(&self) -> MutexGuard<'_, IssuerState> {
        self.state.lock().expect("no test panics here")
    }

    /// Returns a token for a person of the group `qa`, with these claims in place of the usual ones. A claim that is null
    /// is left out.
    pub(crate) fn token(&self, audience: &str, claims: &Value) -> String {
        self.state().key.sign(&json!({}), &self.claims(audience, claims))
    }

    /// Returns the claims of [`Self::token`].
    pub(super) fn claims(&self, audience: &str, more: &Value) -> Value {
        let now = Timestamp::now().as_second();
        let usual = json!({
            "iss": self.url, "aud": audience, "sub": "alice", "groups": ["qa"],
            "iat": now, "exp": now + 3600,
        });
        let mut claims = with_fields(usual, more);
        claims.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
        claims
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
