//! `tas-mcp http` as a process.

#[cfg(unix)]
use serde_json::Value;
use serde_json::json;
use tas_mcp::sandbox::keys;
#[cfg(unix)]
use tas_mcp::sandbox::seed;
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::TcpStream;

use crate::support::binary::run_binary;
#[cfg(unix)]
use crate::{
    http::users::issuer::Issuer,
    support::{
        http_client::{json_of, modern_metadata, with_headers},
        service::Service,
        stub::Stub,
    },
};

#[cfg(unix)]
mod process;
#[cfg(all(unix, feature = "otlp"))]
mod traces;

#[cfg(unix)]
use self::process::HttpProcess;

#[cfg(unix)]
#[tokio::test]
async fn each_request_is_one_line_of_the_log_without_secrets() {
    let service = Service::start().await;
    let server = HttpProcess::start(&[("TAS_BASE_URL", &service.base_url())]).await;
    let params =
        json!({"name": "get_run", "arguments": {"run_id": "planted-argument", "filename": "planted"}});
    server.call("/demo", ("x-api-key", keys::DEMO), &params).await;
    server.client.get(format!("{}?token=planted", server.url)).send().await.expect("a response");

    let (log, access) = server.end("TERM").await;
    let [call, refused] = &access[..] else { panic!("{log}") };
    for (field, expected) in [
        ("method", "tools/call"),
        ("tool", "get_run"),
        ("project", "demo"),
        ("client", "127.0.0.1"),
        ("subject", ""),
        ("error", "invalid_arguments"),
        ("path", "/mcp/demo"),
        ("level", "INFO"),
    ] {
        assert_eq!(call[field], expected, "{call}");
    }
    assert_eq!(call["credential"].as_str().map(str::len), Some(8), "{call}");
    assert_eq!(refused["status"], 405, "{refused}");
    assert!(!log.contains("planted") && !log.contains(keys::DEMO), "{log}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_refused_request_is_logged_with_its_path_its_reason_and_the_id_of_its_response() {
    let service = Service::start().await;
    let variables = [("TAS_BASE_URL", service.base_url()), ("TAS_HTTP_RATE", "1".to_owned())];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let server = HttpProcess::start(&variables).await;
    let call = json!({"name": "list_runs", "arguments": {}});
    let key = ("x-api-key", "svc_planted_1");

    let mut ids = Vec::new();
    for path in ["/x/leen", "/svc_planted_2/none/x", "", ""] {
        let response = server.send(path, key, &call).await;
        ids.push(response.headers()["x-request-id"].to_str().expect("text").to_owned());
    }
    let (log, access) = server.end("TERM").await;

    let fields = |line: &Value| {
        ["id", "path", "status", "error", "level"].map(|name| line[name].to_string().replace('"', ""))
    };
    let logged: Vec<_> = access.iter().map(fields).collect();
    let expected = [
        [&ids[0], "/mcp/x/leen", "400", "", "INFO"],
        [&ids[1], "/mcp/[key]/none/x", "404", "", "INFO"],
        [&ids[2], "/mcp", "200", "unauthenticated", "INFO"],
        [&ids[3], "/mcp", "429", "", "WARN"],
    ];
    assert_eq!(logged, expected, "{log}");
    assert!(access[0]["reason"].to_string().contains("unknown word `leen`"), "{log}");
    assert!(access[3]["reason"].to_string().contains("too many requests per second"), "{log}");
    assert!(!log.contains("planted"), "{log}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_call_that_writes_has_a_line_with_caller_records_and_outcome() {
    let service = Service::start().await;
    let server = HttpProcess::start(&[("TAS_BASE_URL", &service.base_url())]).await;
    let key = ("x-api-key", keys::DEMO);
    let stop =
        |id: &str| json!({"name": "stop_runs", "arguments": {"job_ids": [id, "svc_planted_1", "a text"]}});
    server.call("/demo", key, &stop(seed::JOB_RUNNING)).await;
    let created = json!({"name": "create_test_folder", "arguments": {"name": "planted-name"}});
    let answer = json_of(server.send("/demo", key, &created).await).await;
    server.call("/demo", key, &json!({"name": "list_runs", "arguments": {}})).await;
    let shown = json!({"name": "create_test_folder", "arguments": {"name": "a", "dry_run": "true"}});
    server.call("/demo", key, &shown).await;

    let (log, access) = server.end("TERM").await;
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let audit: Vec<_> = lines.filter(|line| line["target"] == "audit").collect();
    let [stopped, folder, shown] = &audit[..] else { panic!("three lines: {log}") };
    // The request and the call are the spans of the line.
    let of = |line: &Value, span: usize, field: &str| line["spans"][span][field].clone();
    for (line, request, tool) in
        [(stopped, &access[0], "stop_runs"), (folder, &access[1], "create_test_folder")]
    {
        assert_eq!((of(line, 1, "tool"), &of(line, 0, "id")), (json!(tool), &request["id"]), "{log}");
        assert_eq!(of(line, 0, "credential"), request["credential"], "{log}");
    }
    assert_eq!(of(stopped, 1, "ids"), format!("job_ids={}", seed::JOB_RUNNING), "{log}");
    assert_ne!(stopped["outcome"], "done", "the other ids are none");
    assert_eq!(shown["outcome"], "not_sent", "{log}");
    assert_eq!(of(folder, 1, "project"), "demo", "{log}");
    let id = answer["result"]["structuredContent"]["id"].as_str().expect("an id");
    assert_eq!(
        (of(folder, 1, "ids"), &folder["outcome"]),
        (json!(format!("id={id}")), &json!("done")),
        "{log}"
    );
    assert!(!log.contains("planted"), "{log}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_page_names_the_address_and_the_credential() {
    let server = HttpProcess::start_with(&["--sandbox"], &[]).await;
    let page = server.client.get(server.url.trim_end_matches("mcp")).send().await.expect("a response");
    assert_eq!(page.status().as_u16(), 200);
    let policy = page.headers()["content-security-policy"].to_str().expect("text").to_owned();
    assert!(policy.starts_with("default-src 'none';"), "{policy}");

    let text = page.text().await.expect("text");
    let address = "the address of this page, followed by <code>mcp</code>";
    for expected in ["This MCP server works", address, "Calls go to a sandbox with example data"] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(!text.contains("<script"), "{text}");
    server.end("TERM").await;
}

#[cfg(unix)]
#[tokio::test]
async fn ctrl_c_ends_an_idle_server_at_once() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_HTTP_DRAIN_S", "25")];
    let server = HttpProcess::start_with(&["--drain-s", "25"], &variables).await;
    // The connection stays open.
    server.call("", ("x-api-key", keys::DEMO), &json!({"name": "list_runs", "arguments": {}})).await;

    let start = std::time::Instant::now();
    server.end("INT").await;
    // An end with an announcement takes at least five seconds.
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
}

#[cfg(unix)]
#[tokio::test]
async fn a_call_under_way_is_answered_after_ctrl_c() {
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    let permits = std::sync::Arc::clone(&gate);
    let service = Stub::start(move |_| {
        let permits = std::sync::Arc::clone(&permits);
        async move {
            permits.acquire().await.expect("an open gate").forget();
            let pagination = json!({"page": 0, "page_size": 1, "total_count": 0, "total_pages": 0});
            (200, json!({"data": [], "pagination": pagination}))
        }
    });
    let service = service.await;
    let base_url = service.base_url();
    let server = HttpProcess::start_with(&["--drain-s", "25"], &[("TAS_BASE_URL", base_url)]).await;

    let params = json!({"name": "list_runs", "arguments": {}});
    let call = server.send("", ("x-api-key", keys::DEMO), &params);
    let interrupt = async {
        while service.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        server.signal("INT");
        // The call is under way while no further connection is accepted.
        while TcpStream::connect(server.address()).await.is_ok() {
            tokio::task::yield_now().await;
        }
        gate.add_permits(1);
    };
    let (answer, ()) = tokio::join!(call, interrupt);

    let answer = json_of(answer).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    server.end("INT").await;
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

    let (log, access) = server.end("TERM").await;
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
    let directory = tempfile::tempdir().expect("a directory");
    let grants = directory.path().join("grants.toml");
    let text = "[[grant]]\nclaim = \"groups\"\nvalue = \"\"\nkey_file = \"missing\"\npermissions = [\"project:read-run\"]\n";
    std::fs::write(&grants, text).expect("a file");
    let grants = ["--oauth-issuer", "https://id.example", "--grants-file", grants.to_str().expect("a path")];
    let cases: [(&[_], &[_], _); 13] = [
        (&grants, &[url], "grant 1: unknown permission `project:read-run` (nearest: `project:read-runs`)"),
        (&grants, &[url], "`value` is empty"),
        (&grants, &[url], "a file that cannot be read"),
        (&["--listen", "0.0.0.0:0"], &[url, ("TAS_API_KEY", keys::DEMO)], "would serve everybody"),
        (&["--listen", "0.0.0.0:0", "--sandbox"], &[], "would serve everybody"),
        (&["--listen", &taken], &[url], "cannot listen on"),
        (&["--admin", "nowhere"], &[url], "TAS_HTTP_ADMIN"),
        (&["--toolsets", "leen"], &[url], "nearest: `lean`"),
        (&["--oauth-issuer", "https://id.example"], &[url], "`TAS_GRANTS_FILE` is not set"),
        (&["--grants-file", "grants.toml"], &[url], "`TAS_OAUTH_ISSUER` is not set"),
        (&grants, &[url, ("TAS_HTTP_TRUSTED_PROXIES", "127.0.0.1")], "`TAS_HTTP_PUBLIC_URL` must be set"),
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
async fn no_log_has_a_presigned_address_or_the_key() {
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

    let file = json!({"name": "game", "file_name": "game.apk", "file_size": 3, "platform": "android", "multipart": true});
    let upload = call("initiate_build_upload", file).await["structuredContent"].clone();
    let part =
        json!({"upload_id": upload["upload_id"], "object_key": upload["object_key"], "part_numbers": [1]});
    let addresses = call("get_build_upload_parts", part).await;
    assert!(addresses.to_string().contains("X-Amz-Signature"), "{addresses}");
    call("get_minion_download", json!({"platform": "linux-x86_64"})).await;
    call("get_run_artifact", json!({"run_id": player, "filename": "recording.mp4"})).await;
    let listed = call("list_run_artifacts", json!({"run_id": player})).await;
    assert!(listed.to_string().contains("X-Amz-Signature"), "{listed}");

    let (log, _) = server.end("TERM").await;
    assert!(log.lines().any(|line| line.contains("initiate_build_upload")), "{log}");
    for secret in ["X-Amz-Signature", keys::DEMO] {
        let line = log.lines().find(|line| line.contains(secret));
        assert!(line.is_none(), "{secret}: {line:?}");
    }
}

/// Sends a request of the newest revision, of a host that supports tasks.
#[cfg(unix)]
async fn request_with_tasks(server: &HttpProcess, key: &str, method: &str, mut params: Value) -> Value {
    params["_meta"] = modern_metadata();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let subject = params["name"].as_str().or(params["taskId"].as_str()).expect("a subject").to_owned();
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("x-api-key", key),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
        ("mcp-name", &subject),
    ];
    let request = server.client.post(&server.url).body(message.to_string());
    json_of(with_headers(request, &headers).send().await.expect("a response")).await
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_process_continues_the_task_of_a_killed_one() {
    let service = Service::start().await;
    let variables = [("TAS_BASE_URL", &*service.base_url())];
    let first = HttpProcess::start(&variables).await;
    let wait = json!({"job_ids": [seed::JOB_RUNNING], "timeout_seconds": 7_200});
    let call = json!({"name": "wait_for_completion", "arguments": wait});
    let created = request_with_tasks(&first, keys::DEMO, "tools/call", call).await["result"].take();
    assert_eq!(created["resultType"], "task", "{created}");

    first.signal("KILL");
    service.advance(100_000.0);
    let second = HttpProcess::start(&variables).await;
    let task = json!({"taskId": created["taskId"]});
    let ended = request_with_tasks(&second, keys::DEMO, "tasks/get", task.clone()).await["result"].take();
    assert_eq!(
        (&ended["status"], &ended["createdAt"]),
        (&json!("completed"), &created["createdAt"]),
        "{ended}"
    );
    assert_eq!(ended["result"]["structuredContent"]["status"], "completed", "{ended}");

    let refused = request_with_tasks(&second, keys::ARENA, "tasks/get", task).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}
