//! Pauses that the service asks for, and the time that an upload has. Time is simulated.

use std::{
    fs::File,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use serde_json::{Value, json};
use tas_mcp::{mcp::Server, sandbox::keys, tools::dispatcher::Dispatcher};

use super::{Scene, bytes, hold_parts, text};
use crate::support::{host::Host, time::Simulated};

const MINUTE: f64 = 60.0;

/// A host whose time passes when somebody pauses.
async fn host(scene: &Scene) -> (Host, Arc<Simulated>) {
    let (settings, clock) = (scene.settings(keys::DEMO, &[]), Simulated::alone());
    let mut host =
        Host::to(Server::new(Dispatcher::new(settings.tools_config()).with_clock(clock.clone()), &settings));
    host.initialize("2025-11-25").await;
    (host, clock)
}

async fn busy(scene: &Scene, operation: &str, seconds: u32) {
    let headers = json!({"retry-after": seconds.to_string()});
    scene.service.fault(json!({"operation": operation, "status": 503, "headers": headers})).await;
}

fn path() -> Value {
    json!({"path": "game.apk"})
}

#[tokio::test]
async fn a_pause_is_as_long_as_the_service_asks() {
    // Longer than the client waits by itself.
    for operation in ["put_part", "get_build_upload_parts", "complete_build_upload"] {
        let scene = Scene::open().await;
        scene.write("game.apk", b"abc");
        busy(&scene, operation, 70).await;
        let (mut host, clock) = host(&scene).await;
        host.succeed("upload_build", path()).await;
        assert_eq!(clock.pauses(), [Duration::from_secs(70)], "{operation}");
    }
}

#[tokio::test]
async fn a_pause_that_is_longer_than_the_upload_has_is_told() {
    for operation in ["put_part", "get_build_upload_parts"] {
        let scene = Scene::open().await;
        scene.write("game.apk", b"abc");
        busy(&scene, operation, 3_601).await;

        let (mut host, clock) = host(&scene).await;
        let error = host.fail("upload_build", path()).await;

        assert_eq!((&error["code"], clock.pauses()), (&json!("service_unavailable"), vec![]), "{error}");
        assert_eq!(error["details"]["retry_after_s"], 3_601);

        let hint = text(&error["hint"]);

        assert!(hint.contains("the service asks to wait 3601 s, and the upload has 3600 s left"), "{hint}");
        assert_eq!((scene.left_over().await, scene.journals()), ((0, 0), vec![]));
    }
}

#[tokio::test]
async fn a_cancelled_upload_does_not_wait() {
    let scene = Scene::open().await;
    scene.write("game.apk", b"abc");
    busy(&scene, "complete_build_upload", 70).await;

    let (mut host, clock) = host(&scene).await;
    clock.stands_still.store(true, Relaxed);

    let id = host.start("tools/call", json!({"name": "upload_build", "arguments": path()})).await;
    while clock.pauses().is_empty() {
        tokio::task::yield_now().await;
    }

    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
        .await;
    scene.until_nothing_is_left().await;
}

/// The completion has happened, and its answer says that the service is busy.
#[tokio::test]
async fn a_build_that_is_complete_is_not_cancelled() {
    let scene = Scene::open().await;
    scene.write("game.apk", b"abc");

    let fault = json!({
        "operation": "complete_build_upload", "status": 503, "after": true, "headers": {"retry-after": "70"},
    });
    scene.service.fault(fault).await;

    let (mut host, clock) = host(&scene).await;
    clock.stands_still.store(true, Relaxed);

    let id = host.start("tools/call", json!({"name": "upload_build", "arguments": path()})).await;
    while clock.pauses().is_empty() {
        tokio::task::yield_now().await;
    }

    assert_eq!(scene.journals().len(), 1);

    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
        .await;
    while !scene.journals().is_empty() {
        tokio::task::yield_now().await;
    }

    let writes = scene.service.writes().await;

    assert!(!writes.iter().any(|line| line.starts_with("DELETE")), "{writes:?}");
}

/// Begins to upload the file, and lets so many minutes pass at the service; how many uploads it has then.
async fn left_after(scene: &Scene, arguments: Value, parts: usize, minutes: f64) -> usize {
    hold_parts(&scene.service, 0).await;
    let mut host = scene.host().await;
    host.start("tools/call", json!({"name": "upload_build", "arguments": arguments})).await;
    scene.until_pending(parts).await;
    scene.service.advance(minutes * MINUTE);
    scene.left_over().await.0
}

/// 1 GiB takes 69 minutes at 256 KiB/s.
#[tokio::test]
async fn a_large_file_has_the_time_that_a_slow_line_needs() {
    for (minutes, left) in [(68.0, 1), (69.0, 0)] {
        let scene = Scene::open().await;
        let file = File::create(scene.root.path().join("game.apk")).expect("a file");
        file.set_len(1 << 30).expect("a sparse file");
        assert_eq!(left_after(&scene, path(), 4, minutes).await, left, "{minutes}");
    }
}

/// The service would give it 10.
#[tokio::test]
async fn a_file_in_one_piece_has_an_hour_too() {
    for (minutes, left) in [(59.0, 1), (60.0, 0)] {
        let scene = Scene::open().await;
        scene.write("game.apk", &bytes(3));
        let arguments = json!({"path": "game.apk", "multipart": false});
        assert_eq!(left_after(&scene, arguments, 1, minutes).await, left, "{minutes}");
    }
}
