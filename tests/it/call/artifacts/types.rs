//! Which files are shown as text.

use serde_json::{Value, json};

use super::{answering, answering_bytes, bytes_in_sandbox, file};
use crate::support::fixture::{Fixture, Session};

#[tokio::test]
async fn a_file_in_a_directory_is_found() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let report = host.succeed("get_run_artifact", file("deliverables/report.json")).await;
    let expected = bytes_in_sandbox(&service, "deliverables/report.json").await;
    assert_eq!(report["text"].as_str().map(str::as_bytes), Some(expected.as_slice()));
    let report: Value = serde_json::from_slice(&expected).expect("JSON");
    assert_eq!(report["result"], "FAILED");
}

#[tokio::test]
async fn text_is_recognized_by_its_type_and_its_bytes() {
    for (content_type, bytes, is_text) in [
        ("text/plain", "a".as_bytes(), true),
        ("TEXT/CSV; charset=utf-8", b"a,b", true),
        ("application/json", b"{}", true),
        ("application/problem+json", b"{}", true),
        ("application/yaml", b"a: b", true),
        ("application/xml", b"<a/>", true),
        ("image/svg+xml", b"<svg/>", true),
        ("application/octet-stream", "läuft".as_bytes(), true),
        ("", "läuft".as_bytes(), true),
        ("application/octet-stream", b"\x7fELF\0\0", false),
        ("application/octet-stream", b"\xff\xfe\xfd", false),
        ("text/plain", b"l\xe4uft", false),
        ("text/plain", b"a\0b\0", false),
        ("application/zip", b"plain all the same", false),
        ("video/mp4", b"plain all the same", false),
        ("image/png", b"plain all the same", false),
    ] {
        let (_peer, mut host) = answering(&format!("200 OK\r\ncontent-type: {content_type}"), bytes).await;
        let reply = host.succeed("get_run_artifact", file("a")).await;

        assert_eq!(reply["text"].is_string(), is_text, "{content_type} {bytes:?}: {reply}");
        if !is_text {
            assert_eq!((&reply["size"], &reply["content_type"]), (&json!(bytes.len()), &json!(content_type)));
            assert!(reply["hint"].as_str().expect("a hint").contains("`download_run_files`"), "{reply}");
        }
    }
}

#[tokio::test]
async fn pictures_and_videos_have_size_type_and_etag() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let listing = host.succeed("list_run_artifacts", json!({"run_id": super::player()})).await;

    for (name, content_type) in [("screenshots/end.png", "image/png"), ("recording.mp4", "video/mp4")] {
        let reply = host.succeed("get_run_artifact", file(name)).await;
        let listed = listing["artifacts"].as_array().expect("files");
        let listed = listed.iter().find(|one| one["filename"] == name).expect("the file");
        assert_eq!((&reply["size"], &reply["etag"]), (&listed["size"], &listed["etag"]));
        assert_eq!(reply["content_type"], content_type);
    }
}

#[tokio::test]
async fn a_text_above_the_size_limit_is_not_read() {
    let size = 16 * 1024 * 1024 + 1;
    let part = format!(
        "HTTP/1.1 206 Partial Content\r\ncontent-range: bytes 0-1/{size}\r\ncontent-length: 2\r\n\r\nab"
    );
    // The rest of both bodies never arrives: a server that reads on would time out.
    let full = format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {size}\r\n\r\nab");

    for answer in [part, full] {
        let (_peer, mut host) = answering_bytes(answer.into_bytes()).await;
        let reply = host.succeed("get_run_artifact", file("a.log")).await;
        assert_eq!((&reply["size"], &reply["text"]), (&json!(size), &Value::Null));
    }
}
