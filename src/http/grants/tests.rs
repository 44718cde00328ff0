use std::fs;

use serde_json::json;

use super::*;

/// A directory with a key and a file of grants.
fn directory_with(grants: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("demo.key"), "svc_demo_key\n").expect("a key");
    fs::write(directory.path().join("grants.toml"), grants).expect("a file");
    directory
}

fn open(directory: &tempfile::TempDir) -> Result<GrantsFile, String> {
    GrantsFile::open(directory.path().join("grants.toml")).map_err(|error| error.to_string())
}

/// Returns the number of grants for a person of these groups.
fn grants_of(file: &GrantsFile, groups: &[&str]) -> usize {
    let claims = serde_json::from_value(json!({"sub": "a", "groups": groups})).expect("claims");
    file.of_person(&claims).len()
}

const QA: &str = "[[grant]]\nclaim = \"groups\"\nvalue = \"qa\"\nkey_file = \"demo.key\"\n";

#[test]
fn a_person_has_the_grants_that_name_a_group_of_the_person() {
    let limited = format!("{QA}projects = [\"demo\"]\npermissions = [\"project:read-runs\"]\n{QA}");
    let file = open(&directory_with(&limited)).expect("usable grants");

    assert_eq!(grants_of(&file, &["qa", "dev"]), 2);
    assert_eq!(grants_of(&file, &["dev"]), 0);
}

#[test]
fn every_problem_of_a_file_is_reported() {
    let text = "[[grant]]\nclaim = \"\"\nvalue = \"qa\"\nkey_file = \"missing.key\"\npermissions = [\"project:read-run\"]\n[[grant]]\nclaim = \"a\"\nvalue = \"b\"\nkey_file = \"demo.key\"\nprojects = []\n";
    let problem = open(&directory_with(text)).expect_err("unusable grants");

    for expected in [
        "grant 1: `claim` is empty",
        "grant 1: `key_file` names a file that cannot be read",
        "unknown permission `project:read-run` (nearest: `project:read-runs`)",
        "grant 2: `projects` is empty",
    ] {
        assert!(problem.contains(expected), "{expected} is not in {problem}");
    }
}

#[test]
fn a_file_without_grants_or_with_an_unknown_field_is_refused() {
    for text in ["", "[[grants]]\n", &format!("{QA}project = \"demo\"\n")] {
        assert!(open(&directory_with(text)).is_err(), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_file_counts_and_a_broken_one_changes_nothing() {
    let directory = directory_with(QA);
    let file = open(&directory).expect("usable grants");
    let path = directory.path().join("grants.toml");

    fs::write(&path, "[[grant]]\nclaim = ").expect("a file");
    tokio::time::advance(CHECK_PAUSE).await;
    assert_eq!(grants_of(&file, &["qa"]), 1, "the file is broken");

    fs::write(&path, QA.replace("qa", "dev")).expect("a file");
    assert_eq!(grants_of(&file, &["qa"]), 1, "the last check is recent");
    tokio::time::advance(CHECK_PAUSE).await;
    assert_eq!((grants_of(&file, &["qa"]), grants_of(&file, &["dev"])), (0, 1));
}
