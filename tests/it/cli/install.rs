//! `tas-mcp install` and `tas-mcp uninstall` change the files of hosts in a home directory of the test, and run programs of
//! hosts that the test has put there.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Instant};

use serde_json::{Value, json};

use crate::support::{
    binary::run_binary,
    home::{Home, Outcome, column},
    terminal::run_in_terminal,
};

/// The file of each host on Linux that has no command for servers, and the name of the field with all servers.
const FILES: [(&str, &str, &str); 4] = [
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers"),
    ("zed", ".config/zed/settings.json", "context_servers"),
];

/// The other hosts, each with the program that has a command for servers.
const PROGRAMS: [(&str, &str); 4] =
    [("claude-code", "claude"), ("vscode", "code"), ("codex", "codex"), ("gemini", "gemini")];

/// Path of this program.
const BINARY: &str = env!("CARGO_BIN_EXE_tas-mcp");

const KEY: &str = "svc_0123456789abcdef0123456789abcdef";

/// Runs the binary, which finds programs only in the directory `programs` of the home directory.
async fn run(home: &Home, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let programs = home.at("programs");
    let path = [("PATH", programs.to_str().expect("Unicode"))];
    home.run(arguments, &[&path, variables].concat()).await
}

/// Puts a program into the directory `programs`. It records the variable of the key and its arguments, one call a line, and
/// then runs `script`.
fn add_program(home: &Home, name: &str, script: &str) {
    let file = home.at(&format!("programs/{name}"));
    let record = r#"{ printf "%s|" "${TAS_API_KEY-no key}" "$@"; echo; } >> "$HOME/calls""#;
    fs::create_dir_all(home.at("programs")).expect("a directory");
    fs::write(&file, format!("#!/bin/sh\n{record}\n{script}\n")).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a program");
}

/// Returns the recorded calls, and forgets them.
fn calls(home: &Home) -> Vec<String> {
    let calls = fs::read_to_string(home.at("calls")).unwrap_or_default();
    drop(fs::remove_file(home.at("calls")));
    calls.lines().map(str::to_owned).collect()
}

/// Returns the working directory, which is the files root without another one.
fn directory() -> String {
    std::env::current_dir().expect("a directory").display().to_string()
}

#[tokio::test]
async fn a_host_with_a_command_adds_and_removes_the_server_itself() {
    let home = Home::with(&[]);
    for (_, program) in PROGRAMS {
        add_program(&home, program, "echo done");
    }
    let arguments = ["--files-root", &directory(), "--sandbox"];
    let entry = json!({"name": "tas", "type": "stdio", "command": BINARY, "args": arguments});
    let flags = arguments.join("|");

    let end = run(&home, &["install", "--yes", "--sandbox"], &[]).await;
    assert_eq!(
        (end.code, column(&end.printed, "outcome")),
        (Some(0), vec!["installed"; 4]),
        "{}",
        end.errors
    );
    assert_eq!(column(&end.printed, "client"), PROGRAMS.map(|(client, _)| client));
    assert_eq!(
        calls(&home),
        [
            format!("no key|mcp|add|--transport|stdio|--scope|user|tas|--|{BINARY}|{flags}|"),
            format!("no key|--add-mcp|{entry}|"),
            format!("no key|mcp|add|tas|--|{BINARY}|{flags}|"),
            format!("no key|mcp|add|--transport|stdio|--scope|user|tas|{BINARY}|--|{flags}|"),
        ]
    );
    let shown =
        format!("codex: codex mcp add tas -- {BINARY} --files-root {} --sandbox\ndone\n", directory());
    assert!(end.errors.contains(&shown), "{}", end.errors);
    assert!(end.errors.contains("restart the host: claude-code, vscode, codex, gemini"), "{}", end.errors);

    let end = run(&home, &["uninstall", "claude-code", "codex", "gemini", "--yes"], &[]).await;
    assert_eq!((end.code, column(&end.printed, "outcome")), (Some(0), vec!["removed"; 3]), "{}", end.errors);
    let removals = ["mcp|remove|--scope|user|tas|", "mcp|remove|tas|", "mcp|remove|--scope|user|tas|"];
    assert_eq!(calls(&home), removals.map(|words| format!("no key|{words}")));
}

