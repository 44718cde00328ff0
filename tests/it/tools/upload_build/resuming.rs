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

    // The state is written after the answer to a part.
    while recorded_parts(session) < parts {
        tokio::task::yield_now().await;
    }

    child.kill().await.expect("it can be killed");
    session.service.heal().await;

    assert_eq!(session.leftovers().await.0, 1);
}

fn recorded_parts(session: &Session) -> usize {
    let state = session.states().first().and_then(|text| serde_json::from_str::<Value>(text).ok());
    state.map_or(0, |state| state["etags"].as_object().expect("an object").len())
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
    assert_eq!((session.leftovers().await.0, session.states()), (0, vec![]));
}

#[cfg(unix)]
#[tokio::test]
async fn the_same_command_continues_an_interrupted_upload() {
    for signal in ["-INT", "-TERM", "-KILL"] {
        let session = fixture().open().await;
        session.write("game.apk", &bytes(10_000));
        hold_parts(&session.service, 6).await;

        let child = command::start_command(&session, &["game.apk"]);
        session.wait_for_parts(6, 4).await;
        while recorded_parts(&session) < 6 {
            tokio::task::yield_now().await;
        }
        command::send_signal(&child, signal).await;

        let (code, built, errors) = command::wait_for_exit(child).await;
        assert_eq!(built, [Value::Null; 0], "{signal}");
        if signal != "-KILL" {
            let expected = if signal == "-INT" { 130 } else { 143 };
            assert_eq!((code, &errors[0]["code"]), (Some(expected), &json!("cancelled")));
            assert!(text(&errors[0]["hint"]).contains("the same command continues"), "{errors:?}");
        }

        session.service.heal().await;
        let (code, built, errors) = command::upload(&session, &["game.apk"]).await;

        assert_eq!((code, built[0]["parts_resumed"].clone(), errors), (Some(0), json!(6), vec![]));
        assert_eq!(accepted_parts(&session).await, [1; 10], "{signal}");
        assert_eq!((session.leftovers().await.0, session.states()), (0, vec![]));
    }
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

    assert_eq!((deleted, session.leftovers().await.0, session.states()), (1, 0, vec![]));
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
async fn a_different_request_is_another_upload() {
    for more in [json!({"name": "another"}), json!({"tags": ["one"]})] {
        let mut session = fixture().open().await;
        interrupt_upload(&session, 3).await;
        let mut arguments = more;
        arguments["path"] = json!("game.apk");

        assert_eq!(session.host.succeed("upload_build", arguments).await["parts_resumed"], 0);
        assert_eq!((session.leftovers().await.0, session.states().len()), (1, 1));
        assert_eq!(session.upload("game.apk").await["parts_resumed"], 3);
    }
}

#[tokio::test]
async fn a_state_has_no_secrets_and_a_damaged_one_starts_a_new_upload() {
    let mut session = fixture().open().await;
    interrupt_upload(&session, 3).await;
    let (path, state) = (session.state_paths().remove(0), session.states().remove(0));
    for secret in [keys::DEMO, "://", "X-Amz", "127.0.0.1"] {
        assert!(!state.contains(secret), "{secret}: {state}");
    }

    std::fs::write(&path, &state[..state.len() / 2]).expect("it can be written");
    let build = session.upload("game.apk").await;

    assert_eq!((&build["parts_resumed"], session.states()), (&json!(0), vec![]));
    assert_eq!(session.service.content(text(&build["build_id"])).await, Some(bytes(10_000)));
}

#[tokio::test]
async fn an_upload_works_without_a_directory_for_its_state() {
    let session = fixture().open().await;
    session.write("game.apk", &bytes(2_500));
    let blocked = session.write("state", b"");
    let state = blocked.to_str().expect("a text");
    let mut host = session.another_host(keys::DEMO, &[("TAS_STATE_DIR", state)]).await;
    assert_eq!(host.succeed("upload_build", json!({"path": "game.apk"})).await["parts"], 3);
}

#[tokio::test]
async fn an_unfinished_upload_of_another_project_is_not_touched() {
    let mut session = fixture().open().await;
    interrupt_upload(&session, 3).await;

    let mut host = session.another_host(keys::ARENA, &[]).await;
    let build = host.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], &build["project_id"]), (&json!(0), &json!("arena")));

    let left = session.service.control("uploads").await;

    assert_eq!((&left["data"][0]["project_id"], session.states().len()), (&json!("demo"), 1));

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
    assert_eq!((session.leftovers().await.0, session.states()), (0, vec![]));
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
    assert_eq!((session.leftovers().await.0, session.states().len()), (1, 1));

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

    assert_eq!(session.states().len(), 1);
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
            command::upload(&session, &[path.to_str().expect("a text")]).await.1.remove(0)
        };

        assert_eq!((&build["build_id"], &build["parts_resumed"]), (&build_id, &json!(10)));
        assert_eq!(build["sha256"], sha256(&bytes(10_000)));
        assert_eq!((accepted_parts(&session).await, session.states()), (vec![1; 10], vec![]));

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
    assert_eq!((session.leftovers().await.0, session.states().len()), (0, 1));

    session.service.heal().await;

    assert_eq!(session.upload("game.apk").await["build_id"], build_id);
}

#[tokio::test]
async fn two_processes_with_one_file_make_one_build() {
    let session = fixture().open().await;
    session.write("game.apk", &bytes(10_000));
    hold_parts(&session.service, 0).await;

    let first = command::start_command(&session, &["game.apk"]);
    session.wait_for_pending_parts(4).await;
    let second = command::start_command(&session, &["game.apk"]);
    session.wait_for_pending_parts(8).await;
    session.service.heal().await;
    session.service.release().await;

    // The slower one either finds the build, or the service has the upload no more when it sends its last part.
    let mut builds = Vec::new();
    for child in [first, second] {
        let (_, built, errors) = command::wait_for_exit(child).await;
        assert!(
            errors.iter().all(|error| text(&error["hint"]).contains("cancelled elsewhere")),
            "{errors:?}"
        );
        builds.extend(built.into_iter().map(|build| build["build_id"].clone()));
    }

    assert!(!builds.is_empty() && builds.iter().all(|build| *build == builds[0]), "{builds:?}");
    assert_eq!(session.service.content(text(&builds[0])).await, Some(bytes(10_000)));
    assert_eq!((session.leftovers().await.0, session.states()), (0, vec![]));
}
