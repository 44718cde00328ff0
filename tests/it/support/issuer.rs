//! An issuer of user tokens.

use std::sync::{Arc, Mutex, MutexGuard};

use axum::{Json, Router, extract::Request, response::IntoResponse};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::StatusCode;
use jiff::Timestamp;
use ring::{
    hmac,
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

struct IssuerState {
    key: SigningKey,
    /// The issuer that the metadata names.
    named: String,
    is_down: bool,
    /// How often the keys were read.
    reads: usize,
}

/// A key with its id.
pub(crate) struct SigningKey {
    id: String,
    pair: EcdsaKeyPair,
}

impl SigningKey {
    pub(crate) fn new(id: &str) -> Self {
        let random = SystemRandom::new();
        let document =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random);
        Self { id: id.to_owned(), pair: pair.expect("a key") }
    }

    fn public(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let coordinate = |range| URL_SAFE_NO_PAD.encode(&point[range]);
        json!({
            "kty": "EC", "crv": "P-256", "kid": self.id, "use": "sig",
            "x": coordinate(1..33), "y": coordinate(33..65),
        })
    }

    /// Returns a token with these claims.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        self.sign_with_header(&json!({}), claims)
    }

    /// Returns a token with further parameters in its header.
    fn sign_with_header(&self, parameters: &Value, claims: &Value) -> String {
        let mut header = json!({"alg": "ES256", "typ": "at+jwt", "kid": self.id});
        let fields = header.as_object_mut().expect("an object");
        fields.extend(parameters.as_object().expect("an object").clone());
        let message = unsigned(&header, claims);
        let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).expect("a signature");
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// Returns a token that is signed with the public key as if that were a secret.
    pub(crate) fn sign_with_public_key(&self, claims: &Value) -> String {
        let message = unsigned(&json!({"alg": "HS256", "kid": self.id}), claims);
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.pair.public_key().as_ref());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&key, message.as_bytes())))
    }
}

/// Returns a token without a signature, up to the last dot.
pub(crate) fn unsigned(header: &Value, claims: &Value) -> String {
    [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".")
}

impl Issuer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state =
            IssuerState { key: SigningKey::new("first"), named: url.clone(), is_down: false, reads: 0 };
        let state = Arc::new(Mutex::new(state));

        let shared = Arc::clone(&state);
        let base = url.clone();
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

    fn lock(&self) -> MutexGuard<'_, IssuerState> {
        self.state.lock().expect("no test panics here")
    }

    /// Returns a token for a person of the group `qa`, with these claims in place of the usual ones. A claim that is null
    /// is left out.
    pub(crate) fn token(&self, audience: &str, claims: &Value) -> String {
        self.lock().key.sign(&self.claims(audience, claims))
    }

    /// Returns the claims of [`Self::token`].
    pub(crate) fn claims(&self, audience: &str, more: &Value) -> Value {
        let now = Timestamp::now().as_second();
        let mut claims = json!({
            "iss": self.url, "aud": audience, "sub": "alice", "groups": ["qa"],
            "iat": now, "exp": now + 3600,
        });
        let fields = claims.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        fields.retain(|_, value| !value.is_null());
        claims
    }

    /// Returns a token that is signed with the public key as if that were a secret.
    pub(crate) fn token_signed_with_public_key(&self, audience: &str) -> String {
        self.lock().key.sign_with_public_key(&self.claims(audience, &json!({})))
    }

    /// Returns a token with these parameters in its header.
    pub(crate) fn token_with_header(&self, audience: &str, parameters: &Value) -> String {
        self.lock().key.sign_with_header(parameters, &self.claims(audience, &json!({})))
    }

    /// Replaces the key.
    pub(crate) fn rotate_key(&self, id: &str) {
        self.lock().key = SigningKey::new(id);
    }

    /// Changes the issuer that the metadata names.
    pub(crate) fn set_name(&self, name: &str) {
        name.clone_into(&mut self.lock().named);
    }

    pub(crate) fn set_down(&self, is_down: bool) {
        self.lock().is_down = is_down;
    }

    /// Returns how often the keys were read.
    pub(crate) fn reads(&self) -> usize {
        self.lock().reads
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
