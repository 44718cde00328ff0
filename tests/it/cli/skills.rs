//! `tas-mcp skills` writes skills where an agent finds them, and keeps what somebody has edited.

use std::fs;

use clap::error::ErrorKind;
use serde_json::Value;
use tas_mcp::cli;

use super::home::Home;
use crate::support::binary::binary;

const FOLDER: &str = ".claude/skills";

async fn skills(home: &Home, arguments: &[&str]) -> Value {
    let command = [&["skills"], arguments, &["--host", "claude-code", "--json"]].concat();
    let end = home.run(&command, &[]).await;
    assert_eq!(end.code, Some(0), "{}", end.errors);
    let skills = end.printed["skills"].as_array().expect("skills").iter();
    skills.map(|skill| (skill["skill"].as_str().expect("a name"), skill["state"].clone())).collect()
}

/// Returns whether the program has the command and its flags.
fn is_known(command: &str) -> bool {
    let words = shlex::split(command).expect("words");
    let error = cli::program().try_get_matches_from(words).err();
    error.is_none_or(|error| {
        ![ErrorKind::UnknownArgument, ErrorKind::InvalidSubcommand].contains(&error.kind())
    })
}

#[tokio::test]
async fn an_installed_skill_names_commands_that_exist_and_no_tool() {
    let home = Home::new();
    let installed = skills(&home, &["install"]).await;

    for name in installed.as_object().expect("skills").keys() {
        let text = home.text(&format!("{FOLDER}/{name}/SKILL.md"));
        for rest in ["tool:", "argument:", "[[", "]]"] {
            assert!(!text.contains(rest), "{name}: {rest}: {text}");
        }
        let quoted: Vec<_> = text.split('`').skip(1).step_by(2).collect();
        let commands = quoted.iter().filter(|quoted| quoted.starts_with("tas-mcp ")).collect::<Vec<_>>();
        for command in commands.iter().filter(|command| !command.ends_with("COMMAND")) {
            assert!(is_known(command), "{name}: {command}");
        }
        for flag in quoted.iter().filter(|quoted| quoted.starts_with("--")) {
            let is_of_one = commands.iter().any(|command| is_known(&format!("{command} {flag}")));
            assert!(is_of_one, "{name}: {flag}");
        }
    }
}

#[tokio::test]
async fn what_somebody_has_edited_is_replaced_and_removed_only_by_force() {
    let home = Home::new();
    skills(&home, &["install"]).await;

    for edited in ["SKILL.md", "references/own.md"] {
        let edited = format!("{FOLDER}/triage-run/{edited}");
        fs::write(home.at(&edited), "mine").expect("written");
        assert_eq!(skills(&home, &["list"]).await["triage-run"], "edited");

        for action in ["install", "remove"] {
            let end = home.run(&["skills", action, "--host", "claude-code"], &[]).await;
            assert!(end.code == Some(2) && end.errors.contains("has written or edited"), "{}", end.errors);
            assert_eq!(home.text(&edited), "mine");
        }
        assert_eq!(skills(&home, &["install", "--force"]).await["triage-run"], "current");
    }
    // A link to the right text is not what was installed, either.
    let text = home.at(&format!("{FOLDER}/use-tas/SKILL.md"));
    fs::rename(&text, home.at("SKILL.md")).expect("moved");
    #[cfg(unix)]
    std::os::unix::fs::symlink(home.at("SKILL.md"), &text).expect("a link");
    assert_eq!(skills(&home, &["list"]).await["use-tas"], "edited");
}

#[tokio::test]
async fn skills_of_another_version_are_replaced_and_removed_unasked() {
    let home = Home::new();
    let at = |name: &str| home.at(&format!("{FOLDER}/{name}"));
    skills(&home, &["install"]).await;
    // The skill of another name stands for one of another version: its checksum is right, and its text differs.
    fs::remove_dir_all(at("nightly-report")).expect("removed");
    fs::rename(at("export-results"), at("nightly-report")).expect("renamed");

    let states = skills(&home, &["list"]).await;
    assert!(states["nightly-report"] == "outdated" && states["export-results"] == "absent", "{states}");
    assert_eq!(skills(&home, &["install"]).await["nightly-report"], "current");

    fs::write(at("other.md"), "of somebody").expect("written");
    skills(&home, &["remove"]).await;
    let left = fs::read_dir(at("")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["other.md"]);
}

#[tokio::test]
async fn skills_of_a_project_are_below_the_working_directory() {
    let home = Home::new();
    let project = tempfile::tempdir().expect("a directory");
    for (arguments, folder) in [(&["--project"][..], project.path().to_owned()), (&["--user"], home.at(""))] {
        let arguments = [&["skills", "install"], arguments].concat();
        let mut program = binary(&arguments, &home.variables(&[]));
        assert!(program.current_dir(&project).status().await.expect("an end").success());
        assert!(folder.join(".agents/skills/use-tas/SKILL.md").exists(), "{arguments:?}");
        fs::remove_dir_all(folder.join(".agents")).expect("removed");
    }

    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(home.at(""), project.path().join(".agents")).expect("a link");
        let mut program = binary(&["skills", "install", "--host", "zed", "--project"], &home.variables(&[]));
        assert_eq!(program.current_dir(&project).status().await.expect("an end").code(), Some(2));
    }
    let end = home.run(&["skills", "install", "--host", "codex", "--project", "--user"], &[]).await;
    assert!(end.code == Some(2) && end.errors.contains("cannot be used with '--user'"), "{}", end.errors);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_named() {
    let home = Home::new();
    fs::write(home.at(".agents"), "a file").expect("written");

    let end = home.run(&["skills", "install", "--host", "codex"], &[]).await;
    assert!(end.code == Some(2) && end.errors.contains(".agents/skills cannot be changed"), "{}", end.errors);
}
