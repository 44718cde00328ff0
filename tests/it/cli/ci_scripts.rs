//! The scripts in `.ci` skip no check in CI, and build with the locked dependencies.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

/// Commands that exist on every system. The scripts use them before they check for other commands.
const ALWAYS_THERE: [&str; 4] = ["bash", "dirname", "mkdir", "realpath"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the path of a command.
fn path_of(command: &str) -> String {
    let output = Command::new("sh").args(["-c", &format!("command -v {command}")]).output().expect("a shell");
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

/// Runs a script in an environment that has only these commands. Returns whether it succeeded, and its output.
fn run(script: &str, commands: &[&str], ci: &str) -> (bool, String) {
    let directory = tempfile::tempdir().expect("a directory");
    for command in ALWAYS_THERE {
        symlink(path_of(command), directory.path().join(command)).expect("a link");
    }

    for command in commands {
        symlink(path_of("true"), directory.path().join(command)).expect("a link");
    }

    let mut bash = Command::new(directory.path().join("bash"));
    bash.arg(root().join(".ci").join(script)).arg(env!("CARGO_BIN_EXE_tas-mcp"));

    let target = directory.path().join("target");
    let output = bash.env("PATH", directory.path()).env("CI", ci).env("CARGO_TARGET_DIR", target).output();
    let output = output.expect("an end");
    let text = [output.stdout, output.stderr].concat();

    (output.status.success(), String::from_utf8(text).expect("UTF-8"))
}

#[test]
fn a_check_without_its_tools_is_skipped_but_fails_in_ci() {
    let cases: [(&str, &[&str]); 9] = [
        ("completions", &[]),
        ("pages", &[]),
        ("pages", &["node"]),
        ("pages", &["npm"]),
        ("clients", &[]),
        ("junit", &[]),
        ("dependencies", &[]),
        ("advisories", &[]),
        ("packages", &[]),
    ];

    for (script, commands) in cases {
        let (succeeded, output) = run(script, commands, "");

        assert!(succeeded && output.contains("skipped: "), "{script}, {commands:?}: {output}");

        let (succeeded, output) = run(script, commands, "true");

        assert!(!succeeded && output.contains("failed: "), "{script}, {commands:?}: {output}");
    }
}

#[test]
fn every_script_uses_locked_dependencies_and_unsets_the_settings() {
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
