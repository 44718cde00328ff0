//! What a client reads before it signs in.

use serde_json::json;
use tas_mcp::sandbox::keys;

use super::TeamServer;
use crate::support::http_client::json_of;

#[tokio::test]
async fn a_request_without_a_credential_is_told_where_to_sign_in() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[("TAS_OAUTH_SCOPES", "tas:use")]).await;
    for method in ["tools/list", "server/discover"] {
        let response = team.server.modern("/mcp/demo/", &[], method, json!({})).await;
        assert_eq!(response.status().as_u16(), 401);
        assert_eq!(
            response.headers()["www-authenticate"],
            "Bearer resource_metadata=\"https://tas.example.com/.well-known/oauth-protected-resource/mcp/demo\", scope=\"tas:use\""
        );
        let body = json_of(response).await;
        assert_eq!(body["error"]["code"], -32600, "{body}");
    }
}

#[tokio::test]
async fn the_metadata_names_the_endpoint_and_the_issuer() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[("TAS_OAUTH_SCOPES", "tas:use")]).await;
    for path in ["/mcp", "/mcp/demo", "/mcp/demo/x/lean/readonly"] {
        let request = team.server.request("GET", &format!("/.well-known/oauth-protected-resource{path}"));
        let response = request.send().await.expect("a response");
        assert_eq!(response.status().as_u16(), 200);
        let metadata = json_of(response).await;

        assert_eq!(metadata["resource"], format!("https://tas.example.com{path}"));
        assert_eq!(metadata["authorization_servers"], json!([team.issuer.url]));
        assert_eq!(metadata["scopes_supported"], json!(["tas:use"]));
    }
    for path in ["", "/other"] {
        let request = team.server.request("GET", &format!("/.well-known/oauth-protected-resource{path}"));
        assert_eq!(request.send().await.expect("a response").status().as_u16(), 404, "{path}");
    }
}

#[tokio::test]
async fn an_api_key_serves_besides_user_tokens() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[]).await;
    let result = team.server.call("/mcp", &[("x-api-key", keys::ARENA)], "list_runs", json!({})).await;
    assert_eq!(result["isError"], false, "{result}");

    let both = [("x-api-key", keys::DEMO), ("authorization", "Bearer token")];
    let refused = team.server.modern("/mcp", &both, "tools/list", json!({})).await;
    assert_eq!(refused.status().as_u16(), 400);
}
