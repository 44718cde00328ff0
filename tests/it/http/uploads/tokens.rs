//! Tokens of uploads: any server with the same key opens them, and nobody else.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{DEMO, begin, failure, failure_of, file, send_parts, service, start, step, uploads};
use crate::support::http_client::{HttpUnderTest, json_of, modern_metadata};

#[tokio::test]
async fn any_server_makes_any_step() {
    let (service, settings) = service(&[]).await;
    let [one, two, three] = [(); 3].map(|()| HttpUnderTest::start(&settings));
    let (bytes, mut parts) = (file(11_500), Vec::new());

    let first = begin(&one, bytes.len()).await;
    let token = &first["upload_token"];
    send_parts(&first, &bytes, &mut parts).await;
    let more = step(&two, json!({"upload_token": token, "from_part": 9})).await;
    send_parts(&more, &bytes, &mut parts).await;
    step(&three, json!({"upload_token": more["upload_token"], "parts": parts})).await;
    assert_eq!(service.content(first["build_id"].as_str().expect("an id")).await, Some(bytes));

    let other = begin(&one, 10).await;
    step(&two, json!({"upload_token": other["upload_token"], "cancel": true})).await;
    assert_eq!(uploads(&service).await, 0);
}

/// The steps that a token allows.
fn steps(token: &Value) -> [Value; 3] {
    [
        json!({"upload_token": token, "from_part": 1}),
        json!({"upload_token": token, "parts": [{"part_number": 1, "etag": "a"}]}),
        json!({"upload_token": token, "cancel": true}),
    ]
}

#[tokio::test]
async fn a_token_of_another_key_is_refused() {
    let (service, server) = start().await;
    let first = begin(&server, 10).await;
    let before = service.requests().await.len();

    for key in [keys::ARENA, keys::ORGANIZATION, keys::READ_ONLY] {
        for arguments in steps(&first["upload_token"]) {
            let error = failure_of(&server, "/mcp", &[("x-api-key", key)], arguments).await;
            assert_eq!(error["code"], "invalid_arguments", "{error}");
            assert_eq!(error["details"]["violations"][0]["path"], "upload_token", "{error}");
        }
    }
    assert_eq!(service.requests().await.len(), before);
    assert_eq!(uploads(&service).await, 1);
}

#[tokio::test]
async fn a_changed_token_is_refused() {
    let (service, server) = start().await;
    let first = begin(&server, 10).await;
    let token = first["upload_token"].as_str().expect("a token");
    let before = service.requests().await.len();
    let changed = |position: usize| {
        let mut bytes = token.as_bytes().to_vec();
        bytes[position] = if bytes[position] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).expect("ASCII")
    };
    let mut tokens: Vec<_> = (0..token.len()).step_by(37).map(changed).collect();
    tokens.extend([String::new(), "upload_0".to_owned(), format!("{token}A"), token[1..].to_owned()]);

    for token in tokens {
        for arguments in steps(&json!(token)) {
            assert_eq!(failure(&server, arguments).await["code"], "invalid_arguments", "{token}");
        }
    }
    assert_eq!(service.requests().await.len(), before);
}

#[tokio::test]
async fn a_sealed_text_of_another_purpose_is_refused() {
    let (_service, server) = start().await;
    let costly = json!({
        "multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_PHONES,
        "run_on_all_configured_devices": true,
    });
    let params = json!({"name": "start_run", "arguments": costly});
    let question = json_of(server.modern("/mcp", &DEMO, "tools/call", params).await).await;
    let mut metadata = modern_metadata();
    metadata["io.modelcontextprotocol/clientCapabilities"] =
        json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let wait = json!({"job_ids": [seed::JOB_RUNNING], "timeout_seconds": 3_000});
    let params = json!({"name": "wait_for_completion", "arguments": wait, "_meta": metadata});
    let task = json_of(server.modern("/mcp", &DEMO, "tools/call", params).await).await;

    for sealed in [&question["result"]["requestState"], &task["result"]["taskId"]] {
        assert!(sealed.is_string(), "{question} {task}");
        let error = failure(&server, json!({"upload_token": sealed, "from_part": 1})).await;
        assert_eq!(error["details"]["violations"][0]["path"], "upload_token", "{error}");
    }
}

#[tokio::test]
async fn a_token_counts_in_its_project_only() {
    let (service, server) = start().await;
    let headers = [("x-api-key", keys::ORGANIZATION)];
    let start = json!({"file_name": "game.apk", "file_size": 10});
    let first = server.call("/mcp/demo", &headers, "upload_build", start).await["structuredContent"].clone();
    let before = service.requests().await.len();

    for arguments in steps(&first["upload_token"]) {
        let mut named = arguments.clone();
        named["project_id"] = json!("arena");
        for (path, arguments) in [("/mcp/arena", arguments), ("/mcp", named)] {
            let error = failure_of(&server, path, &headers, arguments).await;
            assert_eq!(error["code"], "project_scope_mismatch", "{error}");
            assert_eq!(error["details"]["owning_project"], "demo", "{error}");
            assert_eq!(error["details"]["requested_project"], "arena", "{error}");
        }
    }
    assert_eq!(service.requests().await.len(), before);

    for path in ["/mcp", "/mcp/demo"] {
        let more = json!({"upload_token": first["upload_token"], "from_part": 1});
        let result = server.call(path, &headers, "upload_build", more).await;
        assert_eq!(result["isError"], false, "{path}: {result}");
    }
}
