//! Uploads whose process was killed, and what goes on from them.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{UploadFixture, bytes, command, hold_parts, sha256, text};
use crate::support::host::Host;

/// Begins to upload a file of ten parts with the binary, and kills it when the service has `parts` of them.
pub(super) async fn interrupt_upload(fixture: &UploadFixture, parts: usize) {
    fixture.write("game.apk", &bytes(10_000));
    hold_parts(&fixture.service, parts).await;

    let path = fixture.root.path().join("game.apk");
    let mut child = command::started(fixture, &[path.to_str().expect("a text")]);
    fixture.wait_for_parts(parts, 4).await;

    while fixture.journals().first().map_or(0, |journal| journal.lines().count()) < 1 + parts {
        tokio::task::yield_now().await;
    }

    child.kill().await.expect("it can be killed");
    fixture.service.heal().await;

    assert_eq!(fixture.leftovers().await.0, 1);
}

/// How often each part was taken.
async fn taken(fixture: &UploadFixture) -> Vec<usize> {
    let puts = fixture.puts().await;
    (1..=10).map(|number| puts.iter().filter(|put| **put == format!("{number} 200")).count()).collect()
}

#[tokio::test]
async fn the_tool_resumes_the_upload_of_a_killed_process() {
    let fixture = UploadFixture::open().await;
    interrupt_upload(&fixture, 6).await;

    let begun = fixture.service.control("uploads").await["data"][0]["build_id"].clone();
    let build = fixture.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], &build["build_id"]), (&json!(6), &begun));
    assert_eq!(taken(&fixture).await, [1; 10]);
    assert_eq!(build["sha256"], sha256(&bytes(10_000)));
    assert_eq!(fixture.service.content(text(&begun)).await, Some(bytes(10_000)));
    assert_eq!((fixture.leftovers().await.0, fixture.journals()), (0, vec![]));
}

#[tokio::test]
async fn the_command_resumes_an_upload_with_the_resume_flag() {
    let fixture = UploadFixture::open().await;
    interrupt_upload(&fixture, 6).await;

    let path = fixture.root.path().join("game.apk");
    let (code, built, errors) =
        command::upload(&fixture, &["--resume", path.to_str().expect("a text")]).await;

    assert_eq!((code, built[0]["parts_resumed"].clone(), errors), (Some(0), json!(6), vec![]));
    assert_eq!(taken(&fixture).await, [1; 10]);
    assert_eq!((fixture.leftovers().await.0, fixture.journals()), (0, vec![]));
}

#[tokio::test]
async fn the_command_cancels_an_unfinished_upload_without_the_resume_flag() {
    let fixture = UploadFixture::open().await;
    interrupt_upload(&fixture, 6).await;

    let begun = fixture.service.control("uploads").await["data"][0]["build_id"].clone();
    let path = fixture.root.path().join("game.apk");
    let (code, built, _) = command::upload(&fixture, &[path.to_str().expect("a text")]).await;

    assert_eq!((code, built[0]["parts_resumed"].clone()), (Some(0), json!(0)));
    assert_ne!(built[0]["build_id"], begun);

    let writes = fixture.service.writes().await;
    let place = |start: &str| writes.iter().rposition(|line| line.starts_with(start)).expect("a request");

    assert!(place("DELETE") < place("POST /project/demo/builds/upload 200"), "{writes:?}");
    assert_eq!((fixture.leftovers().await.0, fixture.journals()), (0, vec![]));
}

/// Cuts an upload off, changes something, and uploads once more: the unfinished upload is cancelled, and all is sent.
async fn assert_new_upload(change: impl FnOnce(&UploadFixture), arguments: Value) {
    let fixture = UploadFixture::open().await;
    interrupt_upload(&fixture, 3).await;
    change(&fixture);

    let build = fixture.host().await.succeed("upload_build", arguments).await;

    assert_eq!(build["parts_resumed"], 0, "{build}");

    let file = std::fs::read(fixture.root.path().join("game.apk")).expect("a file");

    assert_eq!(fixture.service.content(text(&build["build_id"])).await, Some(file));

    let deleted = fixture.service.writes().await.iter().filter(|line| line.starts_with("DELETE")).count();

    assert_eq!((deleted, fixture.leftovers().await.0, fixture.journals()), (1, 0, vec![]));
}

#[tokio::test]
async fn a_changed_file_starts_a_new_upload() {
    let path = || json!({"path": "game.apk"});
    assert_new_upload(|fixture| drop(fixture.write("game.apk", &bytes(9_000))), path()).await;
    assert_new_upload(|fixture| drop(fixture.write("game.apk", &[1; 10_000])), path()).await;
    // Tools that build the same way every time set the time of writing.
    #[cfg(unix)]
    assert_new_upload(
        |fixture| {
            let place = fixture.root.path().join("game.apk");
            let written = place.metadata().and_then(|data| data.modified()).expect("a time");
            std::thread::yield_now();
            let file = fixture.write("game.apk", &[1; 10_000]);
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
    let fixture = UploadFixture::open().await;
    interrupt_upload(&fixture, 3).await;

    let mut host = Host::open(&fixture.settings(keys::ARENA, &[])).await;
    let build = host.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], &build["project_id"]), (&json!(0), &json!("arena")));

    let left = fixture.service.control("uploads").await;

    assert_eq!((&left["data"][0]["project_id"], fixture.journals().len()), (&json!("demo"), 1));

    let build = fixture.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], &build["project_id"]), (&json!(3), &json!("demo")));
}

