//! How the keys of the issuer are read.

use serde_json::json;
use tas_mcp::sandbox::keys;

use super::{AUDIENCE, TeamServer, issuer::SigningKey};

async fn status(team: &TeamServer) -> u16 {
    let token = team.issuer.token(AUDIENCE, &json!({}));
    team.request(&token, "tools/list", json!({})).await.status().as_u16()
}

#[tokio::test]
async fn many_requests_read_the_keys_once() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[]).await;
    let answers = futures_util::future::join_all((0..20).map(|_| status(&team))).await;

    assert!(answers.iter().all(|status| *status == 200), "{answers:?}");
    assert_eq!(team.issuer.state().reads, 1);
}

#[tokio::test]
async fn a_new_key_is_read_after_a_pause() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[]).await;
    assert_eq!(status(&team).await, 200);

    team.issuer.state().key = SigningKey::new("second");
    assert_eq!(status(&team).await, 401, "the keys were read a moment ago");
    assert_eq!(team.issuer.state().reads, 1);

    wait_for_pause().await;
    assert_eq!(status(&team).await, 200);
    assert_eq!(team.issuer.state().reads, 2);
}

#[tokio::test]
async fn an_issuer_that_cannot_be_reached_is_no_fault_of_the_token() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[]).await;
    team.issuer.state().is_down = true;
    let token = team.issuer.token(AUDIENCE, &json!({}));
    let response = team.request(&token, "tools/list", json!({})).await;
    assert_eq!(response.status().as_u16(), 503);
    assert_eq!(response.headers()["retry-after"], "10");

    team.issuer.state().is_down = false;
    wait_for_pause().await;
    assert_eq!(status(&team).await, 200);

    // Keys that were read stay valid.
    team.issuer.state().is_down = true;
    assert_eq!(status(&team).await, 200);
}

#[tokio::test]
async fn metadata_of_another_issuer_is_refused() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[]).await;
    team.issuer.state().named = "https://attacker.example".to_owned();

    assert_eq!(status(&team).await, 503);
    assert_eq!(team.issuer.state().reads, 0);
}

/// Lets the pause pass after which the keys are read again.
async fn wait_for_pause() {
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(10)).await;
    tokio::time::resume();
}
