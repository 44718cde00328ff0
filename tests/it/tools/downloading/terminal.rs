//! `tas-mcp download`.

use std::path::Path;

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{NAMES, files_below, names_below, player, served};
use crate::support::{binary::binary, service::Service};

/// Runs `download` in a directory. Returns the exit code, the printed report and the error.
async fn download(
    service: &Service,
    directory: &Path,
    arguments: &[&str],
    more: &[(&str, &str)],
) -> (Option<i32>, Value, Value) {
    let (base_url, knowledge_url) = (service.base_url(), service.knowledge_url());
    let own = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_KNOWLEDGE_URL", knowledge_url.as_str()),
        ("TAS_API_KEY", keys::DEMO),
    ];
    let arguments: Vec<_> =
        std::iter::once("download").chain(arguments.iter().copied()).chain(["--json"]).collect();
    let mut command = binary(&arguments, &[&own, more].concat());
    let output = command.current_dir(directory).output().await.expect("an output");
    let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();

    (output.status.code(), json(&output.stdout), json(&output.stderr)["error"].clone())
}

#[tokio::test]
async fn the_default_directory_is_the_run_id_and_the_report_is_json() {
    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    let (code, report, error) = download(&service, directory.path(), &[seed::RUN_FAILED], &[]).await;

    assert_eq!((code, &report["status"], error), (Some(0), &json!("downloaded"), Value::Null));

    let saved = files_below(&directory.path().join(seed::RUN_FAILED));

    assert_eq!(saved.keys().collect::<Vec<_>>(), NAMES);
    for name in NAMES {
        assert!(saved[name] == served(&service, &player(seed::RUN_FAILED, 1), name).await, "{name}");
    }
}

#[tokio::test]
async fn flags_select_files_and_destination() {
    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    let elsewhere = tempfile::tempdir().expect("a directory");
    let to = elsewhere.path().join("a/b");
    let to = to.to_str().expect("UTF-8");
    let arguments = [
        seed::RUN_THREE_PLAYERS,
        "--to",
        to,
        "--player",
        "1",
        "--player",
        "3",
        "--pattern",
        "*.log",
        "--pattern",
        "*.png",
    ];

    let (code, report, _) = download(&service, directory.path(), &arguments, &[]).await;

    assert_eq!((code, &report["file_count"]), (Some(0), &json!(4)));

    let expected = [
        "player-1/agent.log",
        "player-1/screenshots/end.png",
        "player-3/agent.log",
        "player-3/screenshots/end.png",
    ];

    assert_eq!(names_below(Path::new(to)), expected);
    assert_eq!(names_below(directory.path()), [""; 0]);
}

#[tokio::test]
async fn a_files_root_confines_the_command_line_too() {
    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    let root = directory.path().join("root");
    std::fs::create_dir(&root).expect("a directory");

    let bound = [("TAS_FILES_ROOT", root.to_str().expect("UTF-8"))];
    let outside = directory.path().join("out");

    for to in [outside.to_str().expect("UTF-8"), "../out"] {
        let (code, _, error) =
            download(&service, directory.path(), &[seed::RUN_FAILED, "--to", to], &bound).await;
        assert_eq!((code, &error["code"]), (Some(2), &json!("file_error")));
    }

    assert!(service.requests().await.is_empty() && !outside.exists());

    let (code, ..) = download(&service, directory.path(), &[seed::RUN_FAILED, "--to", "out"], &bound).await;

    assert_eq!((code, names_below(&root.join("out")).len()), (Some(0), NAMES.len()));
}

#[tokio::test]
async fn existing_files_are_kept_without_the_overwrite_flag() {
    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    let log = directory.path().join("agent.log");
    std::fs::write(&log, "mine").expect("a file");

    let arguments = [seed::RUN_FAILED, "--to", "."];
    let (code, report, _) = download(&service, directory.path(), &arguments, &[]).await;

    assert_eq!((code, &report["status"]), (Some(1), &json!("incomplete")));

    let alone = [&arguments[..], &["--pattern", "agent.log"]].concat();
    let (code, _, error) = download(&service, directory.path(), &alone, &[]).await;

    assert_eq!(
        (code, &error["code"]),
        (Some(1), &json!("file_error")),
        "the exit code 2 would mean that nothing was sent"
    );
    assert_eq!(std::fs::read(&log).expect("a file"), b"mine");

    let overwriting = [&arguments[..], &["--overwrite"]].concat();
    assert_eq!(download(&service, directory.path(), &overwriting, &[]).await.0, Some(0));
    assert_ne!(std::fs::read(&log).expect("a file"), b"mine");
}

