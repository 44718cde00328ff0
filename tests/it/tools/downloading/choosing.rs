//! The selection of files, and their local names.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{TOOL, failures, files_below, fixture, names_below, paths, player, served};

/// Returns the arguments that save files of a run, with further arguments.
fn with(run: &str, more: Value) -> Value {
    let mut arguments = super::all_of(run);
    let Value::Object(more) = more else { panic!("not an object") };
    arguments.as_object_mut().expect("an object").extend(more);
    arguments
}

#[tokio::test]
async fn patterns_select_files_by_name() {
    let cases: [(&[&str], &[&str]); 8] = [
        (&["*.png"], &["screenshots/end.png", "screenshots/step-2.png"]),
        (&["agent.log", "*.mp4"], &["agent.log", "recording.mp4"]),
        (&["deliverables/*"], &["deliverables/report.json"]),
        (&["**/*"], &super::NAMES),
        (&["**/*.json"], &["deliverables/report.json"]),
        (&["?gent.lo?"], &["agent.log"]),
        (&["*/agent.log", "agent", "Agent.log", "*.lo", "scre*png/"], &[]),
        (&["deliverables/report.json", "*.json"], &["deliverables/report.json"]),
    ];

    for (patterns, expected) in cases {
        let mut session = fixture().open().await;
        let report = session.host.succeed(TOOL, with(seed::RUN_FAILED, json!({"patterns": patterns}))).await;
        let mut found = paths(&report);
        // Files are reported in the order in which their downloads end.
        found.sort_unstable();

        assert_eq!(found, expected, "{patterns:?}");
        assert_eq!(names_below(&session.root().join("out")), expected, "{patterns:?}");
    }
}

#[tokio::test]
async fn a_pattern_without_matches_is_reported() {
    let mut session = fixture().open().await;
    let report = session.host.succeed(TOOL, with(seed::RUN_FAILED, json!({"patterns": ["*.wav"]}))).await;
    assert_eq!(report["hint"], "none of the run's 5 files matches: list them with `list_run_artifacts`");
}

#[tokio::test]
async fn players_are_selected_by_number_and_keep_their_folders() {
    let mut session = fixture().open().await;
    let only = json!({"players": [2], "patterns": ["agent.log"]});
    let report = session.host.succeed(TOOL, with(seed::RUN_TWO_PLAYERS, only)).await;
    assert_eq!(paths(&report), ["player-2/agent.log"]);
    assert_eq!(names_below(&session.root().join("out")), ["player-2/agent.log"]);
}

#[tokio::test]
async fn files_of_a_single_player_have_no_folder() {
    let mut session = fixture().open().await;
    let id = player(seed::RUN_TWO_PLAYERS, 2);
    let report = session.host.succeed(TOOL, with(&id, json!({"patterns": ["agent.log"]}))).await;
    assert_eq!(paths(&report), ["agent.log"]);
    let saved = files_below(&session.root().join("out"));
    assert!(saved["agent.log"] == served(&session.service, &id, "agent.log").await);
}

#[tokio::test]
async fn a_missing_player_is_not_found() {
    let mut session = fixture().open().await;
    for arguments in [
        with(seed::RUN_TWO_PLAYERS, json!({"players": [1, 3]})),
        with(&player(seed::RUN_FAILED, 3), json!({})),
    ] {
        let error = session.host.fail(TOOL, arguments).await;
        assert_eq!(error["code"], "not_found");
        assert!(error["message"].as_str().expect("a message").ends_with("has no player 3"), "{error}");
    }

    assert!(!session.root().join("out").exists());
}

#[tokio::test]
async fn single_files_can_be_saved_under_other_names() {
    let mut session = fixture().open().await;
    let ids = [player(seed::RUN_TWO_PLAYERS, 1), player(seed::RUN_TWO_PLAYERS, 2)];
    let files = json!([
        {"run_id": ids[0], "file_ref": "artifact:agent.log", "relative_path": "logs/one.log"},
        {"run_id": ids[1], "file_ref": "artifact:screenshots/end.png"},
        {"run_id": ids[1], "file_ref": "artifact:missing.txt"},
    ]);
    let report = session.host.succeed(TOOL, with(seed::RUN_TWO_PLAYERS, json!({"files": files}))).await;

    assert_eq!(
        (&report["status"], paths(&report)),
        (&json!("incomplete"), vec!["logs/one.log", "player-2/screenshots/end.png"])
    );

    let failed = failures(&report);

    assert_eq!(
        (failed.len(), failed[0].0.as_str(), failed[0].1.as_str()),
        (1, "artifact:missing.txt", "not_found")
    );

    let saved = files_below(&session.root().join("out"));

    assert!(saved["logs/one.log"] == served(&session.service, &ids[0], "agent.log").await);
    assert!(
        saved["player-2/screenshots/end.png"]
            == served(&session.service, &ids[1], "screenshots/end.png").await
    );
}

#[tokio::test]
async fn invalid_arguments_are_refused_before_any_request() {
    let mut session = fixture().open().await;
    let id = player(seed::RUN_FAILED, 1);
    let file = |run_id: &str, file_ref: &str, path: &str| json!({"run_id": run_id, "file_ref": file_ref, "relative_path": path});
    let files = json!([
        file(seed::RUN_FAILED, "artifact:a", "a"),
        file("other-1", "artifact:a", "b"),
        file(&id, "agent.log", "c"),
        file(&id, "artifact:", "d"),
        file(&id, "artifact:a", "../a"),
        file(&id, "artifact:a", "/a"),
        file(&id, "artifact:a", "nul.txt"),
    ]);

    let expected = [
        format!("files.0.run_id: must be the id of a player of `{}`", seed::RUN_FAILED),
        format!("files.1.run_id: must be the id of a player of `{}`", seed::RUN_FAILED),
        "files.2.file_ref: must be `artifact:<path>`".to_owned(),
        "files.3.file_ref: must be `artifact:<path>`".to_owned(),
        "files.4.relative_path: is not a valid name: it has the segment `..`".to_owned(),
        "files.5.relative_path: is not a valid name: it is absolute".to_owned(),
        "files.6.relative_path: is not a valid name: it has a segment that Windows takes for a device"
            .to_owned(),
    ];

    assert_eq!(
        session.host.violations(TOOL, with(seed::RUN_FAILED, json!({"files": files}))).await,
        expected
    );

    let both = with(seed::RUN_FAILED, json!({"files": [], "players": [1], "patterns": ["*"]}));

    assert_eq!(session.host.violations(TOOL, both).await.len(), 2);

    let zero = with(seed::RUN_FAILED, json!({"players": [0]}));

    assert_eq!(session.host.violations(TOOL, zero).await, ["players.0: must be 1 or more, got 0"]);
    assert_eq!(session.service.requests().await, [""; 0]);
}
