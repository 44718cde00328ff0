//! Uploads whose process was killed, and uploads that resume them.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{bytes, command, fixture, hold_parts, sha256, text};
use crate::support::fixture::Session;

/// Starts the upload of a file of ten parts with the binary, and kills the process when the service has `parts` parts.
pub(super) async fn interrupt_upload(session: &Session, parts: usize) {
    session.write("game.apk", &bytes(10_000));
    hold_parts(&session.service, parts).await;

    let path = session.root().join("game.apk");
    let mut child = command::start_command(session, &[path.to_str().expect("a text")]);
    session.wait_for_parts(parts, 4).await;

    // The journal is written after the answer to a part.
    while session.journals().first().map_or(0, |journal| journal.lines().count()) < 1 + parts {
        tokio::task::yield_now().await;
    }

    child.kill().await.expect("it can be killed");
    session.service.heal().await;

    assert_eq!(session.leftovers().await.0, 1);
}

/// Returns how often each part was accepted.
async fn accepted_parts(session: &Session) -> Vec<usize> {
    let puts = session.puts().await;
    (1..=10).map(|number| puts.iter().filter(|put| **put == format!("{number} 200")).count()).collect()
}

#[tokio::test]
async fn the_tool_resumes_the_upload_of_a_killed_process() {
    let mut session = fixture().open().await;
    interrupt_upload(&session, 6).await;

    let build_id = session.service.control("uploads").await["data"][0]["build_id"].clone();
    let build = session.upload("game.apk").await;

    assert_eq!((&build["parts_resumed"], &build["build_id"]), (&json!(6), &build_id));
    assert_eq!(accepted_parts(&session).await, [1; 10]);
    assert_eq!(build["sha256"], sha256(&bytes(10_000)));
    assert_eq!(session.service.content(text(&build_id)).await, Some(bytes(10_000)));
    assert_eq!((session.leftovers().await.0, session.journals()), (0, vec![]));
}

#[tokio::test]
async fn the_command_resumes_an_upload_with_the_resume_flag() {
    let session = fixture().open().await;
    interrupt_upload(&session, 6).await;

    let path = session.root().join("game.apk");
    let (code, built, errors) =
        command::upload(&session, &["--resume", path.to_str().expect("a text")]).await;

    assert_eq!((code, built[0]["parts_resumed"].clone(), errors), (Some(0), json!(6), vec![]));
    assert_eq!(accepted_parts(&session).await, [1; 10]);
    assert_eq!((session.leftovers().await.0, session.journals()), (0, vec![]));
}

#[tokio::test]
async fn the_command_cancels_an_unfinished_upload_without_the_resume_flag() {
    let session = fixture().open().await;
    interrupt_upload(&session, 6).await;

    let build_id = session.service.control("uploads").await["data"][0]["build_id"].clone();
    let path = session.root().join("game.apk");
    let (code, built, _) = command::upload(&session, &[path.to_str().expect("a text")]).await;

    assert_eq!((code, built[0]["parts_resumed"].clone()), (Some(0), json!(0)));
    assert_ne!(built[0]["build_id"], build_id);

    let writes = session.service.writes().await;
    let place = |start: &str| writes.iter().rposition(|line| line.starts_with(start)).expect("a request");

    assert!(place("DELETE") < place("POST /project/demo/builds/upload 200"), "{writes:?}");
    assert_eq!((session.leftovers().await.0, session.journals()), (0, vec![]));
}

/// Interrupts an upload, makes a change and uploads again. The unfinished upload must be cancelled and every part sent.
async fn assert_new_upload(change: impl FnOnce(&Session), arguments: Value) {
    let mut session = fixture().open().await;
    interrupt_upload(&session, 3).await;
    change(&session);

    let build = session.host.succeed("upload_build", arguments).await;

    assert_eq!(build["parts_resumed"], 0, "{build}");

    let file = std::fs::read(session.root().join("game.apk")).expect("a file");

    assert_eq!(session.service.content(text(&build["build_id"])).await, Some(file));

    let deleted = session.service.writes().await.iter().filter(|line| line.starts_with("DELETE")).count();

    assert_eq!((deleted, session.leftovers().await.0, session.journals()), (1, 0, vec![]));
}

