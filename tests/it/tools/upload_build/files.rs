//! Files that cannot be uploaded, and files that do not stay as they are.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use super::{UploadFixture, bytes, hold_parts, text};

#[tokio::test]
async fn names_that_are_not_files_inside_the_root_are_refused_before_any_request() {
    let fixture = UploadFixture::open().await;
    let root = fixture.root.path();
    let outside = tempfile::NamedTempFile::new().expect("a file");

    fs::write(outside.path(), b"abc").expect("it can be written");
    let elsewhere = outside.path().to_str().expect("a text");
    fixture.write("empty.apk", b"");
    fs::create_dir(root.join("game.app")).expect("a directory");

    let mut cases = vec![
        ("empty.apk".to_owned(), "is empty"),
        ("game.app".to_owned(), "is a directory"),
        ("missing.apk".to_owned(), "does not exist"),
        (elsewhere.to_owned(), "is outside the files root"),
        (format!("..{elsewhere}").replace("../", "../../../../../../../../"), "is outside the files root"),
        (String::new(), "is a directory"),
        (format!("{}.apk", "a".repeat(300)), "cannot be read"),
        ("nul\0.apk".to_owned(), "cannot be read"),
    ];
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(outside.path(), root.join("link.apk")).expect("a link");
        symlink("loop.apk", root.join("loop.apk")).expect("a link");
        drop(std::os::unix::net::UnixListener::bind(root.join("socket.apk")).expect("a socket"));
        cases.push(("link.apk".to_owned(), "is outside the files root"));
        cases.push(("loop.apk".to_owned(), "cannot be read"));
        cases.push(("socket.apk".to_owned(), "is not a regular file"));
    }

    let mut host = fixture.host().await;
    for (path, why) in cases {
        let error = host.fail("upload_build", json!({"path": path})).await;
        let message = text(&error["message"]);
        assert!(error["code"] == "file_error" && message.contains(why), "{path}: {error}");
    }

    assert_eq!(fixture.service.requests().await, [""; 0]);
    assert_eq!(fixture.journals(), [""; 0]);
}

/// Uploads a file of three parts, and does something to it while the first one is under way; how the upload fails.
async fn upload_during(damage: impl FnOnce(&UploadFixture)) -> Value {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));
    hold_parts(&fixture.service, 0).await;

    let mut host = fixture.host().await;
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}});
    let call = host.start("tools/call", call).await;

    fixture.wait_for_pending_parts(3).await;
    damage(&fixture);
    fixture.service.release().await;

    let result = host.answer(call).await["result"].clone();

    assert_eq!(result["isError"], true, "{result}");
    assert_eq!((fixture.leftovers().await, fixture.journals()), ((0, 0), vec![]));

    let error: Value = serde_json::from_str(text(&result["content"][0]["text"])).expect("JSON");
    let error = error["error"].clone();

    assert_eq!(error["code"], "file_error");
    assert_eq!(error["details"]["upload"], "cancelled: nothing remains at the service");
    error
}

/// Other bytes, as old as those that were there.
fn rewritten(fixture: &UploadFixture) {
    let path = fixture.root.path().join("game.apk");
    let then = path.metadata().and_then(|found| found.modified()).expect("a time");
    fixture.write("game.apk", &[1; 2_500]);
    OpenOptions::new().append(true).open(path).expect("the file").set_modified(then).expect("a time");
}

/// Another file of the name, as long and as old.
fn replaced(fixture: &UploadFixture) {
    let path = fixture.root.path().join("game.apk");
    let then = path.metadata().and_then(|found| found.modified()).expect("a time");
    let other = fixture.write("other.apk", &[1; 2_500]);
    OpenOptions::new().append(true).open(&other).expect("the file").set_modified(then).expect("a time");
    fs::rename(other, path).expect("it can be renamed");
}

#[tokio::test]
async fn an_upload_of_a_changed_file_is_not_completed() {
    let grown = |fixture: &UploadFixture| {
        let mut file = OpenOptions::new().append(true).open(fixture.root.path().join("game.apk"));
        file.as_mut().expect("the file").write_all(b"more").expect("it can be written");
    };
    let cut = |fixture: &UploadFixture| drop(fixture.write("game.apk", b"abc"));
    // The same bytes, written later.
    let touched = |fixture: &UploadFixture| {
        let file = OpenOptions::new().append(true).open(fixture.root.path().join("game.apk"));
        let later = SystemTime::now() + Duration::from_secs(1);
        file.expect("the file").set_modified(later).expect("the time can be set");
    };
    let mut damages: Vec<fn(&UploadFixture)> = vec![grown, cut, touched];

    if cfg!(unix) {
        damages.extend([rewritten, replaced]);
    }

    for damage in damages {
        let error = upload_during(damage).await;
        assert_eq!(error["message"], "`game.apk` changed while it was uploaded");
    }
}

