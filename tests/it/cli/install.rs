//! `tas-mcp install` and `tas-mcp uninstall` change the files of hosts in a home directory of the test.

use std::fs;

use serde_json::{Value, json};

use crate::support::{
    binary::run_binary,
    home::{Home, column},
    terminal::run_in_terminal,
};

/// The file of each host on Linux, and the name of the field with all servers.
const FILES: [(&str, &str, &str); 8] = [
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"),
    ("claude-code", ".claude.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".config/Code/User/mcp.json", "servers"),
    ("codex", ".codex/config.toml", "mcp_servers"),
    ("gemini", ".gemini/settings.json", "mcpServers"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers"),
    ("zed", ".config/zed/settings.json", "context_servers"),
];

const KEY: &str = "svc_0123456789abcdef0123456789abcdef";

#[tokio::test]
async fn all_installed_clients_are_configured_once_and_restored() {
    let files = FILES.map(|(_, file, container)| match container {
        "mcp_servers" => (file, "# mine\nmodel = \"x\"\n\n[mcp_servers.a]\ncommand = \"b\"\n".to_owned()),
        _ => (file, format!("{{\n  \"a\": 1,\n  \"{container}\": {{\n    \"b\": {{}}\n  }}\n}}\n")),
    });
    let home = Home::with(&files.each_ref().map(|(file, text)| (*file, text.as_str())));

    for (command, outcome) in [
        ("install", "installed"),
        ("install", "unchanged"),
        ("uninstall", "removed"),
        ("uninstall", "not installed"),
    ] {
        let end = home.run(&[command, "--yes", "--sandbox", "--read-only"], &[]).await;
        assert_eq!(
            (end.code, column(&end.printed, "outcome")),
            (Some(0), vec![outcome; 8]),
            "{}",
            end.errors
        );
        assert_eq!(column(&end.printed, "client"), FILES.map(|(client, ..)| client));

        for (_, file, container) in FILES.iter().filter(|_| command == "install") {
            let entry = home.entry(file, container);
            assert_eq!(entry["command"], env!("CARGO_BIN_EXE_tas-mcp"), "{file}");
            let directory = std::env::current_dir().expect("a directory");
            let arguments = json!(["--read-only", "--files-root", directory, "--sandbox"]);
            assert_eq!(entry["args"], arguments, "{file}");
        }
    }

    for (file, text) in files {
        assert_eq!(home.text(file), text, "{file}");
    }
}

#[tokio::test]
async fn processes_that_install_at_the_same_time_leave_a_complete_file() {
    const FILE: &str = ".cursor/mcp.json";
    let home = Home::with(&[(FILE, "{\"mcpServers\": {\"b\": {\"command\": \"mine\"}}}\n")]);

    let arguments = ["install", "cursor", "--yes", "--sandbox"];
    let ends = futures_util::future::join_all((0..8).map(|_| home.run(&arguments, &[]))).await;

    assert!(ends.iter().any(|end| end.code == Some(0)));
    for end in ends {
        let is_refused = end.errors.contains("another program has changed ");
        assert!(end.code == Some(0) || is_refused, "{:?} {}", end.code, end.errors);
    }
    let servers = serde_json::from_str::<Value>(&home.text(FILE)).expect("JSON")["mcpServers"].clone();
    assert_eq!(servers["b"], json!({"command": "mine"}));
    assert_eq!(servers.as_object().map(serde_json::Map::len), Some(2), "{servers}");
    let left = fs::read_dir(home.at(".cursor")).expect("a directory").filter_map(Result::ok);
    assert!(left.into_iter().all(|file| !file.file_name().to_string_lossy().starts_with(".tas-mcp-")));
}

#[tokio::test]
async fn the_command_of_an_entry_starts_a_server() {
    let home = Home::with(&[(".cursor/mcp.json", "")]);
    assert_eq!(home.run(&["install", "--yes", "--sandbox"], &[]).await.code, Some(0));

    let entry = home.entry(".cursor/mcp.json", "mcpServers");
    let arguments: Vec<_> =
        entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    }});
    let output = run_binary(&arguments, &[], &[&initialize.to_string()]).await;
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");

    assert_eq!(answer["result"]["serverInfo"]["name"], "tas-mcp", "{answer}");
}

