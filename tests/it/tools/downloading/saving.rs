//! The selection of files, and their local names. Saved files equal the served files.

use std::{fs, time::SystemTime};

use jiff::Timestamp;
use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{
    NAMES, TOOL, all_of, failures, files_below, fixture, names_below, out, paths, player, served, with,
};

#[tokio::test]
async fn every_file_of_a_run_is_saved_byte_by_byte() {
    let mut session = fixture().open().await;
    let report = session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;
    let out = out(&session);
    let saved = files_below(&out);

    assert_eq!(saved.keys().collect::<Vec<_>>(), NAMES);

    let mut total = 0;
    for name in NAMES {
        let served = served(&session.service, &player(seed::RUN_FAILED, 1), name).await;
        assert!(saved[name] == served, "{name}");
        total += served.len();
    }

    assert_eq!(
        (&report["status"], &report["file_count"], &report["total_bytes"]),
        (&json!("downloaded"), &json!(NAMES.len()), &json!(total))
    );

    let destination = out.canonicalize().expect("a directory");

    assert_eq!(report["destination"], destination.to_str().expect("UTF-8"));

    let log = report["files"].as_array().expect("files").iter().find(|file| file["path"] == "agent.log");
    let expected = json!({
        "run_id": player(seed::RUN_FAILED, 1), "file_ref": "artifact:agent.log", "path": "agent.log",
        "size": saved["agent.log"].len(),
    });

    assert_eq!(log, Some(&expected));

    let run = session.host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await;
    let uploaded = run["players"][0]["artifacts"][0]["uploaded_at"].as_str().expect("a time");
    let uploaded: Timestamp = uploaded.parse().expect("ISO 8601");
    let modified = fs::metadata(out.join("agent.log")).and_then(|log| log.modified()).expect("a time");
    assert_eq!(modified, SystemTime::try_from(uploaded).expect("a time"));
}

#[tokio::test]
async fn several_players_get_folders() {
    let mut session = fixture().open().await;
    let report = session.host.succeed(TOOL, all_of(seed::RUN_TWO_PLAYERS)).await;

    assert_eq!(report["file_count"], 8);

    let saved = files_below(&session.root().join("out").join(seed::RUN_TWO_PLAYERS));
    for number in [1, 2] {
        // The run passed, so that it has no screenshot of a failed step.
        for name in NAMES.into_iter().filter(|name| !name.contains("step")) {
            let served = served(&session.service, &player(seed::RUN_TWO_PLAYERS, number), name).await;
            assert!(saved[&format!("player-{number}/{name}")] == served, "{number} {name}");
        }
    }

    assert_ne!(saved["player-1/agent.log"], saved["player-2/agent.log"]);
    assert_eq!((saved.len(), paths(&report).len()), (8, 8));
}

#[tokio::test]
async fn a_run_without_files_and_an_unknown_run_create_no_directory() {
    let mut session = fixture().open().await;
    let report = session.host.succeed(TOOL, all_of(seed::RUN_RUNNING)).await;
    assert_eq!((&report["status"], &report["file_count"]), (&json!("downloaded"), &json!(0)));
    let hint = report["hint"].as_str().expect("a hint");
    assert!(hint.contains("the run has no files; its state is"), "{report}");

    assert_eq!(session.host.fail(TOOL, all_of("nosuchrun01")).await["code"], "not_found");
    assert!(!session.root().join("out").exists());
}

#[tokio::test]
async fn an_empty_file_is_saved() {
    let mut session = fixture().open().await;
    let mut run = session.host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await;
    run["players"][0]["artifacts"] = json!([{"filename": "empty.txt", "url": Value::Null, "size": 0}]);
    session.service.fault(json!({"operation": "get_run", "body": run})).await;

    let empty =
        json!({"operation": "get_run_artifact", "status": 200, "body": "", "content_type": "text/plain"});
    session.service.fault(empty).await;
    session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    let saved = files_below(&out(&session));

    assert_eq!((saved.len(), saved["empty.txt"].len()), (1, 0));
}

#[tokio::test]
async fn patterns_select_files_by_name() {
    let cases: [(&[&str], &[&str]); 11] = [
        (&["*.png"], &["screenshots/end.png", "screenshots/step-2.png"]),
        (&["agent.log", "*.mp4"], &["agent.log", "recording.mp4"]),
        (&["deliverables/*"], &["deliverables/report.json"]),
        (&["**/*"], &NAMES),
        (&["**"], &NAMES),
        (&["/*.png"], &[]),
        (&["{agent,end}.*"], &["agent.log", "screenshots/end.png"]),
        (&["**/*.json"], &["deliverables/report.json"]),
        (&["?gent.lo?"], &["agent.log"]),
        (&["*/agent.log", "agent", "Agent.log", "*.lo", "scre*png/"], &[]),
        (&["deliverables/report.json", "*.json"], &["deliverables/report.json"]),
    ];

    for (patterns, expected) in cases {
        let mut session = fixture().open().await;
        let report = session.host.succeed(TOOL, with(seed::RUN_FAILED, json!({"patterns": patterns}))).await;
        assert_eq!(paths(&report), expected, "{patterns:?}");
        assert_eq!(names_below(&out(&session)), expected, "{patterns:?}");
        if expected.is_empty() {
            let none = "none of the run's 5 files matches: list them with `list_run_artifacts`";
            assert_eq!(report["hint"], none);
        }
    }
}

#[tokio::test]
async fn players_are_selected_by_number_or_id() {
    let id = player(seed::RUN_TWO_PLAYERS, 2);
    for (run, more, path) in [
        (seed::RUN_TWO_PLAYERS, json!({"players": [2]}), "player-2/agent.log"),
        // The files of a single player need no folder.
        (&id, json!({}), "agent.log"),
    ] {
        let mut session = fixture().open().await;
        let mut arguments = with(run, more);
        arguments["patterns"] = json!(["agent.log"]);
        let report = session.host.succeed(TOOL, arguments).await;
        assert_eq!(paths(&report), [path]);

        let saved = files_below(&session.root().join("out").join(seed::RUN_TWO_PLAYERS));
        assert_eq!(saved.keys().collect::<Vec<_>>(), [path]);
        assert!(saved[path] == served(&session.service, &id, "agent.log").await);
    }
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

    let saved = files_below(&session.root().join("out").join(seed::RUN_TWO_PLAYERS));

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

    let broken = with(seed::RUN_FAILED, json!({"patterns": ["[a"]}));

    assert!(session.host.violations(TOOL, broken).await[0].starts_with("patterns.0: is not a pattern: "));

    let zero = with(seed::RUN_FAILED, json!({"players": [0]}));

    assert_eq!(session.host.violations(TOOL, zero).await, ["players.0: must be 1 or more, got 0"]);
    assert_eq!(session.service.requests().await, [""; 0]);
}
