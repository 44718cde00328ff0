//! Files that cannot be uploaded, and files that change during an upload.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use super::{bytes, fixture, hold_parts, text};
use crate::support::fixture::Session;

#[tokio::test]
async fn names_that_are_not_files_inside_the_root_are_refused_before_any_request() {
    let mut session = fixture().open().await;
    let root = session.root();
    let outside = tempfile::NamedTempFile::new().expect("a file");

    fs::write(outside.path(), b"abc").expect("it can be written");
    let elsewhere = outside.path().to_str().expect("a text");
    session.write("empty.apk", b"");
    fs::create_dir(root.join("game.app")).expect("a directory");

    let mut cases = vec![
        ("empty.apk".to_owned(), "is empty"),
        ("game.app".to_owned(), "is a directory"),
        ("missing.apk".to_owned(), "does not exist"),
        (elsewhere.to_owned(), "is outside the files root"),
        (format!("..{elsewhere}").replace("../", "../../../../../../../../"), "is outside the files root"),
        (".".to_owned(), "is a directory"),
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

    for (path, problem) in cases {
        let error = session.host.fail("upload_build", json!({"path": path})).await;
        let message = text(&error["message"]);
        assert!(error["code"] == "file_error" && message.contains(problem), "{path}: {error}");
    }

    assert_eq!(session.service.requests().await, [""; 0]);
    assert_eq!(session.states(), [""; 0]);
}

/// Uploads a file of three parts and changes it before the parts are answered. Returns the error.
async fn upload_during(damage: impl FnOnce(&Session)) -> Value {
    let mut session = fixture().open().await;
    session.write("game.apk", &bytes(2_500));
    hold_parts(&session.service, 0).await;

    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}});
    let call = session.host.start("tools/call", call).await;

    session.wait_for_pending_parts(3).await;
    wait_for_later_file_time(&session).await;
    damage(&session);
    session.service.release().await;

    let result = session.host.answer(call).await["result"].clone();

    assert_eq!(result["isError"], true, "{result}");
    assert_eq!((session.leftovers().await, session.states()), ((0, 0), vec![]));

    let error: Value = serde_json::from_str(text(&result["content"][0]["text"])).expect("JSON");
    let error = error["error"].clone();

    assert_eq!(error["code"], "file_error");
    assert_eq!(error["details"]["upload"], "cancelled: nothing remains at the service");
    error
}

