//! `tas-mcp skills export`.

use std::{fs, path::Path};

use serde_json::Value;

use crate::support::binary::run_binary;

/// Exports to a folder. Returns the exit code, the outcomes by file, and standard error.
async fn export(
    directory: &Path,
    more: &[&str],
    variables: &[(&str, &str)],
) -> (Option<i32>, Vec<(String, String)>, String) {
    let directory = directory.to_str().expect("UTF-8");
    let output = run_binary(&[&["skills", "export", directory], more].concat(), variables, &[]).await;
    let shown: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let outcomes = shown.iter().map(|one| (text(&one["file"]), text(&one["outcome"])));
    (output.status.code(), outcomes.collect(), String::from_utf8(output.stderr).expect("UTF-8"))
}

#[tokio::test]
async fn each_skill_becomes_a_folder_that_needs_no_account() {
    let directory = tempfile::tempdir().expect("a directory");
    let target = directory.path().join("new/skills");
    let (code, outcomes, errors) = export(&target, &[], &[]).await;

    assert_eq!((code, outcomes.len(), errors.as_str()), (Some(0), 7, ""));
    for (file, outcome) in &outcomes {
        let text = fs::read_to_string(file).expect("a file");
        assert!(outcome == "written" && !text.contains("tool:"), "{file}");
        if file.ends_with("SKILL.md") {
            let folder = Path::new(file).parent().and_then(Path::file_name).expect("a folder");
            assert!(text.starts_with(&format!("---\nname: {}\n", folder.to_str().expect("UTF-8"))), "{text}");
        }
    }

    let (code, outcomes, _) = export(&target, &[], &[]).await;
    assert_eq!(code, Some(0));
    assert!(outcomes.iter().all(|(_, outcome)| outcome == "unchanged"), "{outcomes:?}");
}

#[tokio::test]
async fn a_file_with_another_content_is_replaced_only_by_force() {
    let directory = tempfile::tempdir().expect("a directory");
    let own = directory.path().join("triage-run/SKILL.md");
    fs::create_dir(directory.path().join("triage-run")).expect("a folder");
    fs::write(&own, "mine").expect("written");

    let (code, _, errors) = export(directory.path(), &[], &[]).await;
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("triage-run/SKILL.md") && errors.contains("--force"), "{errors}");
    assert_eq!(fs::read_to_string(&own).expect("a file"), "mine");
    let folders = fs::read_dir(directory.path()).expect("a folder").count();
    assert_eq!(folders, 1, "nothing else was written");

    let (code, outcomes, _) = export(directory.path(), &["--force"], &[]).await;
    assert_eq!(code, Some(0));
    let replaced: Vec<_> = outcomes.iter().filter(|(_, outcome)| outcome == "replaced").collect();
    assert_eq!(replaced.len(), 1, "{outcomes:?}");
    assert!(fs::read_to_string(&own).expect("a file").starts_with("---"));
}

#[tokio::test]
async fn only_the_skills_of_offered_tools_are_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let (code, outcomes, _) = export(directory.path(), &[], &[("TAS_READ_ONLY", "true")]).await;
    assert_eq!((code, outcomes.len()), (Some(0), 3), "{outcomes:?}");

    for (file, _) in outcomes {
        let text = fs::read_to_string(file).expect("a file");
        assert!(!text.contains("`update_test`") && !text.contains("`start_run`"), "{text}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_place_that_is_no_file_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(directory.path().join("triage-run/SKILL.md")).expect("a folder");
    let (code, _, errors) = export(directory.path(), &["--force"], &[]).await;
    assert_eq!(code, Some(2));
    assert!(errors.contains("triage-run/SKILL.md") && errors.contains("regular file"), "{errors}");
}
