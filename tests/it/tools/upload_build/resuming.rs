//! Uploads whose process was killed, and what goes on from them.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{Scene, bytes, command, hold_parts, sha256, text};
use crate::support::host::Host;

/// Begins to upload a file of ten parts with the binary, and kills it when the service has `parts` of them.
pub(super) async fn cut_off(scene: &Scene, parts: usize) {
    scene.write("game.apk", &bytes(10_000));
    hold_parts(&scene.service, parts).await;

    let path = scene.root.path().join("game.apk");
    let mut child = command::started(scene, &[path.to_str().expect("a text")]);
    scene.until_held(parts, 4).await;

    while scene.journals().first().map_or(0, |journal| journal.lines().count()) < 1 + parts {
        tokio::task::yield_now().await;
    }

    child.kill().await.expect("it can be killed");
    scene.service.heal().await;

    assert_eq!(scene.left_over().await.0, 1);
}

/// How often each part was taken.
async fn taken(scene: &Scene) -> Vec<usize> {
    let puts = scene.puts().await;
    (1..=10).map(|number| puts.iter().filter(|put| **put == format!("{number} 200")).count()).collect()
}

#[tokio::test]
async fn the_tool_goes_on_where_a_killed_process_ended() {
    let scene = Scene::open().await;
    cut_off(&scene, 6).await;

    let begun = scene.service.control("uploads").await["data"][0]["build_id"].clone();
    let build = scene.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], &build["build_id"]), (&json!(6), &begun));
    assert_eq!(taken(&scene).await, [1; 10]);
    assert_eq!(build["sha256"], sha256(&bytes(10_000)));
    assert_eq!(scene.service.content(text(&begun)).await, Some(bytes(10_000)));
    assert_eq!((scene.left_over().await.0, scene.journals()), (0, vec![]));
}

#[tokio::test]
async fn the_command_goes_on_when_it_is_asked_to() {
    let scene = Scene::open().await;
    cut_off(&scene, 6).await;

    let path = scene.root.path().join("game.apk");
    let (code, built, errors) = command::upload(&scene, &["--resume", path.to_str().expect("a text")]).await;

    assert_eq!((code, built[0]["parts_resumed"].clone(), errors), (Some(0), json!(6), vec![]));
    assert_eq!(taken(&scene).await, [1; 10]);
    assert_eq!((scene.left_over().await.0, scene.journals()), (0, vec![]));
}

#[tokio::test]
async fn the_command_cancels_what_is_unfinished_otherwise() {
    let scene = Scene::open().await;
    cut_off(&scene, 6).await;

    let begun = scene.service.control("uploads").await["data"][0]["build_id"].clone();
    let path = scene.root.path().join("game.apk");
    let (code, built, _) = command::upload(&scene, &[path.to_str().expect("a text")]).await;

    assert_eq!((code, built[0]["parts_resumed"].clone()), (Some(0), json!(0)));
    assert_ne!(built[0]["build_id"], begun);

    let writes = scene.service.writes().await;
    let place = |start: &str| writes.iter().rposition(|line| line.starts_with(start)).expect("a request");

    assert!(place("DELETE") < place("POST /project/demo/builds/upload 200"), "{writes:?}");
    assert_eq!((scene.left_over().await.0, scene.journals()), (0, vec![]));
}

/// Cuts an upload off, changes something, and uploads once more: the unfinished upload is cancelled, and all is sent.
async fn begun_anew(change: impl FnOnce(&Scene), arguments: Value) {
    let scene = Scene::open().await;
    cut_off(&scene, 3).await;
    change(&scene);

    let build = scene.host().await.succeed("upload_build", arguments).await;

    assert_eq!(build["parts_resumed"], 0, "{build}");

    let file = std::fs::read(scene.root.path().join("game.apk")).expect("a file");

    assert_eq!(scene.service.content(text(&build["build_id"])).await, Some(file));

    let deleted = scene.service.writes().await.iter().filter(|line| line.starts_with("DELETE")).count();

    assert_eq!((deleted, scene.left_over().await.0, scene.journals()), (1, 0, vec![]));
}

#[tokio::test]
async fn a_file_that_has_changed_begins_anew() {
    let path = || json!({"path": "game.apk"});
    begun_anew(|scene| drop(scene.write("game.apk", &bytes(9_000))), path()).await;
    begun_anew(|scene| drop(scene.write("game.apk", &[1; 10_000])), path()).await;
    // Tools that build the same way every time set the time of writing.
    #[cfg(unix)]
    begun_anew(
        |scene| {
            let place = scene.root.path().join("game.apk");
            let written = place.metadata().and_then(|data| data.modified()).expect("a time");
            std::thread::yield_now();
            let file = scene.write("game.apk", &[1; 10_000]);
            let file = std::fs::OpenOptions::new().append(true).open(file).expect("the file");
            file.set_modified(written).expect("the time can be set");
        },
        path(),
    )
    .await;
}

#[tokio::test]
async fn another_wish_begins_anew() {
    begun_anew(|_| (), json!({"path": "game.apk", "name": "another"})).await;
    begun_anew(|_| (), json!({"path": "game.apk", "tags": ["one"]})).await;
}

#[tokio::test]
async fn an_upload_to_another_project_is_left_alone() {
    let scene = Scene::open().await;
    cut_off(&scene, 3).await;

    let mut host = Host::open(&scene.settings(keys::ARENA, &[])).await;
    let build = host.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], &build["project_id"]), (&json!(0), &json!("arena")));

    let left = scene.service.control("uploads").await;

    assert_eq!((&left["data"][0]["project_id"], scene.journals().len()), (&json!("demo"), 1));

    let build = scene.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], &build["project_id"]), (&json!(3), &json!("demo")));
}