#[tokio::test]
async fn a_command_refers_to_the_key_by_the_name_of_its_variable() {
    let home = Home::with(&[]);
    for (_, program) in PROGRAMS {
        add_program(&home, program, "");
    }
    let url = "https://tas.example/mcp";
    let entry = json!({"name": "tas", "type": "http", "url": url});
    let options = "--transport|http|--scope|user|tas";

    let end = run(&home, &["install", "--yes", "--http", url], &[("TAS_API_KEY", KEY)]).await;
    assert_eq!(
        calls(&home),
        [
            format!("no key|mcp|add|--header|X-Api-Key: ${{TAS_API_KEY}}|{options}|{url}|"),
            format!("no key|--add-mcp|{entry}|"),
            format!("no key|mcp|add|tas|--bearer-token-env-var|TAS_API_KEY|--url|{url}|"),
            format!("no key|mcp|add|--header|X-Api-Key: $TAS_API_KEY|{options}|{url}|"),
        ]
    );
    assert!(
        end.errors.contains("'X-Api-Key: ${TAS_API_KEY}'") && !end.errors.contains(KEY),
        "{}",
        end.errors
    );
    assert!(end.errors.contains("the entry of vscode has no API key"), "{}", end.errors);

    let end = run(&home, &["install", "--yes", "--project", "demo"], &[("TAS_API_KEY", KEY)]).await;
    let calls = calls(&home);
    let is_passed = |call: &String| call.contains("mcp|add|--env|TAS_API_KEY=$");
    assert_eq!(calls.iter().map(is_passed).collect::<Vec<_>>(), [true, false, false, true], "{calls:?}");
    assert!(!end.errors.contains(KEY) && !calls.concat().contains(KEY), "{}", end.errors);
    assert!(end.errors.contains("codex may not pass TAS_API_KEY"), "{}", end.errors);
}

#[tokio::test]
async fn a_command_is_shown_and_runs_only_if_it_is_confirmed() {
    let home = Home::with(&[]);
    add_program(&home, "codex", "");
    let end = run(&home, &["install", "codex", "--sandbox"], &[]).await;
    assert_eq!((end.code, calls(&home).len()), (Some(2), 0), "{}", end.errors);
    assert!(end.errors.contains("codex mcp add tas") && end.errors.contains("`--yes`"), "{}", end.errors);

    for (answer, outcome, code) in [("n\n", "not confirmed", 2), ("y\n", "installed", 0)] {
        let path = format!("{}:/usr/bin:/bin", home.at("programs").display());
        let variables = home.variables(&[("PATH", &path)]);
        let typed = [("This runs the command above. Continue? [y/N]", answer)];
        let (end, screen) =
            run_in_terminal(300, &["install", "codex", "--sandbox"], &variables, &typed).await;

        assert_eq!((end, calls(&home).len()), (Some(code), usize::from(code == 0)), "{screen}");
        assert!(screen.contains("codex mcp add tas") && screen.contains(outcome), "{screen}");
    }
}

#[tokio::test]
async fn a_program_that_is_missing_or_fails_is_named_with_its_command() {
    let home = Home::with(&[]);
    let end = run(&home, &["install", "claude-code", "--yes", "--sandbox"], &[]).await;
    assert_eq!(end.code, Some(1), "{}", end.errors);
    for text in ["claude-code: claude mcp add --transport stdio", "`claude` is not on the PATH"] {
        assert!(end.errors.contains(text), "{}", end.errors);
    }

    add_program(&home, "codex", "echo it is broken >&2; exit 3");
    for command in ["install", "uninstall"] {
        let end = run(&home, &[command, "codex", "--yes", "--sandbox"], &[]).await;
        let is_explained = end.errors.contains("it is broken") && end.errors.contains("`codex` has failed");
        assert!(end.code == Some(1) && is_explained, "{}", end.errors);
    }
}

