//! `tas-mcp http` as a process.

#[cfg(unix)]
use serde_json::Value;
use serde_json::json;
use tas_mcp::sandbox::keys;
#[cfg(unix)]
use tas_mcp::sandbox::seed;
use tokio::net::TcpListener;

use crate::support::binary::run_binary;
#[cfg(unix)]
use crate::support::{http_client::json_of, http_process::HttpProcess, issuer::Issuer, service::Service};

#[cfg(unix)]
#[tokio::test]
async fn each_request_is_one_line_of_the_log_without_secrets() {
    let service = Service::start().await;
    let server = HttpProcess::start(&[("TAS_BASE_URL", &service.base_url())]).await;
    let params =
        json!({"name": "get_run", "arguments": {"run_id": "planted-argument", "filename": "planted"}});
    server.call("/demo", ("x-api-key", keys::DEMO), &params).await;
    server.client.get(format!("{}?token=planted", server.url)).send().await.expect("a response");

    let (log, access) = server.stop().await;
    let [call, refused] = &access[..] else { panic!("{log}") };
    for (field, expected) in [
        ("method", "tools/call"),
        ("tool", "get_run"),
        ("project", "demo"),
        ("client", "127.0.0.1"),
        ("subject", ""),
        ("error", "tool_error"),
    ] {
        assert_eq!(call[field], expected, "{call}");
    }
    assert_eq!(call["credential"].as_str().map(str::len), Some(8), "{call}");
    assert_eq!(refused["status"], 405, "{refused}");
    assert!(!log.contains("planted") && !log.contains(keys::DEMO), "{log}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_log_names_the_person_and_not_the_token() {
    let (service, issuer) = (Service::start().await, Issuer::start().await);
    let directory = tempfile::tempdir().expect("a directory");
    let grants = directory.path().join("grants.toml");
    let grant = "[[grant]]\nclaim = \"sub\"\nvalue = \"alice\"\nkey_file = \"key\"\n";
    std::fs::write(&grants, grant).expect("a file");
    std::fs::write(directory.path().join("key"), keys::DEMO).expect("a file");
    let base_url = service.base_url();
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_OAUTH_ISSUER", &issuer.url),
        ("TAS_OAUTH_AUDIENCE", "tas"),
        ("TAS_GRANTS_FILE", grants.to_str().expect("a path")),
    ];
    let server = HttpProcess::start(&variables).await;

    let call = json!({"name": "list_runs", "arguments": {}});
    let tokens = ["alice", "bob"].map(|subject| issuer.token("tas", &json!({"sub": subject})));
    let mut statuses = Vec::new();
    for token in tokens.iter().map(String::as_str).chain(["planted"]) {
        let bearer = format!("Bearer {token}");
        statuses.push(server.call("", ("authorization", &bearer), &call).await);
    }

    let (log, access) = server.stop().await;
    assert_eq!(statuses, [200, 403, 401]);
    let subjects: Vec<_> = access.iter().map(|line| line["subject"].clone()).collect();
    assert_eq!(subjects, ["alice", "", ""], "{log}");
    let parts = tokens.iter().flat_map(|token| token.split('.')).chain(["planted", keys::DEMO]);
    assert!(parts.clone().count() > 6);
    for secret in parts {
        assert!(!log.contains(secret), "{secret} is in {log}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why_in_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let taken = taken.local_addr().expect("an address").to_string();
    let url = ("TAS_BASE_URL", "http://127.0.0.1:9/api/v1");
    let cases: [(&[_], &[_], _); 9] = [
        (&["--listen", "0.0.0.0:0"], &[url, ("TAS_API_KEY", keys::DEMO)], "would serve everybody"),
        (&["--listen", "0.0.0.0:0", "--sandbox"], &[], "would serve everybody"),
        (&["--listen", &taken], &[url], "cannot listen on"),
        (&["--admin", "nowhere"], &[url], "TAS_HTTP_ADMIN"),
        (&["--toolsets", "leen"], &[url], "nearest: `lean`"),
        (&["--oauth-issuer", "https://id.example"], &[url], "`TAS_GRANTS_FILE` is not set"),
        (&["--grants-file", "grants.toml"], &[url], "`TAS_OAUTH_ISSUER` is not set"),
        (
            &["--oauth-issuer", "https://id.example", "--grants-file", "/none/grants.toml"],
            &[url],
            "the grants file `/none/grants.toml` cannot be used: No such file",
        ),
        (&[], &[], "TAS_BASE_URL"),
    ];

    for (flags, variables, expected) in cases {
        let output = run_binary(&[&["http"], flags].concat(), variables, &[]).await;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {errors}");
        assert!(errors.contains(expected) && errors.lines().count() == 1, "{flags:?}: {errors}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn no_log_has_a_presigned_address_or_a_token() {
    let service = Service::start().await;
    let (base_url, knowledge_url) = (service.base_url(), service.knowledge_url());
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_KNOWLEDGE_URL", knowledge_url.as_str()),
        ("TAS_TOOLSETS", "all"),
        ("TAS_LOG", "trace"),
    ];
    let server = HttpProcess::start(&variables).await;
    let call = async |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = json_of(server.send("", ("x-api-key", keys::DEMO), &params).await).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"].clone()
    };
    let player = format!("{}-1", seed::RUN_FAILED);

    let file = json!({"file_name": "game.apk", "file_size": 3});
    let started = call("upload_build", file).await["structuredContent"].clone();
    let token = started["upload_token"].as_str().expect("a token").to_owned();
    call("upload_build", json!({"upload_token": token, "from_part": 1})).await;
    call("upload_build", json!({"upload_token": token, "cancel": true})).await;
    call("get_minion_download", json!({"platform": "linux-x86_64"})).await;
    call("get_run_artifact", json!({"run_id": player, "filename": "recording.mp4"})).await;
    let listed = call("list_run_artifacts", json!({"run_id": player})).await;
    assert!(listed.to_string().contains("X-Amz-Signature"), "{listed}");

    let (log, _) = server.stop().await;
    assert!(log.lines().any(|line| line.contains("upload_build")), "{log}");
    for secret in ["X-Amz-Signature", token.as_str(), keys::DEMO] {
        let line = log.lines().find(|line| line.contains(secret));
        assert!(line.is_none(), "{secret}: {line:?}");
    }
}

#[cfg(not(feature = "otlp"))]
#[tokio::test]
async fn a_collector_is_reported_as_unused_without_the_feature_for_traces() {
    let collector = ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317");
    for (variables, expected) in [
        (&[collector][..], true),
        (&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:4318/v1/traces")], true),
        (&[collector, ("OTEL_SDK_DISABLED", "True")], false),
        (&[collector, ("OTEL_TRACES_EXPORTER", "none")], false),
        (&[], false),
    ] {
        // The server does not start, because the service has no address.
        let output = run_binary(&["http"], variables, &[]).await;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let warnings = errors.matches("was built without the feature `otlp`").count();

        assert_eq!(warnings, usize::from(expected), "{variables:?}: {errors}");
        assert!(errors.contains("TAS_BASE_URL"), "{variables:?}: {errors}");
        let shows_address = [":4317", ":4318"].iter().any(|port| errors.contains(port));
        assert!(!shows_address, "{variables:?}: {errors}");
    }
}
