//! Saved files equal the served files.

use std::{fs, time::SystemTime};

use jiff::Timestamp;
use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{NAMES, TOOL, all_of, files_below, fixture, names_below, paths, player, served};

#[tokio::test]
async fn every_file_of_a_run_is_saved_byte_by_byte() {
    let mut session = fixture().open().await;
    let report = session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;
    let out = session.root().join("out");
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
}

#[tokio::test]
async fn several_players_get_folders() {
    let mut session = fixture().open().await;
    let report = session.host.succeed(TOOL, all_of(seed::RUN_TWO_PLAYERS)).await;

    assert_eq!(report["file_count"], 8);

    let saved = files_below(&session.root().join("out"));
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
async fn a_file_has_the_time_at_which_it_was_uploaded() {
    let mut session = fixture().open().await;
    let run = session.host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await;
    let uploaded = run["players"][0]["artifacts"][0]["uploaded_at"].as_str().expect("a time");
    let uploaded: Timestamp = uploaded.parse().expect("ISO 8601");

    session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;
    let saved = fs::metadata(session.root().join("out/agent.log")).expect("a file");

    assert_eq!(saved.modified().expect("a time"), SystemTime::try_from(uploaded).expect("a time"));
}

#[tokio::test]
async fn a_run_without_files_creates_no_directory() {
    let mut session = fixture().open().await;
    let report = session.host.succeed(TOOL, all_of(seed::RUN_RUNNING)).await;

    assert_eq!((&report["status"], &report["file_count"]), (&json!("downloaded"), &json!(0)));
    assert!(
        report["hint"].as_str().expect("a hint").contains("the run has no files; its state is"),
        "{report}"
    );
    assert!(!session.root().join("out").exists());
}

#[tokio::test]
async fn an_unknown_run_is_not_found_and_creates_nothing() {
    let mut session = fixture().open().await;
    assert_eq!(session.host.fail(TOOL, all_of("nosuchrun01")).await["code"], "not_found");
    assert_eq!(names_below(session.root()), [""; 0]);
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

    let saved = files_below(&session.root().join("out"));

    assert_eq!((saved.len(), saved["empty.txt"].len()), (1, 0));
}

#[tokio::test]
async fn the_annotations_of_the_tool_say_that_it_writes() {
    let mut session = fixture().open().await;
    let tools = session.host.request("tools/list", json!({})).await["result"]["tools"].clone();
    let hints = |name: &str| {
        let tool =
            tools.as_array().expect("tools").iter().find(|tool| tool["name"] == name).expect("the tool");
        ["readOnlyHint", "destructiveHint", "idempotentHint"].map(|hint| tool["annotations"][hint] == true)
    };

    assert_eq!(hints(TOOL), [false, true, true], "it replaces files with `overwrite`");
}
