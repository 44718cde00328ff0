//! Which tokens are accepted.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use ring::hmac;
use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{
    AUDIENCE, TeamServer,
    issuer::{SigningKey, unsigned},
};
use crate::support::http_client::json_of;

/// Returns the status of a request with a token, its challenge, and the message of the refusal.
async fn answer(team: &TeamServer, token: &str) -> (u16, String, String) {
    let response = team.request(token, "tools/list", json!({})).await;
    let status = response.status().as_u16();
    let challenge = response.headers().get("www-authenticate");
    let challenge = challenge.map(|value| value.to_str().expect("text").to_owned()).unwrap_or_default();
    let message = json_of(response).await["error"]["message"].as_str().unwrap_or_default().to_owned();
    (status, challenge, message)
}

#[tokio::test]
async fn a_token_needs_the_issuer_the_audience_and_a_valid_time() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[]).await;
    let now = Timestamp::now().as_second();
    let cases: [(&str, Value, &str); 15] = [
        (AUDIENCE, json!({}), ""),
        ("https://tas.example.com", json!({}), ""),
        ("https://tas.example.com/", json!({}), ""),
        ("other", json!({"aud": ["other", AUDIENCE]}), ""),
        (AUDIENCE, json!({"nbf": now + 5}), ""),
        (AUDIENCE, json!({"aud": null}), "no claim aud"),
        ("https://tas.example.com/mcp/demo", json!({}), "another audience"),
        ("https://tas.example.com/m", json!({}), "another audience"),
        ("https://tas.example.com.attacker.example", json!({}), "another audience"),
        (AUDIENCE, json!({"exp": null}), "no claim exp"),
        (AUDIENCE, json!({"exp": now - 60}), "expired"),
        (AUDIENCE, json!({"nbf": now + 60}), "not valid yet"),
        (AUDIENCE, json!({"iss": "https://attacker.example"}), "another issuer"),
        (AUDIENCE, json!({"iss": null}), "no claim iss"),
        (AUDIENCE, json!({"sub": null}), "no claim sub"),
    ];

    for (audience, claims, problem) in cases {
        let (status, challenge, message) = answer(&team, &team.issuer.token(audience, &claims)).await;
        if problem.is_empty() {
            assert_eq!(status, 200, "{audience} {claims}: {message}");
        } else {
            assert_eq!(status, 401, "{audience} {claims}");
            assert!(message.contains(problem), "{problem} is not in {message}");
            assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
        }
    }
}

#[tokio::test]
async fn a_token_needs_a_signature_of_the_issuer() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[]).await;
    let claims = team.issuer.claims(AUDIENCE, &json!({}));
    let valid = team.issuer.token(AUDIENCE, &json!({}));
    let (message, signature) = valid.rsplit_once('.').expect("a token");
    let other_subject = unsigned(&json!({"alg": "ES256", "kid": "first"}), &json!({"sub": "bob"}));
    // The public key in place of a secret.
    let public = unsigned(&json!({"alg": "HS256", "kid": "first"}), &claims);
    let secret = hmac::Key::new(hmac::HMAC_SHA256, team.issuer.state().key.point());
    let signed = URL_SAFE_NO_PAD.encode(hmac::sign(&secret, public.as_bytes()));
    let forged = [
        SigningKey::new("first").sign(&json!({}), &claims),
        format!("{public}.{signed}"),
        team.issuer.state().key.sign(&json!({"crit": ["tenant"], "tenant": "a"}), &claims),
        format!("{}.", unsigned(&json!({"alg": "none"}), &claims)),
        format!("{message}."),
        format!("{other_subject}.{signature}"),
        valid[..valid.len() / 2].to_owned(),
        "opaque-token".to_owned(),
        keys::DEMO.to_owned(),
    ];

    assert_eq!(answer(&team, &valid).await.0, 200);
    for token in forged {
        let (status, challenge, message) = answer(&team, &token).await;
        assert_eq!(status, 401, "{token}: {message}");
        assert!(!challenge.contains(&token) && !message.contains(&token), "{message}");
    }
    assert!(team.service.requests().await.is_empty(), "no token is tried as a key");
}

#[tokio::test]
async fn a_token_of_another_kind_than_an_access_token_is_refused() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[]).await;
    let claims = team.issuer.claims(AUDIENCE, &json!({}));
    for (kind, expected) in [
        (json!("at+jwt"), 200),
        (json!("application/AT+JWT"), 200),
        (json!("JWT"), 200),
        (json!(null), 200),
        (json!("logout+jwt"), 401),
        (json!("dpop+jwt"), 401),
        (json!(""), 401),
    ] {
        let token = team.issuer.state().key.sign(&json!({"typ": kind}), &claims);
        assert_eq!(answer(&team, &token).await.0, expected, "{kind}");
    }

    for claim in ["nonce", "at_hash", "c_hash"] {
        let (status, _, message) = answer(&team, &team.issuer.token(AUDIENCE, &json!({claim: "x"}))).await;
        assert_eq!(status, 401);
        assert!(message.contains(claim), "{message}");
    }
}

#[tokio::test]
async fn every_token_needs_the_scopes_of_the_operator() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[("TAS_OAUTH_SCOPES", "tas:use tas:read")]).await;
    let cases = [
        (json!({"scope": "openid tas:read tas:use"}), 200),
        (json!({"scp": ["tas:read", "tas:use"]}), 200),
        (json!({"scope": "tas:read"}), 403),
        (json!({}), 403),
    ];

    for (claims, expected) in cases {
        let (status, challenge, _) = answer(&team, &team.issuer.token(AUDIENCE, &claims)).await;
        assert_eq!(status, expected, "{claims}");
        if expected == 403 {
            assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
            assert!(challenge.contains("scope=\"tas:use tas:read\""), "{challenge}");
        }
    }
}

#[tokio::test]
async fn the_audience_of_the_settings_takes_the_place_of_the_address() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[("TAS_OAUTH_AUDIENCE", "tas")]).await;

    assert_eq!(answer(&team, &team.issuer.token("tas", &json!({}))).await.0, 200);
    assert_eq!(answer(&team, &team.issuer.token(AUDIENCE, &json!({}))).await.0, 401);
}

#[tokio::test]
async fn no_request_chooses_the_audience() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[("TAS_HTTP_PUBLIC_URL", "")]).await;
    let host = ("host", "localhost:1");
    for (audience, expected) in
        [("http://localhost:1".to_owned(), 401), (format!("http://{}", team.server.address), 200)]
    {
        let bearer = format!("Bearer {}", team.issuer.token(&audience, &json!({})));
        let headers = [host, ("authorization", bearer.as_str())];
        let response = team.server.modern("/mcp", &headers, "tools/list", json!({})).await;
        assert_eq!(response.status().as_u16(), expected, "{audience}");
    }
}

#[tokio::test]
async fn a_person_without_a_grant_is_refused() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[]).await;
    let overage = json!({"groups": null, "_claim_names": {"groups": "src1"}});
    for (claims, expected) in [(json!({"groups": ["dev"]}), "no grant"), (overage, "leaves groups out")] {
        let (status, _, message) = answer(&team, &team.issuer.token(AUDIENCE, &claims)).await;
        assert_eq!(status, 403);
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn guesses_of_tokens_count_towards_the_limits_of_the_address() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[("TAS_HTTP_RATE", "1")]).await;
    assert_eq!(answer(&team, "guess").await.0, 401);

    // A slow machine gains one request per second.
    for _ in 0..100 {
        if answer(&team, "guess").await.0 == 429 {
            return;
        }
    }
    panic!("the guesses have no limit");
}