#[tokio::test]
async fn a_process_that_a_program_leaves_behind_is_not_waited_for() {
    let home = Home::with(&[]);
    add_program(&home, "codex", "/bin/sleep 15 &");
    let started = Instant::now();
    let end = run(&home, &["install", "codex", "--yes", "--sandbox"], &[]).await;
    assert!(end.code == Some(0) && started.elapsed().as_secs() < 10, "{}", end.errors);
}

#[tokio::test]
async fn an_entry_that_claude_code_does_not_replace_is_removed_first() {
    let home = Home::with(&[("entry", "")]);
    let script = r#"
        case $2 in
            remove) [ -e "$HOME/entry" ] || { echo "No user-scoped MCP server found with name: tas"; exit 1; }
                /bin/rm "$HOME/entry" ;;
            add) [ ! -e "$HOME/entry" ] || { echo "MCP server tas already exists in user config" >&2; exit 1; }
                : > "$HOME/entry" ;;
        esac"#;
    add_program(&home, "claude", script);

    for (command, outcome, count) in [
        ("install", "updated", 3),
        ("uninstall", "removed", 1),
        ("uninstall", "not installed", 1),
        ("install", "installed", 1),
    ] {
        let end = run(&home, &[command, "claude-code", "--yes", "--sandbox"], &[]).await;
        let outcomes = column(&end.printed, "outcome");
        let made = (end.code, outcomes, calls(&home).len());
        assert_eq!(made, (Some(0), vec![outcome], count), "{}", end.errors);
    }
}

#[tokio::test]
async fn vscode_forgets_the_server_through_its_file() {
    const FILE: &str = ".config/Code/User/mcp.json";
    let home =
        Home::with(&[(FILE, "{\n  \"inputs\": [],\n  \"servers\": {\"tas\": {\"command\": \"x\"}}\n}\n")]);

    let end = run(&home, &["uninstall", "vscode", "--yes"], &[]).await;

    assert_eq!((end.code, column(&end.printed, "outcome")), (Some(0), vec!["removed"]), "{}", end.errors);
    assert_eq!(home.text(FILE), "{\n  \"inputs\": [],\n  \"servers\": {}\n}\n");
}

#[tokio::test]
async fn comments_order_and_line_ends_of_a_file_stay() {
    const FILE: &str = ".config/zed/settings.json";
    let arguments = format!("[\"--files-root\", \"{}\", \"--sandbox\"]", directory());
    let commented = r#"// mine
{
  "theme": "x", // dark
  "context_servers": {
    /* a */ "b": {"command": "c"},
    "tas": {
      "command": "BINARY",
      "args": ARGUMENTS,
    },
  },
  "z": 1
}
"#;
    let windows = "\u{feff}{\r\n\t\"context_servers\": {\r\n\t\t\"a\": {},\r\n\t\t\"tas\": {\r\n\t\t\t\"command\": \"BINARY\",\r\n\t\t\t\"args\": ARGUMENTS\r\n\t\t}\r\n\t}\r\n}\r\n";

    for (text, line_end, comma) in [(commented, "\n", ","), (windows, "\r\n", "")] {
        let (start, rest) = text.split_once("\"tas\"").expect("the entry");
        let (_, end) = rest.split_once(&format!("}}{comma}{line_end}")).expect("the end of the entry");
        let start = start.trim_end().strip_suffix(if comma.is_empty() { "," } else { "" }).expect("a comma");
        let without = format!("{start}{line_end}{end}");
        let with = text.replace("BINARY", BINARY).replace("ARGUMENTS", &arguments);
        let home = Home::with(&[(FILE, &without)]);

        for (command, expected) in [("install", &with), ("install", &with), ("uninstall", &without)] {
            let end = run(&home, &[command, "zed", "--yes", "--sandbox"], &[]).await;
            assert_eq!((end.code, &home.text(FILE)), (Some(0), expected), "{command}: {}", end.errors);
        }
    }
}

