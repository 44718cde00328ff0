//! Files that exist before a download.

use std::fs;

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{
    DirectDownload, NAMES, TOOL, all_of, failures, files_below, fixture, names_below, out, player, served,
    with,
};

#[tokio::test]
async fn saved_files_are_not_downloaded_again() {
    let mut session = fixture().open().await;
    let first = session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;
    // Each further call needs one request for the list of files.
    let before = session.service.requests().await.len();

    for overwrite in [false, true] {
        let arguments = with(seed::RUN_FAILED, json!({"overwrite": overwrite, "confirm": overwrite}));
        let again = session.host.succeed(TOOL, arguments).await;
        assert_eq!((&again["status"], &again["total_bytes"]), (&json!("downloaded"), &first["total_bytes"]));
        assert!(again["files"].as_array().expect("files").iter().all(|file| file["kept"] == true), "{again}");
    }

    assert_eq!(session.service.requests().await.len(), before + 2, "only the run is requested");
    assert_eq!(names_below(&out(&session)), NAMES);
}

#[tokio::test]
async fn another_file_is_replaced_only_with_overwrite_and_an_agreement() {
    let mut session = fixture().open().await;
    let log = served(&session.service, &player(seed::RUN_FAILED, 1), "agent.log").await;
    let (out, mine) = (out(&session), vec![b'x'; log.len()]);

    fs::create_dir_all(&out).expect("a directory");
    // A file of another size, and a file of the same size that was not downloaded.
    for content in [b"mine".to_vec(), mine] {
        fs::write(out.join("agent.log"), &content).expect("a file");
        let report = session.host.succeed(TOOL, with(seed::RUN_FAILED, json!({"confirm": true}))).await;
        let failed = failures(&report);

        assert_eq!(
            (failed.len(), failed[0].0.as_str(), failed[0].1.as_str()),
            (1, "artifact:agent.log", "file_error")
        );
        assert!(
            report["failed"][0]["hint"].as_str().expect("a hint").contains("`overwrite: true`"),
            "{report}"
        );
        assert_eq!(
            (&report["status"], &report["file_count"]),
            (&json!("incomplete"), &json!(NAMES.len() - 1))
        );
        assert!(files_below(&out)["agent.log"] == content);
    }

    let refused = session.host.fail(TOOL, with(seed::RUN_FAILED, json!({"overwrite": true}))).await;
    assert!(refused.to_string().contains("in place of what is there"), "{refused}");
    let agreed = with(seed::RUN_FAILED, json!({"overwrite": true, "confirm": true}));
    let report = session.host.succeed(TOOL, agreed).await;

    assert_eq!((&report["status"], &report["file_count"]), (&json!("downloaded"), &json!(NAMES.len())));
    assert!(files_below(&out)["agent.log"] == log);
    assert_eq!(names_below(&out), NAMES);
}

#[tokio::test]
async fn nothing_is_written_beside_files_of_others_without_an_agreement() {
    let mut session = fixture().open().await;
    fs::create_dir_all(out(&session)).expect("a directory");
    fs::write(out(&session).join("mine.py"), "mine").expect("a file");

    let refused = session.host.fail(TOOL, all_of(seed::RUN_FAILED)).await;
    assert_eq!(refused["code"], "confirmation_required", "{refused}");
    assert_eq!(names_below(&out(&session)), ["mine.py"]);
    assert!(session.service.requests().await.is_empty());
}

#[tokio::test]
async fn a_directory_is_never_replaced() {
    let mut session = fixture().open().await;
    let path = out(&session).join("agent.log");
    fs::create_dir_all(&path).expect("a directory");

    let agreed = with(seed::RUN_FAILED, json!({"overwrite": true, "confirm": true}));
    let report = session.host.succeed(TOOL, agreed).await;

    assert!(failures(&report)[0].2.ends_with("is a directory"), "{report}");
    assert!(path.is_dir());
}

#[tokio::test]
async fn a_file_created_during_the_download_is_not_replaced() {
    let mut session = fixture().open().await;
    let out = out(&session);
    session.service.fault(json!({"operation": "get_run_artifact", "delay_ms": 60_000})).await;

    let arguments = with(seed::RUN_FAILED, json!({"patterns": ["agent.log"]}));
    let call = session.host.start("tools/call", json!({"name": TOOL, "arguments": arguments})).await;
    while !session.service.requests().await.iter().any(|line| line.contains("/artifacts/")) {
        tokio::task::yield_now().await;
    }
    fs::write(out.join("agent.log"), "mine").expect("a file");
    session.service.release().await;

    let answer = session.host.answer(call).await["result"].to_string();
    assert!(answer.contains("was created by another program"), "{answer}");
    assert_eq!(files_below(&out)["agent.log"], b"mine");
    assert_eq!(names_below(&out), ["agent.log"], "no temporary file is left");
}

/// Lets the service list the files of the failed run without times.
async fn remove_upload_times(download: &DirectDownload) {
    let address = format!("{}/runs/{}", download.session.service.base_url(), seed::RUN_FAILED);
    let mut run: Value =
        serde_json::from_slice(&download.session.service.fetch(&address, keys::DEMO).await).expect("JSON");

    for file in run["players"][0]["artifacts"].as_array_mut().expect("files") {
        file.as_object_mut().expect("a file").retain(|name, _| !name.starts_with("uploaded"));
    }

    download.fault("get_run", json!({"body": run})).await;
}

#[tokio::test]
async fn a_file_of_unknown_time_is_kept_only_without_overwrite() {
    let download = DirectDownload::open(fixture()).await;
    let mine = vec![b'x'; download.served("agent.log").await.len()];
    fs::create_dir(download.out()).expect("a directory");
    fs::write(download.out().join("agent.log"), &mine).expect("a file");

    for overwrite in [false, true] {
        remove_upload_times(&download).await;
        let arguments = with(seed::RUN_FAILED, json!({"patterns": ["agent.log"], "overwrite": overwrite}));
        let report = download.run(arguments).await.expect("a report");
        assert_eq!(report.files[0].kept, !overwrite);
        assert_eq!(files_below(&download.out())["agent.log"] == mine, !overwrite);
    }
}
