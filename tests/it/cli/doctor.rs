//! The output of `tas-mcp doctor`, which contains no secret.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use crate::support::{binary::run_binary, issuer::Issuer, service::Service};

#[tokio::test]
async fn the_report_shows_settings_and_permissions() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let cases = [
        (keys::DEMO, "demo", 0, Value::Null),
        (keys::POWERLESS, "demo", 1, json!("permission_denied")),
        (keys::EXPIRED, "demo", 1, json!("unauthenticated")),
        // An organization key cannot read the address of a Minion.
        (keys::ORGANIZATION, "demo,arena", 1, Value::Null),
    ];

    for (key, projects, code, second) in cases {
        let variables =
            [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", key), ("TAS_PROJECTS", projects)];
        let output = run_binary(&["doctor", "--json"], &variables, &[]).await;
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");

        assert_eq!(output.status.code(), Some(code), "{report}");
        assert_eq!(report["probes"][1]["failure"]["code"], second, "{report}");
        assert!(!report.to_string().contains(&format!("\"{key}\"")), "{report}");

        let set = json!({"setting": "TAS_BASE_URL", "value": base_url, "origin": "variable TAS_BASE_URL"});

        assert!(report["settings"].as_array().expect("settings").contains(&set), "{report}");
    }
}

#[tokio::test]
async fn a_key_given_as_another_setting_is_not_shown() {
    let variables =
        [("TAS_API_KEY_FILE", "svc_misplaced"), ("TAS_BASE_URL", "https://u:svc_misplaced@h/api/v1")];
    for format in [&["doctor"][..], &["doctor", "--json"]] {
        let output = run_binary(format, &variables, &[]).await;
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("[unusable]") && !text.contains("svc_misplaced"), "{text}");
    }
}

#[tokio::test]
async fn a_key_is_not_shown_whatever_setting_it_was_pasted_into() {
    let key = "svc_live_4f9c2a71";
    for setting in [
        "TAS_BASE_URL",
        "TAS_KNOWLEDGE_URL",
        "TAS_PROJECT_ID",
        "TAS_PROJECTS",
        "TAS_TOOLSETS",
        "TAS_CONFIRM",
        "TAS_TIMEOUT",
        "TAS_CA_FILE",
        "TAS_PROFILE",
        "TAS_FILES_ROOT",
        "TAS_HTTP_LISTEN",
        "TAS_OAUTH_ISSUER",
    ] {
        let variables =
            [("TAS_BASE_URL", "https://h.example/api/v1"), ("TAS_API_KEY", "svc_other_key"), (setting, key)];
        for command in [&["doctor"][..], &["doctor", "--json"], &["status"], &["call", "list_bugs"]] {
            let output = run_binary(command, &variables, &[]).await;
            let printed = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&printed);
            assert!(!text.contains(key), "{setting} {command:?}: {text}");
        }
    }
}

#[tokio::test]
async fn no_value_begins_a_line_of_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().join("a\nkey:   forged");
    std::fs::create_dir(&root).expect("a directory");
    let root = root.to_str().expect("Unicode");
    let variables =
        [("TAS_API_KEY", "svc_some_key"), ("TAS_FILES_ROOT", root), ("TAS_PROJECT_ID", "p\nkey:   forged")];

    for command in ["doctor", "status"] {
        let output = run_binary(&[command], &variables, &[]).await;
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(
            text.contains("forged") && text.lines().all(|line| !line.starts_with("key:   forged")),
            "{text}"
        );
    }
}

#[tokio::test]
async fn the_report_names_the_unusable_settings() {
    let output = run_binary(&["doctor"], &[("TAS_BASE_URL", "http://service.example/api/v1")], &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("must use https") && text.contains("TAS_BASE_URL"), "{text}");
}

#[tokio::test]
async fn an_unreachable_host_is_not_probed_and_the_proxy_password_is_not_shown() {
    // No process listens on port 1, so that the proxy refuses every connection.
    let variables = [
        ("TAS_BASE_URL", "https://service.example/api/v1"),
        ("TAS_KNOWLEDGE_URL", "https://knowledge.example"),
        ("TAS_API_KEY", "svc_proxied"),
        ("HTTPS_PROXY", "http://person:hunter2@127.0.0.1:1"),
        ("NO_PROXY", "knowledge.example"),
    ];

    let output = run_binary(&["doctor", "--json"], &variables, &[]).await;
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");

    assert_eq!(output.status.code(), Some(3), "{report}");
    assert_eq!(report["hosts"][0]["failure"]["code"], "service_unavailable");
    assert_eq!(report["hosts"][0]["proxy"], "http://127.0.0.1:1");
    assert_eq!(report["hosts"][1]["proxy"], Value::Null);
    assert_eq!(report["probes"], json!([]), "an unreachable host is not probed");
    assert!(!report.to_string().contains("hunter2"), "{report}");
}