#[tokio::test]
async fn fields_of_a_user_stay_in_an_entry_of_the_same_kind() {
    const FILE: &str = ".cursor/mcp.json";
    let fields = "\"timeout\": 60, // slow\n\"env\": {\"A\": \"b\", \"TAS_API_KEY\": \"svc_x\"}";
    let text = format!("{{\"mcpServers\": {{\"tas\": {{\n// ours\n\"command\": \"/old\", {fields}\n}}}}}}\n");
    let home = Home::with(&[(FILE, &text)]);
    let install = |flags: &'static [&'static str]| [&["install", "cursor", "--yes"], flags].concat();

    let end = run(&home, &install(&["--project", "demo"]), &[]).await;
    assert!(end.code == Some(0) && home.text(FILE).contains(fields), "{} {}", end.errors, home.text(FILE));
    assert!(home.text(FILE).contains("\n// ours\n"), "{}", home.text(FILE));
    assert_eq!(home.text(&format!("{FILE}.tas-backup")), text);

    let end = run(&home, &install(&["--project", "demo"]), &[("TAS_API_KEY", KEY)]).await;
    assert!(end.code == Some(0) && home.text(FILE).contains("// slow"), "{}", home.text(FILE));
    for (text, stays) in [("\"A\": \"b\"", true), ("\"${env:TAS_API_KEY}\"", true), ("svc_x", false)] {
        assert_eq!(home.text(FILE).contains(text), stays, "{}", home.text(FILE));
    }

    run(&home, &install(&["--http", "https://tas.example/mcp"]), &[]).await;
    assert!(home.text(FILE).contains("\"url\": \"https://tas.example/mcp\""), "{}", home.text(FILE));
    assert!(!home.text(FILE).contains("timeout") && !home.text(FILE).contains("env"), "{}", home.text(FILE));
}

#[tokio::test]
async fn an_entry_of_another_form_and_an_empty_file_get_the_entry() {
    const FILE: &str = ".cursor/mcp.json";
    let expected = json!({"command": BINARY, "args": ["--files-root", directory(), "--sandbox"]});
    for text in [
        "",
        "\n",
        "{}",
        "\u{feff}",
        r#"{"mcpServers": {"tas": "disabled"}}"#,
        r#"{"mcpServers": {"tas": null}}"#,
    ] {
        let home = Home::with(&[(FILE, text)]);
        let end = run(&home, &["install", "cursor", "--yes", "--sandbox"], &[]).await;
        let written = home.text(FILE);
        let written = written.trim_start_matches('\u{feff}');
        let document: Value = serde_json::from_str(written).expect("JSON");
        assert_eq!(
            (end.code, &document["mcpServers"]["tas"]),
            (Some(0), &expected),
            "{text}: {}",
            end.errors
        );
    }
}

#[tokio::test]
async fn a_text_that_a_host_cannot_read_is_left_as_it_is() {
    const FILE: &str = ".cursor/mcp.json";
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in [
        "{a: 1}",
        "{} {}",
        "[]",
        &nested,
        r#"{"mcpServers": null}"#,
        r#"{"mcpServers": {"tas": {}, "tas": {}}}"#,
        r#"{"mcpServers": {"tas": {"args": [], "args": [], "command": "x"}}}"#,
    ] {
        let home = Home::with(&[(FILE, text)]);
        let end = run(&home, &["install", "cursor", "--yes", "--sandbox"], &[]).await;
        assert!(end.code == Some(2) && end.errors.contains("cannot be changed"), "{}", end.errors);
        assert!(home.text(FILE) == text, "{}", end.errors);
    }
}

