//! Files that are never uploaded.

use std::fs;

use serde_json::json;
use tas_mcp::sandbox::keys;

use super::{fixture, text};

#[tokio::test]
async fn the_file_of_the_key_is_not_uploaded_under_any_name() {
    let session = fixture().open().await;
    let key_file = session.root().join("key.apk");
    fs::write(&key_file, keys::DEMO).expect("a file");
    fs::hard_link(&key_file, session.root().join("other.apk")).expect("a link");
    let base_url = session.service.base_url();
    let settings = crate::support::service::settings(&[
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_API_KEY_FILE", key_file.to_str().expect("UTF-8")),
        ("TAS_FILES_ROOT", session.root().to_str().expect("UTF-8")),
    ]);
    let mut host = crate::support::host::Host::open(&settings).await;

    for name in ["key.apk", "other.apk"] {
        let error = host.fail("upload_build", json!({"path": name})).await;
        assert_eq!(error["code"], "file_error", "{error}");
        assert!(text(&error["message"]).contains("holds the API key"), "{error}");
    }

    assert_eq!(session.service.requests().await, [""; 0]);
}

#[tokio::test]
async fn a_failure_does_not_tell_whether_a_file_outside_the_root_exists() {
    let mut session = fixture().open().await;
    let outside = tempfile::tempdir().expect("a directory");
    fs::write(outside.path().join("there.apk"), b"abc").expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path(), session.root().join("link")).expect("a link");

    let absolute = outside.path().to_str().expect("UTF-8").to_owned();
    let upward = format!("../../../../../../../..{absolute}");
    let directories =
        if cfg!(unix) { vec![absolute, upward, "link".to_owned()] } else { vec![absolute, upward] };

    for directory in directories {
        let mut messages = Vec::new();
        for name in ["there.apk", "missing.apk"] {
            let path = format!("{directory}/{name}");
            let error = session.host.fail("upload_build", json!({"path": path})).await;
            messages.push(error.to_string().replace(name, ""));
        }
        assert_eq!(messages[0], messages[1]);
    }
}