#[tokio::test]
async fn an_upload_of_a_deleted_file_is_not_completed() {
    let error = upload_during(|fixture| {
        fs::remove_file(fixture.root.path().join("game.apk")).expect("it can be removed");
    })
    .await;
    assert_eq!(error["message"], "`game.apk` vanished while it was uploaded");
}

/// Parts that are not yet read are not read from what the file has become.
#[tokio::test]
async fn no_further_part_of_a_changed_file_is_sent() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(30 * super::PART));
    hold_parts(&fixture.service, 0).await;

    let mut host = fixture.host().await;
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}});
    let call = host.start("tools/call", call).await;

    fixture.wait_for_pending_parts(4).await;
    fixture.write("game.apk", b"abc");
    fixture.service.heal().await;
    fixture.service.release().await;

    assert_eq!(host.answer(call).await["result"]["isError"], true);
    assert_eq!(fixture.leftovers().await, (0, 0));
    assert!(fixture.puts().await.len() < 10, "{:?}", fixture.puts().await);
}

/// A link that takes the place of the file leads to one outside the root, as long and as old.
#[cfg(unix)]
#[tokio::test]
async fn a_link_that_replaces_the_file_is_not_followed() {
    let fixture = UploadFixture::open().await;
    let path = fixture.write("game.apk", &bytes(30 * super::PART));
    let then = path.metadata().and_then(|found| found.modified()).expect("a time");
    let secret = tempfile::NamedTempFile::new().expect("a file");

    fs::write(secret.path(), vec![b's'; 30 * super::PART]).expect("it can be written");
    secret.as_file().set_modified(then).expect("a time");
    hold_parts(&fixture.service, 0).await;

    let mut host = fixture.host().await;
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}});
    let call = host.start("tools/call", call).await;

    fixture.wait_for_pending_parts(4).await;
    fs::remove_file(&path).expect("it can be removed");
    std::os::unix::fs::symlink(secret.path(), &path).expect("a link");
    fixture.service.heal().await;
    fixture.service.release().await;

    let result = host.answer(call).await["result"].clone();

    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(fixture.leftovers().await, (0, 0));
    assert!(fixture.puts().await.len() < 10, "{:?}", fixture.puts().await);
}

#[tokio::test]
async fn an_upload_of_a_changed_file_is_not_called_resumable() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));
    hold_parts(&fixture.service, 0).await;

    let busy = json!({"status": 503, "times": 50, "operation": "cancel_build_upload", "headers": {"retry-after": "0"}});
    fixture.service.fault(busy).await;

    let mut host = fixture.host().await;
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}});
    let call = host.start("tools/call", call).await;

    fixture.wait_for_pending_parts(3).await;
    fixture.write("game.apk", b"abc");
    fixture.service.release().await;

    let result = host.answer(call).await["result"].clone();
    let error: Value = serde_json::from_str(text(&result["content"][0]["text"])).expect("JSON");

    assert_eq!(error["error"]["hint"], "upload it again when no other program writes to it", "{error}");
    assert_eq!(fixture.journals().len(), 1, "the next upload finds what is to be cancelled");
}

/// What a link leads to may have any name.
#[cfg(unix)]
#[tokio::test]
async fn name_and_platform_follow_from_the_name_of_a_link() {
    let fixture = UploadFixture::open().await;
    fixture.write("small.apk", b"abc");
    std::os::unix::fs::symlink("small.apk", fixture.root.path().join("latest.ipa")).expect("a link");

    let mut host = fixture.host().await;
    let build = host.succeed("upload_build", json!({"path": "latest.ipa"})).await;

    assert_eq!((&build["name"], &build["file_name"]), (&json!("latest.ipa"), &json!("latest.ipa")));

    let shown = host.succeed("get_build", json!({"build_id": build["build_id"]})).await;

    assert_eq!((&shown["platform"], &shown["file_name"]), (&json!("ios-native"), &json!("latest.ipa")));
}