#[tokio::test]
async fn the_report_marks_what_works_what_fails_and_what_was_not_checked() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::READ_ONLY)];
    let output = run_binary(&["doctor"], &variables, &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let row = |text: &str, name: &str| text.lines().find(|line| line.starts_with(name)).map(str::to_owned);

    assert!(
        row(&text, "✓ address").is_some_and(|row| row.contains("loopback") && row.ends_with(" ms")),
        "{text}"
    );
    assert!(row(&text, "✓ may       project:read-runs").is_some(), "{text}");
    assert!(
        row(&text, "✗ may not").is_some_and(|row| row.contains("project:manage-build-storage")),
        "{text}"
    );
    assert!(
        row(&text, "- knowledge").is_some_and(|row| row.contains("tas-mcp login --knowledge-url")),
        "{text}"
    );
    assert!(text.contains("project:edit-tests") && text.contains("only a change"), "{text}");
    assert!(text.ends_with("\n✗ 2 things will not work\n") && !text.contains("[["), "{text}");
    assert_eq!(output.status.code(), Some(1));
}

#[tokio::test]
async fn a_failure_is_reported_once_and_names_no_tool() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::EXPIRED)];
    let output = run_binary(&["doctor"], &variables, &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");

    assert_eq!((output.status.code(), text.matches('✗').count()), (Some(1), 2), "{text}");
    assert_eq!(text.matches("API key expired").count(), 1, "{text}");
    assert!(text.contains("\n✗ key, ") && !text.contains("✓ key"), "{text}");
    assert!(!text.contains("list_") && !text.contains("tokens"), "{text}");
}

#[tokio::test]
async fn without_failures_one_line_says_so() {
    let output = run_binary(&["--sandbox", "doctor"], &[], &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");

    assert!(text.ends_with("\n\n✓ everything that was checked works\n") && !text.contains('✗'), "{text}");
    assert_eq!(output.status.code(), Some(0));
}

#[tokio::test]
async fn the_report_checks_the_set_up_of_the_http_server() {
    let (service, issuer) = (Service::start().await, Issuer::start().await);
    let directory = tempfile::tempdir().expect("a directory");
    let grants = directory.path().join("grants.toml");
    let grant =
        |key: &str| format!("[[grant]]\nclaim = \"groups\"\nvalue = \"{key}\"\nkey_file = \"{key}\"\n");
    std::fs::write(directory.path().join("demo"), keys::DEMO).expect("a file");
    std::fs::write(directory.path().join("expired"), keys::EXPIRED).expect("a file");

    let base_url = service.base_url();
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_OAUTH_ISSUER", &issuer.url),
        ("TAS_GRANTS_FILE", grants.to_str().expect("a path")),
    ];
    let unreachable = [&variables[..], &[("TAS_HTTP_PUBLIC_URL", "http://127.0.0.1:1")]].concat();
    let cases = [
        (grant("demo"), &variables[..], 0, [("issuer", false), ("grant 1: groups = demo", false)]),
        (
            [grant("demo"), grant("expired")].concat(),
            &unreachable[..],
            2,
            [("public URL", true), ("grant 2: groups = expired", true)],
        ),
    ];

    for (text, variables, code, expected) in cases {
        std::fs::write(&grants, text).expect("a file");
        let output = run_binary(&["doctor", "--json"], variables, &[]).await;
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(output.status.code(), Some(code), "{report}");

        let checks = report["http_setup"].as_array().expect("checks");
        for (checked, is_problem) in expected {
            let check = checks.iter().find(|check| check["checked"] == checked);
            assert_eq!(check.expect("a check")["is_problem"], is_problem, "{report}");
        }
        assert!(!report.to_string().contains(keys::EXPIRED), "{report}");
    }

    issuer.set_down(true);
    let output = run_binary(&["doctor"], &variables, &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("the status is 502"), "{text}");
}