#[tokio::test]
async fn an_upload_that_the_service_no_longer_has_begins_anew() {
    let scene = Scene::open().await;
    cut_off(&scene, 3).await;
    scene.service.advance(3_600.0);
    let build = scene.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;
    assert_eq!(build["parts_resumed"], 0);
    assert_eq!((scene.left_over().await.0, scene.journals()), (0, vec![]));
}

/// Otherwise a busy service would have two uploads of the file.
#[tokio::test]
async fn nothing_is_begun_while_nobody_knows_what_is_there() {
    let scene = Scene::open().await;
    cut_off(&scene, 3).await;

    let busy = json!({
        "operation": "get_build_upload_parts", "status": 503, "times": 100, "headers": {"retry-after": "0"},
    });
    scene.service.fault(busy).await;

    let mut host = scene.host().await;
    let error = host.fail("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(error["code"], "service_unavailable");
    assert_eq!((scene.left_over().await.0, scene.journals().len()), (1, 1));

    scene.service.heal().await;
    let build = host.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(build["parts_resumed"], 3);
}

/// The process may have been killed between the last part and the completion.
#[tokio::test]
async fn an_upload_that_has_all_its_parts_is_completed() {
    let scene = Scene::open().await;
    scene.write("game.apk", &bytes(10_000));
    scene.service.fault(json!({"operation": "complete_build_upload", "delay_ms": 60_000})).await;

    let path = scene.root.path().join("game.apk");
    let mut child = command::started(&scene, &[path.to_str().expect("a text")]);
    // Each look is a request of its own: nothing spins.
    while !scene.service.writes().await.iter().any(|line| line.contains("/upload/complete")) {}
    child.kill().await.expect("it can be killed");
    scene.service.heal().await;

    let build = scene.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], taken(&scene).await), (&json!(10), vec![1; 10]));
}

/// Kills a process whose completion has been carried out, and not been answered yet.
async fn killed_at_the_end(scene: &Scene) -> Value {
    scene.write("game.apk", &bytes(10_000));
    let unanswered = json!({"operation": "complete_build_upload", "delay_ms": 60_000, "after": true});
    scene.service.fault(unanswered).await;

    let path = scene.root.path().join("game.apk");
    let mut child = command::started(scene, &[path.to_str().expect("a text")]);
    // Each look is a request of its own: nothing spins.
    let mut begun = Value::Null;

    while begun.is_null() {
        begun = scene.service.control("uploads").await["data"][0]["build_id"].clone();
    }

    while scene.left_over().await.0 > 0 {}
    child.kill().await.expect("it can be killed");
    scene.service.heal().await;

    assert_eq!(scene.journals().len(), 1);
    begun
}

#[tokio::test]
async fn an_upload_that_is_a_build_already_is_not_made_again() {
    for with_tool in [true, false] {
        let scene = Scene::open().await;
        let begun = killed_at_the_end(&scene).await;
        let path = scene.root.path().join("game.apk");
        let build = if with_tool {
            scene.host().await.succeed("upload_build", json!({"path": "game.apk"})).await
        } else {
            command::upload(&scene, &["--resume", path.to_str().expect("a text")]).await.1.remove(0)
        };

        assert_eq!((&build["build_id"], &build["parts_resumed"]), (&begun, &json!(10)));
        assert_eq!(build["sha256"], sha256(&bytes(10_000)));
        assert_eq!((taken(&scene).await, scene.journals()), (vec![1; 10], vec![]));

        let writes = scene.service.writes().await;

        assert_eq!(writes.iter().filter(|line| line.ends_with("/upload 200")).count(), 1, "{writes:?}");
    }
}

/// Nobody knows whether it has become a build.
#[tokio::test]
async fn nothing_is_begun_while_nobody_knows_what_was_built() {
    let scene = Scene::open().await;
    let begun = killed_at_the_end(&scene).await;
    let busy =
        json!({"operation": "get_build", "status": 503, "times": 100, "headers": {"retry-after": "0"}});

    scene.service.fault(busy).await;
    let mut host = scene.host().await;

    assert_eq!(host.fail("upload_build", json!({"path": "game.apk"})).await["code"], "service_unavailable");
    assert_eq!((scene.left_over().await.0, scene.journals().len()), (0, 1));

    scene.service.heal().await;

    assert_eq!(host.succeed("upload_build", json!({"path": "game.apk"})).await["build_id"], begun);
}

#[tokio::test]
async fn two_processes_at_once_make_one_build() {
    let scene = Scene::open().await;
    scene.write("game.apk", &bytes(10_000));
    hold_parts(&scene.service, 0).await;

    let path = scene.root.path().join("game.apk");
    let path = path.to_str().expect("a text");
    let first = command::started(&scene, &[path]);

    scene.until_pending(4).await;
    for arguments in [vec![path], vec!["--resume", path]] {
        let (code, built, errors) = command::upload(&scene, &arguments).await;
        assert_eq!((code, built), (Some(1), vec![]), "{errors:?}");
        assert_eq!(errors[0]["code"], "file_error");
        assert!(text(&errors[0]["message"]).contains("is being uploaded by another process"), "{errors:?}");
    }

    assert_eq!(scene.left_over().await.0, 1);

    scene.service.heal().await;
    scene.service.release().await;

    let output = first.wait_with_output().await.expect("an output");
    let built: Value = serde_json::from_slice(&output.stdout).expect("JSON");

    assert_eq!(scene.service.content(text(&built["build_id"])).await, Some(bytes(10_000)));
    assert_eq!((taken(&scene).await, scene.journals()), (vec![1; 10], vec![]));
}
