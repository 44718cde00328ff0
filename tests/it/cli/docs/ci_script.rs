//! The script for CI in the README.

use std::fs;

use serde_json::Value;
use tas_mcp::sandbox::{Options, keys, seed};

use super::root;
use crate::support::{binary::program, service::Service};

#[tokio::test]
async fn the_script_for_ci_returns_the_result_of_the_tests_and_writes_its_reports() {
    let readme = fs::read_to_string(root("README.md")).expect("README.md");
    let script =
        readme.split("```bash\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a script");
    let script = script.replace("PLAN_ID", seed::PLAN_SMOKE).replace("CONFIG_ID", seed::CONFIG_PHONES);
    // Replaces the programs that may not be installed.
    let programs = format!(
        "tas-mcp() {{ '{}' \"$@\"; }}\njq() {{ sed -n \"s/.*\\\"${{2#.}}\\\":\\\"\\([^\\\"]*\\)\\\".*/\\1/p\" ${{3:-}}; }}\n",
        env!("CARGO_BIN_EXE_tas-mcp")
    );
    // One hour takes six seconds: the plan finishes soon, and no presigned address expires before.
    let service = Service::with(Options { speed: 600.0, ..Options::default() }).await;
    let directory = tempfile::tempdir().expect("a directory");

    fs::write(directory.path().join("game.apk"), "PK").expect("a build");
    let mut shell = program("bash", &["-c", &format!("{programs}{script}")], &[]);
    shell.current_dir(directory.path());
    shell.env("TAS_BASE_URL", service.base_url()).env("TAS_API_KEY", keys::DEMO);
    shell.env("TAS_STATE_DIR", directory.path());

    let output = shell.output().await.expect("a shell");
    let errors = String::from_utf8_lossy(&output.stderr);

    assert_eq!(output.status.code(), Some(10), "{errors}");
    for (file, part) in [("report.xml", "<testsuite"), ("report.html", "<html"), ("verdicts.json", "FAILED")]
    {
        let text = fs::read_to_string(directory.path().join(file)).expect("a file");
        assert!(text.contains(part), "{file}: {errors}");
    }

    let verdicts = fs::read_to_string(directory.path().join("verdicts.json")).expect("a file");
    let verdicts: Value = serde_json::from_str(&verdicts).expect("JSON");
    let played = verdicts["started"]["build_id"].as_str().expect("a build");

    assert_eq!(service.content(played).await.as_deref(), Some(b"PK".as_slice()));
}