#[tokio::test]
async fn a_changed_file_starts_a_new_upload() {
    let path = || json!({"path": "game.apk"});
    assert_new_upload(|session| drop(session.write("game.apk", &bytes(9_000))), path()).await;
    assert_new_upload(|session| drop(session.write("game.apk", &[1; 10_000])), path()).await;

    // Reproducible builds set the time of their files.
    #[cfg(unix)]
    assert_new_upload(
        |session| {
            let place = session.root().join("game.apk");
            let written = place.metadata().and_then(|data| data.modified()).expect("a time");
            std::thread::yield_now();
            let file = session.write("game.apk", &[1; 10_000]);
            let file = std::fs::OpenOptions::new().append(true).open(file).expect("the file");
            file.set_modified(written).expect("the time can be set");
        },
        path(),
    )
    .await;
}

#[tokio::test]
async fn a_different_request_starts_a_new_upload() {
    assert_new_upload(|_| (), json!({"path": "game.apk", "name": "another"})).await;
    assert_new_upload(|_| (), json!({"path": "game.apk", "tags": ["one"]})).await;
}

#[tokio::test]
async fn an_unfinished_upload_of_another_project_is_not_touched() {
    let mut session = fixture().open().await;
    interrupt_upload(&session, 3).await;

    let mut host = session.another_host(keys::ARENA, &[]).await;
    let build = host.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], &build["project_id"]), (&json!(0), &json!("arena")));

    let left = session.service.control("uploads").await;

    assert_eq!((&left["data"][0]["project_id"], session.journals().len()), (&json!("demo"), 1));

    let build = session.upload("game.apk").await;

    assert_eq!((&build["parts_resumed"], &build["project_id"]), (&json!(3), &json!("demo")));
}

#[tokio::test]
async fn an_upload_that_the_service_has_removed_is_started_again() {
    let mut session = fixture().open().await;
    interrupt_upload(&session, 3).await;
    // The service removes unfinished uploads after their time limit.
    session.service.advance(3_600.0);
    let build = session.upload("game.apk").await;
    assert_eq!(build["parts_resumed"], 0);
    assert_eq!((session.leftovers().await.0, session.journals()), (0, vec![]));
}

/// Otherwise the service would have two uploads of the file.
#[tokio::test]
async fn no_upload_is_started_while_the_unfinished_upload_cannot_be_read() {
    let mut session = fixture().open().await;
    interrupt_upload(&session, 3).await;

    let busy = json!({
        "operation": "get_build_upload_parts", "status": 503, "times": 100, "headers": {"retry-after": "0"},
    });
    session.service.fault(busy).await;

    let error = session.upload_failure("game.apk").await;

    assert_eq!(error["code"], "service_unavailable");
    assert_eq!((session.leftovers().await.0, session.journals().len()), (1, 1));

    session.service.heal().await;
    let build = session.upload("game.apk").await;

    assert_eq!(build["parts_resumed"], 3);
}

/// The process may have been killed between the last part and the completion.
#[tokio::test]
async fn an_unfinished_upload_with_all_parts_is_completed() {
    let mut session = fixture().open().await;
    session.write("game.apk", &bytes(10_000));
    session.service.fault(json!({"operation": "complete_build_upload", "delay_ms": 60_000})).await;

    let path = session.root().join("game.apk");
    let mut child = command::start_command(&session, &[path.to_str().expect("a text")]);
    // Each check sends a request, so that the loop does not block the runtime.
    while !session.service.writes().await.iter().any(|line| line.contains("/upload/complete")) {}
    child.kill().await.expect("it can be killed");
    session.service.heal().await;

    let build = session.upload("game.apk").await;

    assert_eq!((&build["parts_resumed"], accepted_parts(&session).await), (&json!(10), vec![1; 10]));
}

