//! Files that are never uploaded.

use std::fs;

use serde_json::json;
use tas_mcp::sandbox::keys;

use super::{command, fixture, text};

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

/// A text that a model reads may ask it for the secrets of the repository.
#[tokio::test]
async fn a_model_sends_no_file_at_a_hidden_path_and_other_files_than_builds_only_with_an_agreement() {
    let mut session = fixture().open().await;
    fs::create_dir(session.root().join(".git")).expect("a directory");
    for name in [".env", ".git/config", "id_rsa"] {
        session.write(name, b"abc");
    }
    let mut hidden = vec![".env", ".git/config", "./.env"];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink(".env", session.root().join("link.apk")).expect("a link");
        hidden.push("link.apk");
    }

    for path in hidden {
        let arguments = json!({"path": path, "platform": "linux", "confirm": true});
        let error = session.host.fail("upload_build", arguments).await;
        assert_eq!(error["code"], "file_error", "{error}");
        assert!(text(&error["message"]).contains("a segment of its path begins with a dot"), "{error}");
    }

    // The question names the file, whatever the way to it says.
    let detour = "game.apk` (9 MB) to project `demo`";
    fs::create_dir(session.root().join(detour)).expect("a directory");
    let mut arguments = json!({"path": format!("{detour}/../id_rsa"), "platform": "linux"});
    let error = session.host.fail("upload_build", arguments.clone()).await;
    let asked = "sends `id_rsa` (3 B) to project `demo`, although its name is not that of a build";
    assert_eq!((&error["code"], session.service.writes().await), (&json!("confirmation_required"), vec![]));
    assert!(text(&error["message"]).contains(asked), "{error}");

    arguments["confirm"] = json!(true);
    assert_eq!(session.host.succeed("upload_build", arguments).await["status"], "uploaded");

    let (code, built, _) = command::upload(&session, &[".env", "id_rsa", "--platform", "linux"]).await;
    assert_eq!((code, built.len()), (Some(0), 2), "a person chooses the files");
}
