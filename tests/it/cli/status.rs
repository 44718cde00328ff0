//! The output of `tas-mcp status`, which contains no secret.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use crate::support::{binary::run_binary, service::Service};

#[tokio::test]
async fn the_report_shows_settings_and_permissions() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let cases = [
        (keys::DEMO, "demo", 0, Value::Null),
        // A permission that the key lacks is no defect.
        (keys::POWERLESS, "demo", 0, json!("permission_denied")),
        (keys::EXPIRED, "demo", 1, json!("unauthenticated")),
        (keys::ORGANIZATION, "demo,arena", 0, Value::Null),
    ];

    for (key, projects, code, second) in cases {
        let variables =
            [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", key), ("TAS_PROJECTS", projects)];
        let output = run_binary(&["status", "--json"], &variables, &[]).await;
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
    for variables in [
        &[("TAS_API_KEY_FILE", "svc_misplaced"), ("TAS_BASE_URL", "https://u:svc_misplaced@h/api/v1")][..],
        &[("TAS_API_KEY", "svc_misplaced"), ("TAS_PROJECT_ID", "svc_misplaced")],
    ] {
        for format in [&["status"][..], &["status", "--json"]] {
            let output = run_binary(format, variables, &[]).await;
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            assert!(!text.contains("svc_misplaced"), "{text}");
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

    let output = run_binary(&["status"], &variables, &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("forged") && text.lines().all(|line| !line.starts_with("key:   forged")), "{text}");
}

#[tokio::test]
async fn the_report_names_the_unusable_settings() {
    let output = run_binary(&["status"], &[("TAS_BASE_URL", "http://service.example/api/v1")], &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1));
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

    let output = run_binary(&["status", "--json"], &variables, &[]).await;
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");

    assert_eq!(output.status.code(), Some(1), "{report}");
    assert_eq!(report["hosts"][0]["failure"]["code"], "service_unavailable");
    assert_eq!(report["probes"], json!([]), "an unreachable host is not probed");
    assert!(!report.to_string().contains("hunter2"), "{report}");
}

#[tokio::test]
async fn the_report_marks_what_works_and_what_was_not_checked_or_permitted() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::READ_ONLY)];
    let output = run_binary(&["status"], &variables, &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_default();

    assert!(row("✓ address").ends_with(" ms"), "{text}");
    assert!(!row("✓ may        list runs (project:read-runs)").is_empty(), "{text}");
    assert!(row("- may not").contains("project:manage-build-storage"), "{text}");
    assert!(row("- knowledge").contains("tas-mcp login --knowledge-url"), "{text}");
    assert!(text.contains("project:edit-tests") && text.contains("only a change"), "{text}");
    assert!(text.ends_with("\n✓ everything that was checked works\n") && !text.contains("[["), "{text}");
    assert_eq!(output.status.code(), Some(0));
}

#[tokio::test]
async fn a_failure_is_reported_once_with_what_to_do_and_names_no_tool() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::EXPIRED)];
    let output = run_binary(&["status"], &variables, &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");

    assert_eq!((output.status.code(), text.matches('✗').count()), (Some(1), 2), "{text}");
    assert_eq!(text.matches("API key expired").count(), 1, "{text}");
    assert!(text.contains("\n✗ key        ") && text.ends_with("\n✗ one thing will not work\n"), "{text}");
    assert!(!text.contains("list_") && !text.contains("tokens"), "{text}");
}

#[tokio::test]
async fn a_sandbox_works_and_has_no_account() {
    let output = run_binary(&["--sandbox", "status"], &[], &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");

    assert!(text.ends_with("\n\n✓ everything that was checked works\n") && !text.contains('✗'), "{text}");
    assert_eq!(output.status.code(), Some(0));
}