#[tokio::test]
async fn without_a_terminal_nothing_changes_unless_it_is_confirmed() {
    let home = Home::with(&[(".cursor/mcp.json", "{}")]);
    let end = home.run(&["install", "--sandbox"], &[]).await;

    assert_eq!((end.code, home.text(".cursor/mcp.json")), (Some(2), "{}".to_owned()));
    assert!(end.errors.contains("+    \"tas\": {") && end.errors.contains("`--yes`"), "{}", end.errors);
}

#[tokio::test]
async fn a_person_sees_the_change_and_decides() {
    for (answer, outcome, code) in [("n\n", "not confirmed", 2), ("y\n", "installed", 0)] {
        let home = Home::with(&[(".cursor/mcp.json", "{}")]);
        let typed = [("Continue? [y/N]", answer)];
        let (end, screen) =
            run_in_terminal(200, &["install", "--sandbox"], &home.variables(&[]), &typed).await;

        assert_eq!((end, home.text(".cursor/mcp.json") != "{}"), (Some(code), code == 0), "{screen}");
        assert!(screen.contains("+    \"tas\": {") && screen.contains(outcome), "{screen}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_changed_does_not_prevent_the_others() {
    let home = Home::with(&[
        (".cursor/mcp.json", "{\"mcpServers\": {"),
        (".gemini/settings.json", "{\"mcpServers\": []}"),
        (".codex/config.toml", "a = 1\na = 2\n"),
        (".config/zed/settings.json", "// mine\n{}\n"),
    ]);
    let before =
        [".cursor/mcp.json", ".gemini/settings.json", ".codex/config.toml"].map(|file| home.text(file));
    let end = home.run(&["install", "--yes", "--sandbox"], &[]).await;

    assert_eq!((end.code, column(&end.printed, "client")), (Some(2), vec!["zed"]));
    for (file, text) in [".cursor/mcp.json", ".gemini/settings.json", ".codex/config.toml"].iter().zip(before)
    {
        assert!(
            end.errors.contains(&format!("{} cannot be changed", home.at(file).display())),
            "{}",
            end.errors
        );
        assert_eq!(home.text(file), text);
    }
    assert!(home.text(".config/zed/settings.json").starts_with("// mine\n{"));
}

#[tokio::test]
async fn no_key_is_written_or_shown() {
    let old =
        format!(r#"{{"mcpServers": {{"tas": {{"command": "old", "env": {{"TAS_API_KEY": "{KEY}"}}}}}}}}"#);
    let home = Home::with(&[(".cursor/mcp.json", ""), (".codex/config.toml", ""), (".config/Claude/x", "")]);
    fs::write(home.at(".cursor/mcp.json"), old).expect("written");
    let key = [("TAS_API_KEY", KEY), ("TAS_BASE_URL", "https://tas.example/api/v1")];
    let end = home.run(&["install", "--yes"], &key).await;

    assert_eq!(column(&end.printed, "outcome"), ["installed", "updated", "installed"], "{}", end.errors);
    assert!(!end.errors.contains(KEY) && end.errors.contains("--api-key-file"), "{}", end.errors);
    assert_eq!(home.entry(".codex/config.toml", "mcp_servers")["env_vars"], json!(["TAS_API_KEY"]));
    let entry = home.entry(".cursor/mcp.json", "mcpServers");
    assert_eq!(entry["env"], json!({"TAS_API_KEY": "${env:TAS_API_KEY}"}));
    let arguments = entry["args"].as_array().expect("a list");
    assert_eq!(arguments[..2], ["--base-url", "https://tas.example/api/v1"]);
    for file in [".config/Claude/claude_desktop_config.json", ".codex/config.toml", ".cursor/mcp.json"] {
        assert!(!home.text(file).contains(KEY), "{file}");
    }
    assert!(!end.output.contains(KEY), "{}", end.output);

    for client in ["claude-desktop", "codex", "cursor"] {
        let end = home.run(&["install", client, "--print"], &key).await;
        assert!(end.output.contains("base-url") && !end.output.contains(KEY), "{}", end.output);
        assert!(!end.errors.contains(KEY), "{}", end.errors);
    }
}

#[tokio::test]
async fn an_address_takes_the_place_of_the_command() {
    let home = Home::with(&[]);
    let address = ["--yes", "--http", "https://tas.example/mcp", "--project", "demo", "--toolsets", "lean"];
    let clients = ["install", "gemini", "codex", "claude-desktop"];
    let end = home.run(&[&clients[..], &address].concat(), &[("TAS_API_KEY", KEY)]).await;

    assert_eq!(end.code, Some(2));
    assert!(end.errors.contains("claude-desktop has no entries for servers over HTTP"), "{}", end.errors);
    let url = "https://tas.example/mcp/demo/x/lean";
    assert_eq!(
        home.entry(".gemini/settings.json", "mcpServers"),
        json!({"httpUrl": url, "headers": {"X-Api-Key": "$TAS_API_KEY"}})
    );
    assert_eq!(
        home.entry(".codex/config.toml", "mcp_servers"),
        json!({"url": url, "env_http_headers": {"X-Api-Key": "TAS_API_KEY"}})
    );

    let end = home.run(&["install", "zed", "--http", "https://tas.example/mcp", "--sandbox"], &[]).await;
    assert!(end.code == Some(2) && end.errors.contains("cannot be used with"), "{}", end.errors);
}

#[tokio::test]
async fn notes_say_what_the_entry_does_not_contain() {
    let home = Home::with(&[(".cursor/mcp.json", "")]);
    let address = ["install", "--yes", "--http", "https://tas.example/mcp"];
    let no_key = "the entry of cursor has no API key: add the header X-Api-Key, or sign in";
    let end = home.run(&address, &[("TAS_API_KEY", "")]).await;
    assert!(end.errors.contains(no_key), "{}", end.errors);
    let end = home.run(&address, &[("TAS_API_KEY", KEY)]).await;
    assert!(!end.errors.contains(no_key), "{}", end.errors);

    let end = home.run(&["install", "--yes", "--sandbox"], &[]).await;
    assert!(end.errors.contains("name another directory with --files-root"), "{}", end.errors);
    let end = home.run(&["install", "--yes", "--sandbox", "--files-root", "."], &[]).await;
    assert!(!end.errors.contains("note:"), "{}", end.errors);
}

#[tokio::test]
async fn print_writes_the_entry_and_no_file() {
    let home = Home::with(&[]);
    let end = home.run(&["install", "zed", "--sandbox", "--print"], &[]).await;
    let entry = &end.printed["context_servers"]["tas"];
    assert_eq!((end.code, &entry["command"]), (Some(0), &json!(env!("CARGO_BIN_EXE_tas-mcp"))));

    let output =
        run_binary(&["install", "cursor", "--sandbox", "--print=link"], &home.variables(&[]), &[]).await;
    assert!(output.stdout.starts_with(b"cursor://anysphere.cursor-deeplink/mcp/install?name=tas&config="));

    for arguments in [&["install", "--print"][..], &["install", "zed", "--print=link"]] {
        assert_eq!(home.run(arguments, &[]).await.code, Some(2), "{arguments:?}");
    }
    assert_eq!(fs::read_dir(home.at("")).expect("a directory").count(), 0);
}

#[tokio::test]
async fn clients_are_named_if_none_is_installed() {
    let home = Home::with(&[]);
    for command in ["install", "uninstall"] {
        let end = home.run(&[command, "--yes"], &[]).await;
        assert_eq!((end.code, end.printed), (Some(1), Value::Null));
        assert!(FILES.iter().all(|(client, ..)| end.errors.contains(client)), "{}", end.errors);
    }

    let end = home.run(&["install", "cursor", "--yes", "--sandbox"], &[]).await;
    assert_eq!((end.code, home.at(".cursor/mcp.json").is_file()), (Some(0), true), "{}", end.errors);
}
