//! The flags and the address of a server that another program starts.

use std::path::Path;

use crate::support::service::settings_with;

type Variables<'a> = &'a [(&'a str, &'a str)];

#[test]
fn flags_and_variables_become_flags_without_the_key() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().to_str().expect("Unicode");
    let address = ("TAS_BASE_URL", "https://tas.example/api/v1");
    let key = ("TAS_API_KEY", "svc_0123456789abcdef0123456789abcdef");
    let cases: [(&[&str], Variables<'_>, Vec<&str>); 4] = [
        (&[], &[], vec!["--files-root", root]),
        (&["--sandbox", "--read-only"], &[], vec!["--read-only", "--files-root", root, "--sandbox"]),
        (
            &["--project", "p"],
            &[address, key, ("TAS_READ_ONLY", "no")],
            vec!["--base-url", address.1, "--project", "p", "--files-root", root],
        ),
        (
            &["--files-root", root],
            &[("TAS_TOOLSETS", "lean")],
            vec!["--toolsets", "lean", "--files-root", root],
        ),
    ];

    for (arguments, variables, expected) in cases {
        let flags = settings_with(arguments, variables).server_flags(directory.path());
        assert_eq!(flags.expect("flags"), expected, "{arguments:?}");
    }
}

#[test]
fn a_directory_that_is_too_wide_is_no_files_root() {
    let directory = tempfile::tempdir().expect("a directory");
    let given = settings_with(&["--files-root", directory.path().to_str().expect("Unicode")], &[]);
    let top = directory.path().ancestors().last().expect("a root");

    let note = settings_with(&[], &[]).files_note(directory.path()).expect("a note");
    assert!(note.contains("saves files in") && note.contains("--files-root"), "{note}");
    let note = settings_with(&[], &[]).files_note(top).expect("a note");
    assert!(note.contains("too wide") && note.contains("--files-root"), "{note}");
    assert_eq!(given.files_note(top), None);

    let flags = settings_with(&["--sandbox"], &[]).server_flags(top).expect("flags");
    assert_eq!(flags, ["--sandbox"]);
}

#[test]
fn the_server_uses_the_same_key_as_this_process() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("key");
    std::fs::write(&file, "svc_0123456789abcdef0123456789abcdef").expect("written");
    let file = file.to_str().expect("Unicode");
    let key = ("TAS_API_KEY", "svc_fedcba9876543210fedcba9876543210");
    let cases: [(&[&str], Variables<'_>, bool, Option<&str>); 4] = [
        (&["--api-key-file", file], &[key], true, None),
        (&[], &[("TAS_API_KEY_FILE", file)], true, None),
        (&[], &[key, ("TAS_API_KEY_FILE", file)], false, Some("TAS_API_KEY")),
        (&[], &[key], false, Some("TAS_API_KEY")),
    ];

    for (arguments, variables, has_file, variable) in cases {
        let settings = settings_with(arguments, variables);
        let flags = settings.server_flags(directory.path()).expect("flags");
        let found = (flags.iter().any(|flag| flag == "--api-key-file"), settings.key_variable());
        assert_eq!(found, (has_file, variable), "{arguments:?}");
    }
}

#[test]
fn a_relative_path_becomes_absolute() {
    let directory = tempfile::tempdir().expect("a directory");
    let flags = settings_with(&["--state-dir", "state"], &[]).server_flags(directory.path()).expect("flags");
    let state = directory.path().join("state");

    assert_eq!(flags[flags.len() - 1], state.to_str().expect("Unicode"));
}

#[test]
fn unusable_values_and_the_key_are_refused() {
    let key = ("TAS_API_KEY", "svc_0123456789abcdef0123456789abcdef");
    let cases: [(&[&str], &str); 4] = [
        (&["--toolsets", "nonsense"], "TAS_TOOLSETS"),
        (&["--api-key-file", "nowhere"], "TAS_API_KEY_FILE"),
        (&["--files-root", "nowhere"], "TAS_FILES_ROOT"),
        (&["--project", key.1], "`TAS_PROJECT_ID` contains the API key"),
    ];

    for (arguments, expected) in cases {
        let failure = settings_with(arguments, &[key]).server_flags(Path::new("/")).expect_err("a failure");
        assert!(failure.message.contains(expected), "{arguments:?}: {}", failure.message);
        assert!(!failure.to_json().contains(key.1), "{arguments:?}");
    }
}

#[test]
fn an_address_selects_the_project_and_the_tools() {
    let cases: [(&[&str], &str, Result<&str, &str>); 12] = [
        (&[], "https://tas.example/mcp/", Ok("https://tas.example/mcp")),
        (&["--project", "a b"], "https://tas.example/mcp", Ok("https://tas.example/mcp/a%20b")),
        (
            &["--toolsets", "lean", "--read-only"],
            "http://localhost:8900/mcp",
            Ok("http://localhost:8900/mcp/x/lean/readonly"),
        ),
        (&["--toolsets", "lean"], "https://tas.example/mcp/q", Ok("https://tas.example/mcp/q/x/lean")),
        (&["--project", "p"], "https://tas.example/mcp/q", Err("must have the path /mcp if")),
        (&["--toolsets", "lean"], "https://tas.example", Err("/mcp or /mcp/PROJECT")),
        (&[], "https://tas.example/mcpx", Err("/mcp or /mcp/PROJECT")),
        (&[], "https://tas.example/mcp/x/lean", Err("/mcp or /mcp/PROJECT")),
        (&[], "https://tas.example/mcp/readonly", Err("/mcp or /mcp/PROJECT")),
        (&["--project", "x"], "https://tas.example/mcp", Err("the project `x`")),
        (&["--project", "readonly"], "https://tas.example/mcp", Err("the project `readonly`")),
        (&[], "http://tas.example/mcp", Err("https")),
    ];

    for (arguments, address, expected) in cases {
        match (settings_with(arguments, &[]).server_address(address), expected) {
            (Ok(address), Ok(expected)) => assert_eq!(address, expected),
            (Err(failure), Err(expected)) => {
                assert!(failure.message.contains(expected), "{}", failure.message);
            }
            (other, _) => panic!("{arguments:?}: {other:?}"),
        }
    }
}