/// Waits until a new file gets a later time than the build. File systems record times in steps of some milliseconds, so
/// that an immediate change could have the time of the first write.
async fn wait_for_later_file_time(session: &Session) {
    let modified = |name: &str| {
        let metadata = fs::metadata(session.root().join(name)).expect("a file");
        metadata.modified().expect("a time")
    };
    loop {
        session.write("probe.apk", b"x");
        if modified("probe.apk") > modified("game.apk") {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Writes other bytes into the file without a change of its time.
fn rewrite(session: &Session) {
    let path = session.root().join("game.apk");
    let modified = path.metadata().and_then(|found| found.modified()).expect("a time");
    session.write("game.apk", &[1; 2_500]);
    OpenOptions::new().append(true).open(path).expect("the file").set_modified(modified).expect("a time");
}

/// Replaces the file by another one with the same size and time.
fn replace(session: &Session) {
    let path = session.root().join("game.apk");
    let modified = path.metadata().and_then(|found| found.modified()).expect("a time");
    let other = session.write("other.apk", &[1; 2_500]);
    OpenOptions::new().append(true).open(&other).expect("the file").set_modified(modified).expect("a time");
    fs::rename(other, path).expect("it can be renamed");
}

#[tokio::test]
async fn an_upload_of_a_changed_file_is_not_completed() {
    let append = |session: &Session| {
        let mut file = OpenOptions::new().append(true).open(session.root().join("game.apk"));
        file.as_mut().expect("the file").write_all(b"more").expect("it can be written");
    };
    let truncate = |session: &Session| drop(session.write("game.apk", b"abc"));
    // The bytes stay the same, and only the time changes.
    let touch = |session: &Session| {
        let file = OpenOptions::new().append(true).open(session.root().join("game.apk"));
        let later = SystemTime::now() + Duration::from_secs(1);
        file.expect("the file").set_modified(later).expect("the time can be set");
    };
    let mut damages: Vec<fn(&Session)> = vec![append, truncate, touch];

    if cfg!(unix) {
        damages.extend([rewrite, replace]);
    }

    for damage in damages {
        let error = upload_during(damage).await;
        assert_eq!(error["message"], "`game.apk` changed while it was uploaded");
    }
}

#[tokio::test]
async fn an_upload_of_a_deleted_file_is_not_completed() {
    let error = upload_during(|session| {
        fs::remove_file(session.root().join("game.apk")).expect("it can be removed");
    })
    .await;
    assert_eq!(error["message"], "`game.apk` was removed while it was uploaded");
}

/// The other parts would contain bytes of the changed file, or of the target of the link.
#[tokio::test]
async fn no_further_part_of_a_file_that_was_changed_or_replaced_by_a_link_is_sent() {
    let secret = tempfile::NamedTempFile::new().expect("a file");
    fs::write(secret.path(), vec![b's'; 30 * super::PART]).expect("it can be written");
    let change = |session: &Session| drop(session.write("game.apk", b"abc"));
    // The target of the link is outside the root and has the same size and time as the file.
    #[cfg(unix)]
    let link = |session: &Session| {
        let path = session.root().join("game.apk");
        let modified = path.metadata().and_then(|found| found.modified()).expect("a time");
        secret.as_file().set_modified(modified).expect("a time");
        fs::remove_file(&path).expect("it can be removed");
        std::os::unix::fs::symlink(secret.path(), &path).expect("a link");
    };
    let damages: &[&dyn Fn(&Session)] = &[
        &change,
        #[cfg(unix)]
        &link,
    ];

    for damage in damages {
        let mut session = fixture().open().await;
        session.write("game.apk", &bytes(30 * super::PART));
        hold_parts(&session.service, 0).await;

        let call = session.start_upload(json!({"path": "game.apk"})).await;
        session.wait_for_pending_parts(4).await;
        damage(&session);
        session.service.heal().await;
        session.service.release().await;

        assert_eq!(session.host.answer(call).await["result"]["isError"], true);
        assert_eq!(session.leftovers().await, (0, 0));
        assert!(session.puts().await.len() < 10, "{:?}", session.puts().await);
    }
}

#[tokio::test]
async fn an_upload_of_a_changed_file_is_not_called_resumable() {
    let mut session = fixture().open().await;
    session.write("game.apk", &bytes(2_500));
    hold_parts(&session.service, 0).await;

    let busy = json!({"status": 503, "times": 50, "operation": "cancel_build_upload", "headers": {"retry-after": "0"}});
    session.service.fault(busy).await;

    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}});
    let call = session.host.start("tools/call", call).await;

    session.wait_for_pending_parts(3).await;
    session.write("game.apk", b"abc");
    session.service.release().await;

    let result = session.host.answer(call).await["result"].clone();
    let error: Value = serde_json::from_str(text(&result["content"][0]["text"])).expect("JSON");

    assert_eq!(error["error"]["hint"], "upload it again when no other program writes to it", "{error}");
    assert_eq!(session.states().len(), 1, "the next upload cancels this one");
}

/// The target of a link may have any name.
#[cfg(unix)]
#[tokio::test]
async fn name_and_platform_follow_from_the_name_of_a_link() {
    let mut session = fixture().open().await;
    session.write("small.apk", b"abc");
    std::os::unix::fs::symlink("small.apk", session.root().join("latest.ipa")).expect("a link");

    let build = session.upload("latest.ipa").await;

    assert_eq!((&build["name"], &build["file_name"]), (&json!("latest.ipa"), &json!("latest.ipa")));

    let record = session.host.succeed("get_build", json!({"build_id": build["build_id"]})).await;

    assert_eq!((&record["platform"], &record["file_name"]), (&json!("ios-native"), &json!("latest.ipa")));
}