#[tokio::test]
async fn an_installer_is_saved_in_the_named_directory() {
    const NAME: &str = "tools/minion-2.8.1-darwin-aarch64.zip";

    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    let arguments = ["minion", "--platform", "darwin-aarch64", "--to", "tools"];
    service.fault(json!({"operation": "get_file", "cut": 10})).await;
    let (code, saved, _) = download(&service, directory.path(), &arguments, &[]).await;

    assert_eq!((code, &saved["status"], &saved["size"]), (Some(0), &json!("downloaded"), &json!(22)));
    assert_eq!(names_below(directory.path()), [NAME]);
    let log = service.control("requests").await;
    let keys: Vec<_> = log["data"].as_array().expect("a list").iter().map(|one| one["key"].clone()).collect();
    assert_eq!(keys, [json!("key_demo"), Value::Null, Value::Null]);

    std::fs::write(directory.path().join(NAME), "mine").expect("a file");
    let (code, _, error) = download(&service, directory.path(), &arguments, &[]).await;
    assert_eq!((code, &error["code"]), (Some(1), &json!("file_error")));
    assert_eq!(files_below(directory.path())[NAME], b"mine");

    let overwriting = [&arguments[..], &["--overwrite"]].concat();
    assert_eq!(download(&service, directory.path(), &overwriting, &[]).await.0, Some(0));
    assert!(files_below(directory.path())[NAME].starts_with(b"PK"));

    service.fault(json!({"operation": "get_file", "status": 404})).await;
    let (code, _, error) = download(&service, directory.path(), &overwriting, &[]).await;
    assert_eq!((code, &error["code"], &error["status"]), (Some(1), &json!("rejected"), &json!(404)));

    let unknown = download(&service, directory.path(), &["minion", "--platform", "linux"], &[]).await;
    assert_eq!(unknown.0, Some(2));
}

#[tokio::test]
async fn an_installer_whose_name_leads_elsewhere_is_not_saved() {
    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    for last in ["..%2Fevil", "%2e%2e", "", "nul.exe", "a%5Cb", "a%00b", ".x.part", "%2Fetc%2Fpasswd"] {
        let address = format!("https://storage.example/files/{last}?signature=s");
        let redirect =
            json!({"operation": "get_minion_download", "status": 302, "headers": {"location": address}});
        service.fault(redirect).await;
        let arguments = ["minion", "--platform", "darwin-aarch64"];
        let (code, _, error) = download(&service, directory.path(), &arguments, &[]).await;
        assert_eq!((code, &error["code"]), (Some(3), &json!("bad_response")), "{last}: {error}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains("nothing was saved")), "{error}");
    }
    assert!(names_below(directory.path()).is_empty());
}

#[tokio::test]
async fn the_exit_code_shows_the_outcome() {
    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    let not_found = json!({"operation": "get_run_artifact", "status": 404});
    service.fault(not_found).await;

    let (code, report, _) = download(&service, directory.path(), &[seed::RUN_FAILED], &[]).await;

    assert_eq!((code, &report["status"]), (Some(1), &json!("incomplete")));

    let (code, _, error) = download(&service, directory.path(), &["nosuchrun01"], &[]).await;

    assert_eq!((code, &error["code"]), (Some(1), &json!("not_found")));

    service.fault(json!({"operation": "get_run", "status": 500})).await;
    let (code, _, error) = download(&service, directory.path(), &[seed::RUN_FAILED], &[]).await;

    assert_eq!((code, &error["code"]), (Some(3), &json!("service_unavailable")));
}

/// On the command line a person chooses the directory. Only calls of a model need a root.
#[tokio::test]
async fn a_directory_outside_the_working_directory_is_accepted_without_a_root() {
    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    let working = directory.path().join("working");
    std::fs::create_dir(&working).expect("a directory");

    let (code, report, error) =
        download(&service, &working, &[seed::RUN_FAILED, "--to", "../out"], &[]).await;

    assert_eq!((code, &report["status"], error), (Some(0), &json!("downloaded"), Value::Null));
    assert_eq!(names_below(&directory.path().join("out")), NAMES);
}
