//! The installer of Minions as a file.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use tas_mcp::{
    backoff::Backoff,
    sandbox::keys,
    service::api::minions::MinionPlatform,
    tools::{
        call_options::CallOptions,
        context::CallerWithFiles,
        download::{DownloadOptions, InstallerRequest},
        files::FilesRoot,
    },
};

use super::{files_below, fixture, names_below};
use crate::support::{fixture::Session, peer::Peer};

const TOOL: &str = "download_minion";
const NAME: &str = "minion-2.8.1-linux-x86_64.zip";

/// Returns the arguments that save the installer for Linux.
fn linux() -> Value {
    json!({"platform": "linux-x86_64", "destination_dir": "tools"})
}

/// Opens a session with a service that redirects to this address.
async fn open_with_redirect(location: &str) -> Session<Peer> {
    let head =
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
    fixture().open_with(Peer::answering(head).await).await
}

/// Starts a storage host that gives this answer.
async fn start_storage(head: &str, body: &str) -> Peer {
    Peer::answering(format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())).await
}

#[tokio::test]
async fn an_installer_is_saved_under_its_own_name_with_its_digest() {
    let mut session = fixture().open().await;
    let saved = session.host.succeed(TOOL, linux()).await;
    let files = files_below(session.root());

    assert_eq!(files.keys().collect::<Vec<_>>(), [&format!("tools/{NAME}")]);

    // An empty archive is 22 bytes: its end record (the ZIP format), here with the signature and 18 zeros.
    let empty = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();

    assert_eq!(files[&format!("tools/{NAME}")], empty);

    let path = session.root().canonicalize().expect("a directory").join("tools").join(NAME);
    let expected = json!({
        "status": "downloaded", "platform": "linux-x86_64", "path": path.to_str().expect("UTF-8"), "size": 22,
        "sha256": "8739c76e681f900923b900c9df0ef75cf421d39cabb54650c4b9ad19b6a76d85",
    });

    assert_eq!(saved, expected);

    let log = session.service.control("requests").await;
    let keys: Vec<_> = log["data"].as_array().expect("a list").iter().map(|one| one["key"].clone()).collect();

    assert_eq!(keys, [json!("key_demo"), Value::Null]);
}

#[tokio::test]
async fn the_default_platform_is_that_of_this_machine() {
    let mut session = fixture().open().await;
    let arguments = json!({"destination_dir": "."});
    let Some(here) = MinionPlatform::here() else {
        let rule = "platform: is required: there is no installer for the platform of this machine";
        assert_eq!(session.host.violations(TOOL, arguments).await, [rule]);
        return;
    };

    assert_eq!(session.host.succeed(TOOL, arguments).await["platform"], json!(here));
    assert_eq!(names_below(session.root()).len(), 1);
}

#[tokio::test]
async fn another_file_with_the_name_of_the_installer_is_replaced_only_with_overwrite() {
    let mut session = fixture().open().await;
    fs::create_dir(session.root().join("tools")).expect("a directory");
    fs::write(session.root().join("tools").join(NAME), "mine").expect("a file");

    let error = session.host.fail(TOOL, linux()).await;

    assert_eq!(error["code"], "file_error");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("overwrite: true")), "{error}");
    assert_eq!(files_below(session.root())[&format!("tools/{NAME}")], b"mine");
    assert_eq!(session.service.requests().await.len(), 2, "the existing installer is compared once");

    let mut overwriting = linux();
    overwriting["overwrite"] = json!(true);
    session.host.succeed(TOOL, overwriting).await;

    assert!(files_below(session.root())[&format!("tools/{NAME}")].starts_with(b"PK"));
}

#[tokio::test]
async fn a_saved_installer_is_kept_until_a_new_one_is_published() {
    for dates in [None, Some(["Mon, 02 Mar 2026 09:15:00 GMT", "Tue, 03 Mar 2026 09:15:00 GMT"])] {
        let mut session = fixture().open().await;
        let dated = async |place: usize| {
            if let Some(dates) = dates {
                let headers = json!({"last-modified": dates[place]});
                session.service.fault(json!({"operation": "get_file", "headers": headers})).await;
            }
        };
        dated(0).await;

        let mut saved = session.host.succeed(TOOL, linux()).await;
        dated(0).await;

        let again = session.host.succeed(TOOL, linux()).await;
        saved["kept"] = json!(true);

        assert_eq!(again, saved);

        dated(1).await;
        if dates.is_some() {
            assert_eq!(session.host.fail(TOOL, linux()).await["code"], "file_error");
        }
    }
}

