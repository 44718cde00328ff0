//! The scripts below `.ci` leave nothing out where CI runs, and build what is locked.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

/// Commands of every system that the scripts use before they look for others.
const ALWAYS_THERE: [&str; 4] = ["bash", "dirname", "mkdir", "realpath"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where a command lies.
fn found(command: &str) -> String {
    let output = Command::new("sh").args(["-c", &format!("command -v {command}")]).output().expect("a shell");
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

/// Runs a script with these commands alone: whether it succeeds, and what it says.
fn run(script: &str, commands: &[&str], ci: &str) -> (bool, String) {
    let directory = tempfile::tempdir().expect("a directory");
    for command in ALWAYS_THERE {
        symlink(found(command), directory.path().join(command)).expect("a link");
    }

    for command in commands {
        symlink(found("true"), directory.path().join(command)).expect("a link");
    }

    let mut bash = Command::new(directory.path().join("bash"));
    bash.arg(root().join(".ci").join(script)).arg(env!("CARGO_BIN_EXE_tas-mcp"));

    let target = directory.path().join("target");
    let output = bash.env("PATH", directory.path()).env("CI", ci).env("CARGO_TARGET_DIR", target).output();
    let output = output.expect("an end");
    let said = [output.stdout, output.stderr].concat();

    (output.status.success(), String::from_utf8(said).expect("UTF-8"))
}

#[test]
fn what_is_missing_is_skipped_with_a_word_and_fails_where_ci_runs() {
    let cases: [(&str, &[&str]); 6] = [
        ("pages", &[]),
        ("pages", &["node"]),
        ("pages", &["npm"]),
        ("clients", &[]),
        ("junit", &[]),
        ("dependencies", &[]),
    ];
    for (script, commands) in cases {
        let (succeeded, said) = run(script, commands, "");
        assert!(succeeded && said.contains("skipped: "), "{script}, {commands:?}: {said}");
        let (succeeded, said) = run(script, commands, "true");
        assert!(!succeeded && said.contains("failed: "), "{script}, {commands:?}: {said}");
    }
}

#[test]
fn every_script_builds_what_is_locked_and_none_follows_settings() {
    for entry in fs::read_dir(root().join(".ci")).expect("the scripts") {
        let path = entry.expect("a script").path();
        let script = fs::read_to_string(&path).expect("a text");
        let builds = |line: &&str| {
            ["build", "clippy", "doc", "run", "test"]
                .iter()
                .any(|verb| line.contains(&format!("cargo {verb} ")))
        };

        for line in script.lines().filter(builds) {
            assert!(line.contains("--locked"), "{}: {line}", path.display());
        }

        let runs_the_binary = script.contains("set -- \"$target/");

        assert!(!runs_the_binary || script.contains("unset \"${!TAS_@}\""), "{}", path.display());
    }
}
