//! `tas-mcp sandbox` and `--sandbox`.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::Child,
};

use crate::support::{
    binary::{INITIALIZE, binary, program, run_binary},
    plain_client,
    service::Service,
    stub::Stub,
};

#[tokio::test]
async fn an_address_that_other_machines_reach_needs_the_flag_expose() {
    let output = run_binary(&["sandbox", "--listen", "0.0.0.0:0"], &[], &[]).await;

    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!output.status.success() && error.contains("--expose"), "{error}");
    assert!(output.stdout.is_empty());
}

#[tokio::test]
async fn a_speed_that_is_no_finite_number_from_0_is_a_usage_error() {
    for speed in ["nan", "inf", "-1", "-inf", "fast", ""] {
        let output = run_binary(&["sandbox", "--speed", speed], &[], &[]).await;
        assert_eq!(output.status.code(), Some(2), "{speed}");
    }
}

#[tokio::test]
async fn the_embedded_sandbox_uses_nothing_of_the_configured_service() {
    let stub = Stub::start(|_| async { (200, json!({})) }).await;
    let configured = [
        ("TAS_BASE_URL", stub.base_url()),
        ("TAS_API_KEY", "svc_of_the_service"),
        ("TAS_API_KEY_FILE", "/nowhere/key"),
        ("TAS_CA_FILE", "/nowhere/ca.pem"),
    ];

    let output = run_binary(&["--sandbox", "call", "list_tests", "--json"], &configured, &[]).await;

    let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(page["data"].as_array().is_some_and(|tests| !tests.is_empty()), "{page}");
    assert_eq!(stub.requests(), [""; 0]);
}

/// Other users of the machine find its port and know the public keys; a web page sends requests under a name of its own.
#[tokio::test]
async fn the_embedded_sandbox_serves_its_process_alone() {
    let mut server = binary(&["--sandbox", "--toolsets", "all"], &[]).spawn().expect("the binary starts");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "get_minion_download", "arguments": {"platform": "linux-x86_64"}}});
    let mut input = server.stdin.take().expect("an input");
    input.write_all(format!("{INITIALIZE}\n{call}\n").as_bytes()).await.expect("it reads");
    let mut output = BufReader::new(server.stdout.take().expect("an output")).lines();
    output.next_line().await.expect("a line");
    let reply: Value =
        serde_json::from_str(&output.next_line().await.expect("a line").expect("a reply")).expect("JSON");

    let url = reply["result"]["structuredContent"]["download_url"].as_str().expect("an address");
    let origin = url.split("/storage").next().expect("an origin");
    let get = async |path: &str, host: &str| {
        let request = plain_client().build().expect("a client").get(format!("{origin}{path}"));
        request
            .header("x-api-key", keys::DEMO)
            .header("host", host)
            .send()
            .await
            .expect("an answer")
            .status()
            .as_u16()
    };
    assert_eq!(get("/api/v1/runs", "localhost").await, 401);
    assert_eq!(get("/_sandbox/requests", "[::1]:80").await, 404);
    assert_eq!(get("/api/v1/runs", "evil.example").await, 403);
}

#[tokio::test]
async fn advice_after_an_interrupted_wait_is_a_command_that_works() {
    let service = Service::start().await;
    let base_url = service.base_url();
    service.fault(json!({"operation": "get_job", "status": 401, "times": 100})).await;
    service.fault(json!({"operation": "list_jobs", "status": 401, "times": 100})).await;
    let run = ["--base-url", &base_url, "run", seed::TEST_PASSES, "--device", seed::CONFIG_PHONES, "--wait"];

    let output = run_binary(&run, &[("TAS_API_KEY", keys::DEMO)], &[]).await;
    let errors = String::from_utf8(output.stderr).expect("UTF-8");

    let advice = format!("continue with: tas-mcp --base-url {base_url} wait ");
    assert!(errors.contains(&advice) && !errors.contains(keys::DEMO), "{errors}");
}

/// Starts `tas-mcp sandbox`. Returns the process and the lines of its guide, up to the last one.
async fn start_sandbox(variables: &[(&str, &str)]) -> (Child, Vec<String>) {
    let mut sandbox =
        binary(&["sandbox", "--listen", "127.0.0.1:0"], variables).spawn().expect("the binary starts");
    let mut output = BufReader::new(sandbox.stdout.take().expect("an output")).lines();
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line: &String| !line.ends_with("stops the sandbox.")) {
        lines.push(output.next_line().await.expect("a line").expect("the guide has more lines"));
    }

    (sandbox, lines)
}

#[cfg(unix)]
#[tokio::test]
async fn the_lines_of_a_sandbox_configure_another_terminal() {
    let secret = [("TAS_API_KEY", "svc_of_the_service")];
    let (_sandbox, guide) = start_sandbox(&secret).await;
    let exports: Vec<_> =
        guide.iter().filter(|line| line.trim_start().starts_with("export ")).map(String::as_str).collect();
    let assignments = guide.iter().filter(|line| line.trim_start().starts_with("$env:")).count();

    let shell = format!("{}\n'{}' call list_tests --json", exports.join("\n"), env!("CARGO_BIN_EXE_tas-mcp"));
    let output = program("sh", &["-c", &shell], &[]).output().await.expect("a shell");

    let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(page["data"].as_array().is_some_and(|tests| !tests.is_empty()), "{page}");
    assert_eq!((exports.len(), assignments), (3, 3), "{guide:#?}");
    assert!(!guide.concat().contains("svc_of_the_service"));
}

#[tokio::test]
async fn a_terminal_of_24_lines_shows_all_that_a_new_sandbox_prints() {
    let (_sandbox, lines) = start_sandbox(&[]).await;
    let longest = lines.iter().map(String::len).max();
    assert!(lines.len() < 24 && longest <= Some(80), "{lines:#?}");
}

/// A terminal that is closed sends SIGHUP.
#[cfg(unix)]
#[tokio::test]
async fn a_signal_ends_the_sandbox_and_removes_the_uploaded_bytes() {
    let directory = tempfile::tempdir().expect("a directory");
    let build = directory.path().join("game.apk");
    std::fs::write(&build, b"abc").expect("a file");
    let temporary = directory.path().join("temporary");
    std::fs::create_dir(&temporary).expect("a directory");
    let mut sandbox = binary(&["sandbox", "--listen", "127.0.0.1:0"], &[])
        .env("TMPDIR", &temporary)
        .spawn()
        .expect("the binary starts");

    let mut output = BufReader::new(sandbox.stdout.take().expect("an output")).lines();
    let base_url = loop {
        let line = output.next_line().await.expect("a line").expect("the guide names the address");
        if let Some(base_url) = line.trim_start().strip_prefix("export TAS_BASE_URL=") {
            break base_url.to_owned();
        }
    };
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let upload = run_binary(&["upload", build.to_str().expect("UTF-8")], &variables, &[]).await;
    assert!(upload.status.success(), "{}", String::from_utf8_lossy(&upload.stderr));
    assert_eq!(std::fs::read_dir(&temporary).expect("a directory").count(), 1);

    let id = sandbox.id().expect("it runs").to_string();
    let sent = tokio::process::Command::new("kill").args(["-TERM", &id]).status().await.expect("kill runs");
    assert!(sent.success());

    assert!(sandbox.wait().await.expect("a status").success());
    assert_eq!(std::fs::read_dir(&temporary).expect("a directory").count(), 0);
}