#[tokio::test]
async fn an_expired_address_is_replaced_when_an_existing_installer_is_compared() {
    let mut session = fixture().open().await;
    session.host.succeed(TOOL, linux()).await;
    session.service.fault(json!({"operation": "get_file", "status": 403})).await;
    assert_eq!(session.host.succeed(TOOL, linux()).await["kept"], true);
}

#[tokio::test]
async fn redirects_are_followed_without_the_key() {
    let mut end = start_storage("200 OK", "installer").await;
    let mut middle =
        start_storage(&format!("302 Found\r\nlocation: http://{}/x?s=1", end.address()), "").await;
    let mut session =
        open_with_redirect(&format!("http://{}/minion.exe?signature=abc", middle.address())).await;

    session.host.succeed(TOOL, linux()).await;

    assert_eq!(files_below(session.root())["tools/minion.exe"], b"installer");
    for requests in [middle.requests(), end.requests()] {
        assert_eq!(requests.len(), 1);
        assert!(!requests[0].contains("x-api-key") && !requests[0].contains(keys::DEMO), "{requests:?}");
    }
}

#[tokio::test]
async fn a_redirect_to_plain_http_is_not_followed() {
    let middle = start_storage("302 Found\r\nlocation: http://storage.example/a?signature=abc", "").await;
    let mut session = open_with_redirect(&format!("http://{}/minion.exe", middle.address())).await;
    let error = session.host.fail(TOOL, linux()).await;
    assert_eq!(error["code"], "bad_response", "{error}");
    assert!(!error.to_string().contains("abc"), "{error}");
    assert_eq!(names_below(session.root()), [""; 0]);
}

#[tokio::test]
async fn an_installer_name_outside_the_destination_is_refused() {
    for last in ["..%2Fevil", "%2e%2e", "", "nul.exe", "a%5Cb", "a%00b", ".x.part", "%2Fetc%2Fpasswd"] {
        let storage = start_storage("200 OK", "installer").await;
        let mut session = open_with_redirect(&format!("http://{}/files/{last}", storage.address())).await;
        let error = session.host.fail(TOOL, linux()).await;
        assert_eq!(error["code"], "bad_response", "{last}: {error}");
        assert_eq!(names_below(session.root()), [""; 0], "{last}");
    }
}

#[tokio::test]
async fn a_refusal_of_the_storage_host_is_reported_and_leaves_nothing() {
    let mut session = fixture().open().await;
    session.service.fault(json!({"operation": "get_file", "status": 404})).await;

    let error = session.host.fail(TOOL, linux()).await;

    assert_eq!((&error["code"], &error["status"]), (&json!("not_found"), &json!(404)));
    assert_eq!(names_below(session.root()), [""; 0]);

    let mut session = fixture().key(keys::READ_ONLY).open().await;
    let error = session.host.fail(TOOL, linux()).await;

    assert_eq!(error["details"]["required_permission"], "project:manage-minions");
}

#[tokio::test]
async fn a_broken_download_of_an_installer_is_continued_with_a_new_address() {
    let session = fixture().open().await;
    for fault in [json!({"cut": 10}), json!({"status": 403}), json!({"reset": true})] {
        let mut fault = fault;
        fault["operation"] = json!("get_file");
        session.service.fault(fault).await;
    }

    let CallerWithFiles { caller, files } = session.tools();
    let destination =
        FilesRoot::new(session.root()).expect("a directory").destination("tools").expect("below");
    let options = DownloadOptions {
        backoff: Backoff::new(Duration::ZERO, Duration::ZERO, 1.0),
        ..DownloadOptions::default()
    };
    let request = InstallerRequest { project: None, platform: MinionPlatform::Linux, overwrite: false };
    let saved = request
        .run(&caller, &files.storage, &destination, &options, &CallOptions::silent())
        .await
        .expect("a file");

    assert_eq!((saved.status, saved.size), ("downloaded", Some(22)));

    let requests =
        session.service.requests().await.into_iter().filter(|line| line.contains("/minions/download"));

    assert_eq!(requests.count(), 4);
    assert_eq!(names_below(session.root()), [format!("tools/{NAME}")]);
}
