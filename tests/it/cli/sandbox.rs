//! `tas-mcp sandbox` and `--sandbox`.

use serde_json::{Value, json};

use crate::support::{binary::run_binary, stub::Stub};

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

    let output = run_binary(&["--sandbox", "call", "list_tests"], &configured, &[]).await;

    let page: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(page["data"].as_array().is_some_and(|tests| !tests.is_empty()), "{page}");
    assert_eq!(stub.requests(), [""; 0]);
}

#[cfg(unix)]
#[tokio::test]
async fn the_program_does_not_panic_without_descriptors() {
    let binary = env!("CARGO_BIN_EXE_tas-mcp");
    for limit in 4..12 {
        let shell = format!("ulimit -n {limit}; '{binary}' --sandbox </dev/null");
        let output = tokio::process::Command::new("sh").args(["-c", &shell]).output().await.expect("a shell");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!error.contains("panicked"), "{limit}: {error}");
    }
}