#[tokio::test]
async fn the_one_backup_has_the_earlier_text_and_the_permissions_of_the_file() {
    const FILE: &str = ".cursor/mcp.json";
    let home = Home::with(&[(FILE, "{}")]);
    fs::set_permissions(home.at(FILE), fs::Permissions::from_mode(0o640)).expect("permissions");

    for flags in [&["--sandbox"][..], &["--project", "demo"]] {
        let earlier = home.text(FILE);
        let end = run(&home, &[&["install", "cursor", "--yes"], flags].concat(), &[]).await;
        let backup = home.at(&format!("{FILE}.tas-backup"));
        assert_eq!(column(&end.printed, "backup"), [backup.to_str().expect("Unicode")], "{}", end.errors);
        assert_eq!(fs::read_to_string(&backup).expect("a backup"), earlier);
        let modes = [backup, home.at(FILE)].map(|file| file.metadata().expect("a file").permissions().mode());
        assert_eq!(modes.map(|mode| mode & 0o777), [0o640; 2]);
    }
    assert_eq!(fs::read_dir(home.at(".cursor")).expect("a directory").count(), 2);
}

#[tokio::test]
async fn a_key_that_a_user_has_written_is_not_shown() {
    for earlier in [
        json!({"command": "npx", "args": ["mcp-remote", format!("https://a.example/?key={KEY}"), "--header", KEY]}),
        json!({"command": "docker", "args": ["-e", format!("TAS_API_KEY={KEY}"), format!("--key={KEY}"), "--header"]}),
        json!({"url": format!("https://a.example/?key={KEY}"), "headers": {"X-Api-Key": KEY}, "x": ["--header"]}),
        json!(["--header", KEY]),
    ] {
        for command in ["install", "uninstall"] {
            let home =
                Home::with(&[(".cursor/mcp.json", &json!({"mcpServers": {"tas": earlier}}).to_string())]);
            let end = run(&home, &[command, "cursor", "--yes", "--sandbox"], &[]).await;
            let shows_the_rest = end.errors.contains("[hidden]") && end.errors.contains("--header");
            assert!(end.code == Some(0) && shows_the_rest && !end.errors.contains(KEY), "{}", end.errors);
        }
    }
}

