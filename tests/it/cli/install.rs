//! `tas-mcp install` prints how a host learns of the server, or runs the command of the host.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};

use super::home::Home;
use crate::support::binary::{program, run_binary};

const BINARY: &str = env!("CARGO_BIN_EXE_tas-mcp");

#[tokio::test]
async fn a_host_with_a_command_gets_its_command() {
    let words = format!("{BINARY} --project demo --sandbox");
    for (host, expected) in [
        ("claude-code", format!("claude mcp add --scope user tas -- {words}\n")),
        ("codex", format!("codex mcp add tas -- {words}\n")),
        ("gemini", format!("gemini mcp add --scope user tas {BINARY} -- --project demo --sandbox\n")),
        (
            "vscode",
            format!(
                "code --add-mcp '{}'\n",
                json!({"name": "tas", "command": BINARY, "args": ["--project", "demo", "--sandbox"]})
            ),
        ),
    ] {
        let output = run_binary(&["install", host, "--project", "demo", "--sandbox"], &[], &[]).await;
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{host}");
    }
}

#[tokio::test]
async fn a_host_without_a_command_gets_the_entry_and_the_path_of_its_file() {
    for (host, file, field) in [
        ("claude-desktop", "claude_desktop_config.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers"),
        ("zed", "zed/settings.json", "context_servers"),
    ] {
        let output =
            run_binary(&["install", host, "--read-only"], &[("TAS_API_KEY", "svc_secret")], &[]).await;
        let entry: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let note = String::from_utf8_lossy(&output.stderr);

        assert_eq!(entry, json!({field: {"tas": {"command": BINARY, "args": ["--read-only"]}}}), "{host}");
        assert!(note.contains(file), "{note}");
    }
}

#[tokio::test]
async fn a_host_starts_npx_in_place_of_a_program_in_its_cache() {
    let target = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let cached = target.path().join("_npx/tas-mcp");
    fs::create_dir_all(target.path().join("_npx")).expect("a directory");
    fs::hard_link(BINARY, &cached).expect("a program");

    let arguments = ["install", "codex", "--sandbox"];
    let output = program(cached.to_str().expect("Unicode"), &arguments, &[]).output().await.expect("an end");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "codex mcp add tas -- npx -y tas-mcp --sandbox\n");
}

#[tokio::test]
async fn the_command_of_the_host_is_run_and_decides_the_exit_code() {
    let home = Home::new();
    let programs = home.at("programs");
    fs::create_dir_all(&programs).expect("a directory");
    let path = [("PATH", programs.to_str().expect("Unicode"))];

    for (script, code) in [("echo \"$@\"", 0), ("exit 3", 1)] {
        let file = programs.join("codex");
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a program");

        let end = home.run(&["install", "codex", "--run", "--sandbox"], &path).await;
        assert_eq!(end.code, Some(code), "{}", end.errors);
    }

    for (host, reason) in [("gemini", "`gemini` cannot be started"), ("zed", "has no command")] {
        let end = home.run(&["install", host, "--run"], &path).await;
        assert!(end.code == Some(2) && end.errors.contains(reason), "{}", end.errors);
    }
}