#[tokio::test]
async fn an_upload_that_the_service_has_removed_is_started_again() {
    let fixture = UploadFixture::open().await;
    interrupt_upload(&fixture, 3).await;
    fixture.service.advance(3_600.0);
    let build = fixture.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;
    assert_eq!(build["parts_resumed"], 0);
    assert_eq!((fixture.leftovers().await.0, fixture.journals()), (0, vec![]));
}

/// Otherwise a busy service would have two uploads of the file.
#[tokio::test]
async fn no_upload_is_started_while_the_unfinished_upload_cannot_be_read() {
    let fixture = UploadFixture::open().await;
    interrupt_upload(&fixture, 3).await;

    let busy = json!({
        "operation": "get_build_upload_parts", "status": 503, "times": 100, "headers": {"retry-after": "0"},
    });
    fixture.service.fault(busy).await;

    let mut host = fixture.host().await;
    let error = host.fail("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(error["code"], "service_unavailable");
    assert_eq!((fixture.leftovers().await.0, fixture.journals().len()), (1, 1));

    fixture.service.heal().await;
    let build = host.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(build["parts_resumed"], 3);
}

/// The process may have been killed between the last part and the completion.
#[tokio::test]
async fn an_unfinished_upload_with_all_parts_is_completed() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(10_000));
    fixture.service.fault(json!({"operation": "complete_build_upload", "delay_ms": 60_000})).await;

    let path = fixture.root.path().join("game.apk");
    let mut child = command::started(&fixture, &[path.to_str().expect("a text")]);
    // Each look is a request of its own: nothing spins.
    while !fixture.service.writes().await.iter().any(|line| line.contains("/upload/complete")) {}
    child.kill().await.expect("it can be killed");
    fixture.service.heal().await;

    let build = fixture.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], taken(&fixture).await), (&json!(10), vec![1; 10]));
}

/// Kills a process whose completion has been carried out, and not been answered yet.
async fn interrupt_completion(fixture: &UploadFixture) -> Value {
    fixture.write("game.apk", &bytes(10_000));
    let unanswered = json!({"operation": "complete_build_upload", "delay_ms": 60_000, "after": true});
    fixture.service.fault(unanswered).await;

    let path = fixture.root.path().join("game.apk");
    let mut child = command::started(fixture, &[path.to_str().expect("a text")]);
    // Each look is a request of its own: nothing spins.
    let mut begun = Value::Null;

    while begun.is_null() {
        begun = fixture.service.control("uploads").await["data"][0]["build_id"].clone();
    }

    while fixture.leftovers().await.0 > 0 {}
    child.kill().await.expect("it can be killed");
    fixture.service.heal().await;

    assert_eq!(fixture.journals().len(), 1);
    begun
}

#[tokio::test]
async fn an_upload_that_has_become_a_build_is_not_repeated() {
    for with_tool in [true, false] {
        let fixture = UploadFixture::open().await;
        let begun = interrupt_completion(&fixture).await;
        let path = fixture.root.path().join("game.apk");
        let build = if with_tool {
            fixture.host().await.succeed("upload_build", json!({"path": "game.apk"})).await
        } else {
            command::upload(&fixture, &["--resume", path.to_str().expect("a text")]).await.1.remove(0)
        };

        assert_eq!((&build["build_id"], &build["parts_resumed"]), (&begun, &json!(10)));
        assert_eq!(build["sha256"], sha256(&bytes(10_000)));
        assert_eq!((taken(&fixture).await, fixture.journals()), (vec![1; 10], vec![]));

        let writes = fixture.service.writes().await;

        assert_eq!(writes.iter().filter(|line| line.ends_with("/upload 200")).count(), 1, "{writes:?}");
    }
}

/// Nobody knows whether it has become a build.
#[tokio::test]
async fn no_upload_is_started_while_the_build_cannot_be_read() {
    let fixture = UploadFixture::open().await;
    let begun = interrupt_completion(&fixture).await;
    let busy =
        json!({"operation": "get_build", "status": 503, "times": 100, "headers": {"retry-after": "0"}});

    fixture.service.fault(busy).await;
    let mut host = fixture.host().await;

    assert_eq!(host.fail("upload_build", json!({"path": "game.apk"})).await["code"], "service_unavailable");
    assert_eq!((fixture.leftovers().await.0, fixture.journals().len()), (0, 1));

    fixture.service.heal().await;

    assert_eq!(host.succeed("upload_build", json!({"path": "game.apk"})).await["build_id"], begun);
}

#[tokio::test]
async fn two_processes_with_one_file_make_one_build() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(10_000));
    hold_parts(&fixture.service, 0).await;

    let path = fixture.root.path().join("game.apk");
    let path = path.to_str().expect("a text");
    let first = command::started(&fixture, &[path]);

    fixture.wait_for_pending_parts(4).await;
    for arguments in [vec![path], vec!["--resume", path]] {
        let (code, built, errors) = command::upload(&fixture, &arguments).await;
        assert_eq!((code, built), (Some(1), vec![]), "{errors:?}");
        assert_eq!(errors[0]["code"], "file_error");
        assert!(text(&errors[0]["message"]).contains("is being uploaded by another process"), "{errors:?}");
    }

    assert_eq!(fixture.leftovers().await.0, 1);

    fixture.service.heal().await;
    fixture.service.release().await;

    let output = first.wait_with_output().await.expect("an output");
    let built: Value = serde_json::from_slice(&output.stdout).expect("JSON");

    assert_eq!(fixture.service.content(text(&built["build_id"])).await, Some(bytes(10_000)));
    assert_eq!((taken(&fixture).await, fixture.journals()), (vec![1; 10], vec![]));
}