#[tokio::test]
async fn all_installed_clients_are_configured_once_and_restored() {
    let files = FILES.map(|(_, file, container)| {
        (file, format!("{{\n  \"a\": 1,\n  \"{container}\": {{\n    \"b\": {{}}\n  }}\n}}\n"))
    });
    let home = Home::with(&files.each_ref().map(|(file, text)| (*file, text.as_str())));

    for (command, outcome) in [
        ("install", "installed"),
        ("install", "unchanged"),
        ("uninstall", "removed"),
        ("uninstall", "not installed"),
    ] {
        let end = run(&home, &[command, "--yes", "--sandbox", "--read-only"], &[]).await;
        assert_eq!(
            (end.code, column(&end.printed, "outcome")),
            (Some(0), vec![outcome; 4]),
            "{}",
            end.errors
        );
        assert_eq!(column(&end.printed, "client"), FILES.map(|(client, ..)| client));

        for (_, file, container) in FILES.iter().filter(|_| command == "install") {
            let entry = home.entry(file, container);
            assert_eq!(entry["command"], BINARY, "{file}");
            let arguments = json!(["--read-only", "--files-root", directory(), "--sandbox"]);
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
    let ends = futures_util::future::join_all((0..8).map(|_| run(&home, &arguments, &[]))).await;

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
    assert_eq!(run(&home, &["install", "--yes", "--sandbox"], &[]).await.code, Some(0));

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
    let end = run(&home, &["install", "--sandbox"], &[]).await;

    assert_eq!((end.code, home.text(".cursor/mcp.json")), (Some(2), "{}".to_owned()));
    assert!(end.errors.contains("+    \"tas\": {") && end.errors.contains("`--yes`"), "{}", end.errors);
}

#[tokio::test]
async fn a_person_sees_the_change_and_decides() {
    for (answer, outcome, code) in [("n\n", "not confirmed", 2), ("y\n", "installed", 0)] {
        let home = Home::with(&[(".cursor/mcp.json", "{}")]);
        let typed = [("Continue? [y/N]", answer)];
        let (end, screen) =
            run_in_terminal(200, &["install", "cursor", "--sandbox"], &home.variables(&[]), &typed).await;

        assert_eq!((end, home.text(".cursor/mcp.json") != "{}"), (Some(code), code == 0), "{screen}");
        assert!(screen.contains("+    \"tas\": {") && screen.contains(outcome), "{screen}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_changed_does_not_prevent_the_others() {
    let twice = "{\"mcpServers\": {}, \"mcp\\u0053ervers\": {}}";
    let home = Home::with(&[
        (".cursor/mcp.json", "{\"mcpServers\": {"),
        (".config/Claude/claude_desktop_config.json", "{\"mcpServers\": []}"),
        (".codeium/windsurf/mcp_config.json", twice),
        (".config/zed/settings.json", "// mine\n{}\n"),
    ]);
    let unusable = FILES.map(|(_, file, _)| file).into_iter().filter(|file| !file.contains("zed"));
    let unusable: Vec<_> = unusable.map(|file| (file, home.text(file))).collect();
    let end = run(&home, &["install", "--yes", "--sandbox"], &[]).await;

    assert_eq!((end.code, column(&end.printed, "client")), (Some(2), vec!["zed"]));
    for (file, text) in unusable {
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
    let home = Home::with(&[(".cursor/mcp.json", &old), (".config/Claude/x", "")]);
    let key = [("TAS_API_KEY", KEY), ("TAS_BASE_URL", "https://tas.example/api/v1")];
    let end = run(&home, &["install", "--yes"], &key).await;

    assert_eq!(column(&end.printed, "outcome"), ["installed", "updated"], "{}", end.errors);
    assert!(!end.errors.contains(KEY) && end.errors.contains("--api-key-file"), "{}", end.errors);
    let entry = home.entry(".cursor/mcp.json", "mcpServers");
    assert_eq!(entry["env"], json!({"TAS_API_KEY": "${env:TAS_API_KEY}"}));
    let arguments = entry["args"].as_array().expect("a list");
    assert_eq!(arguments[..2], ["--base-url", "https://tas.example/api/v1"]);
    for file in [".config/Claude/claude_desktop_config.json", ".cursor/mcp.json"] {
        assert!(!home.text(file).contains(KEY), "{file}");
    }
    assert!(!end.output.contains(KEY), "{}", end.output);

    for client in ["claude-desktop", "codex", "cursor"] {
        let end = run(&home, &["install", client, "--print"], &key).await;
        assert!(end.output.contains("base-url") && !end.output.contains(KEY), "{}", end.output);
        assert!(!end.errors.contains(KEY), "{}", end.errors);
    }
}

#[tokio::test]
async fn an_address_takes_the_place_of_the_command() {
    let home = Home::with(&[]);
    let address = ["--yes", "--http", "https://tas.example/mcp", "--project", "demo", "--toolsets", "lean"];
    let clients = ["install", "windsurf", "zed", "claude-desktop"];
    let end = run(&home, &[&clients[..], &address].concat(), &[("TAS_API_KEY", KEY)]).await;

    assert_eq!(end.code, Some(2));
    assert!(end.errors.contains("claude-desktop has no entries for servers over HTTP"), "{}", end.errors);
    let url = "https://tas.example/mcp/demo/x/lean";
    let windsurf = home.entry(".codeium/windsurf/mcp_config.json", "mcpServers");
    assert_eq!(windsurf, json!({"serverUrl": url, "headers": {"X-Api-Key": "${env:TAS_API_KEY}"}}));
    assert_eq!(home.entry(".config/zed/settings.json", "context_servers"), json!({"url": url}));

    let end = run(&home, &["install", "zed", "--http", "https://tas.example/mcp", "--sandbox"], &[]).await;
    assert!(end.code == Some(2) && end.errors.contains("cannot be used with"), "{}", end.errors);
}

#[tokio::test]
async fn notes_say_what_the_entry_does_not_contain() {
    let home = Home::with(&[(".cursor/mcp.json", "")]);
    let address = ["install", "--yes", "--http", "https://tas.example/mcp"];
    let no_key = "the entry of cursor has no API key: add the header X-Api-Key, or sign in";
    let end = run(&home, &address, &[("TAS_API_KEY", "")]).await;
    assert!(end.errors.contains(no_key), "{}", end.errors);
    let end = run(&home, &address, &[("TAS_API_KEY", KEY)]).await;
    assert!(!end.errors.contains(no_key), "{}", end.errors);

    let end = run(&home, &["install", "--yes", "--sandbox"], &[]).await;
    assert!(end.errors.contains("name another directory with --files-root"), "{}", end.errors);
    let end = run(&home, &["install", "--yes", "--sandbox", "--files-root", "."], &[]).await;
    assert!(!end.errors.contains("note:"), "{}", end.errors);
}

#[tokio::test]
async fn a_server_without_an_address_a_key_and_a_profile_is_pointed_out() {
    const WARNING: &str = "note: the server has neither an address nor a key: run `tas-mcp login`";
    let home = Home::with(&[(".cursor/mcp.json", "")]);
    let profile = Home::with(&[
        (".cursor/mcp.json", ""),
        (
            ".config/tas-mcp/config.toml",
            "default_profile = \"a\"\n[profile.a]\nbase_url = \"https://tas.example/api/v1\"\n",
        ),
    ]);
    let key = [("TAS_API_KEY", KEY)];

    for (home, variables, warns) in [(&home, &[][..], true), (&home, &key, false), (&profile, &[], false)] {
        let end = run(home, &["install", "cursor", "--yes", "--project", "demo"], variables).await;
        assert_eq!((end.code, end.errors.contains(WARNING)), (Some(0), warns), "{}", end.errors);
    }
}

#[tokio::test]
async fn print_writes_the_entry_and_no_file() {
    let home = Home::with(&[]);
    let end = run(&home, &["install", "zed", "--sandbox", "--print"], &[]).await;
    let entry = &end.printed["context_servers"]["tas"];
    assert_eq!((end.code, &entry["command"]), (Some(0), &json!(BINARY)));

    let output =
        run_binary(&["install", "cursor", "--sandbox", "--print=link"], &home.variables(&[]), &[]).await;
    assert!(output.stdout.starts_with(b"cursor://anysphere.cursor-deeplink/mcp/install?name=tas&config="));

    let end = run(&home, &["install", "codex", "--sandbox", "--print"], &[]).await;
    let command = format!("codex mcp add tas -- {BINARY} --files-root {} --sandbox\n", directory());
    assert_eq!((end.code, end.output), (Some(0), command));
    let end = run(&home, &["install", "vscode", "--sandbox", "--print=snippet"], &[]).await;
    assert_eq!(end.printed["servers"]["tas"]["type"], "stdio");

    for arguments in [
        &["install", "--print"][..],
        &["install", "zed", "--print=link"],
        &["install", "codex", "--print=snippet"],
    ] {
        assert_eq!(run(&home, arguments, &[]).await.code, Some(2), "{arguments:?}");
    }
    assert_eq!(fs::read_dir(home.at("")).expect("a directory").count(), 0);
}

#[tokio::test]
async fn clients_are_named_if_none_is_installed() {
    let home = Home::with(&[]);
    for command in ["install", "uninstall"] {
        let end = run(&home, &[command, "--yes"], &[]).await;
        assert_eq!((end.code, end.printed), (Some(1), Value::Null));
        assert!(
            FILES.iter().all(|(client, ..)| end.errors.contains(client)) && end.errors.contains("codex"),
            "{}",
            end.errors
        );
    }

    let end = run(&home, &["install", "cursor", "--yes", "--sandbox"], &[]).await;
    assert_eq!((end.code, home.at(".cursor/mcp.json").is_file()), (Some(0), true), "{}", end.errors);
}