/// Kills a process after the service has completed the upload and before it answers. Returns the id of the build.
async fn interrupt_completion(session: &Session) -> Value {
    session.write("game.apk", &bytes(10_000));
    let unanswered = json!({"operation": "complete_build_upload", "delay_ms": 60_000, "after": true});
    session.service.fault(unanswered).await;

    let path = session.root().join("game.apk");
    let mut child = command::start_command(session, &[path.to_str().expect("a text")]);
    // Each check sends a request, so that the loop does not block the runtime.
    let mut build_id = Value::Null;

    while build_id.is_null() {
        build_id = session.service.control("uploads").await["data"][0]["build_id"].clone();
    }

    while session.leftovers().await.0 > 0 {}
    child.kill().await.expect("it can be killed");
    session.service.heal().await;

    assert_eq!(session.journals().len(), 1);
    build_id
}

#[tokio::test]
async fn an_upload_that_has_become_a_build_is_not_repeated() {
    for with_tool in [true, false] {
        let mut session = fixture().open().await;
        let build_id = interrupt_completion(&session).await;
        let path = session.root().join("game.apk");
        let build = if with_tool {
            session.upload("game.apk").await
        } else {
            command::upload(&session, &["--resume", path.to_str().expect("a text")]).await.1.remove(0)
        };

        assert_eq!((&build["build_id"], &build["parts_resumed"]), (&build_id, &json!(10)));
        assert_eq!(build["sha256"], sha256(&bytes(10_000)));
        assert_eq!((accepted_parts(&session).await, session.journals()), (vec![1; 10], vec![]));

        let writes = session.service.writes().await;

        assert_eq!(writes.iter().filter(|line| line.ends_with("/upload 200")).count(), 1, "{writes:?}");
    }
}

/// It is unknown whether the upload has become a build.
#[tokio::test]
async fn no_upload_is_started_while_the_build_cannot_be_read() {
    let mut session = fixture().open().await;
    let build_id = interrupt_completion(&session).await;
    let busy =
        json!({"operation": "get_build", "status": 503, "times": 100, "headers": {"retry-after": "0"}});

    session.service.fault(busy).await;

    assert_eq!(session.upload_failure("game.apk").await["code"], "service_unavailable");
    assert_eq!((session.leftovers().await.0, session.journals().len()), (0, 1));

    session.service.heal().await;

    assert_eq!(session.upload("game.apk").await["build_id"], build_id);
}

#[tokio::test]
async fn two_processes_with_one_file_make_one_build() {
    let session = fixture().open().await;
    session.write("game.apk", &bytes(10_000));
    hold_parts(&session.service, 0).await;

    let path = session.root().join("game.apk");
    let path = path.to_str().expect("a text");
    let first = command::start_command(&session, &[path]);

    session.wait_for_pending_parts(4).await;
    for arguments in [vec![path], vec!["--resume", path]] {
        let (code, built, errors) = command::upload(&session, &arguments).await;
        assert_eq!((code, built), (Some(1), vec![]), "{errors:?}");
        assert_eq!(errors[0]["code"], "file_error");
        assert!(text(&errors[0]["message"]).contains("is being uploaded by another process"), "{errors:?}");
    }

    assert_eq!(session.leftovers().await.0, 1);

    session.service.heal().await;
    session.service.release().await;

    let output = first.wait_with_output().await.expect("an output");
    let built: Value = serde_json::from_slice(&output.stdout).expect("JSON");

    assert_eq!(session.service.content(text(&built["build_id"])).await, Some(bytes(10_000)));
    assert_eq!((accepted_parts(&session).await, session.journals()), (vec![1; 10], vec![]));
}
