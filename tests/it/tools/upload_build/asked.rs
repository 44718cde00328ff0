//! Pauses that the service asks for, and the time that an upload has. Time is simulated.

use std::{
    fs::File,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use serde_json::{Value, json};
use tas_mcp::{mcp::Server, sandbox::keys, tools::dispatcher::Dispatcher};

use super::{UploadFixture, bytes, hold_parts, text};
use crate::support::{host::Host, time::Simulated};

const MINUTE: f64 = 60.0;

/// A host whose time passes when somebody pauses.
async fn host(fixture: &UploadFixture) -> (Host, Arc<Simulated>) {
    let (settings, clock) = (fixture.settings(keys::DEMO, &[]), Simulated::alone());
    let mut host =
        Host::to(Server::new(Dispatcher::new(settings.tools_config()).with_clock(clock.clone()), &settings));
    host.initialize("2025-11-25").await;
    (host, clock)
}

async fn busy(fixture: &UploadFixture, operation: &str, seconds: u32) {
    let headers = json!({"retry-after": seconds.to_string()});
    fixture.service.fault(json!({"operation": operation, "status": 503, "headers": headers})).await;
}

fn path() -> Value {
    json!({"path": "game.apk"})
}

#[tokio::test]
async fn retry_after_sets_the_length_of_a_pause() {
    // Longer than the client waits by itself.
    for operation in ["put_part", "get_build_upload_parts", "complete_build_upload"] {
        let fixture = UploadFixture::open().await;
        fixture.write("game.apk", b"abc");
        busy(&fixture, operation, 70).await;
        let (mut host, clock) = host(&fixture).await;
        host.succeed("upload_build", path()).await;
        assert_eq!(clock.pauses(), [Duration::from_secs(70)], "{operation}");
    }
}

#[tokio::test]
async fn a_pause_beyond_the_deadline_of_the_upload_is_an_error() {
    for operation in ["put_part", "get_build_upload_parts"] {
        let fixture = UploadFixture::open().await;
        fixture.write("game.apk", b"abc");
        busy(&fixture, operation, 3_601).await;

        let (mut host, clock) = host(&fixture).await;
        let error = host.fail("upload_build", path()).await;

        assert_eq!((&error["code"], clock.pauses()), (&json!("service_unavailable"), vec![]), "{error}");
        assert_eq!(error["details"]["retry_after_s"], 3_601);

        let hint = text(&error["hint"]);

        assert!(hint.contains("the service asks to wait 3601 s, and the upload has 3600 s left"), "{hint}");
        assert_eq!((fixture.leftovers().await, fixture.journals()), ((0, 0), vec![]));
    }
}

#[tokio::test]
async fn cancellation_ends_a_pause() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", b"abc");
    busy(&fixture, "complete_build_upload", 70).await;

    let (mut host, clock) = host(&fixture).await;
    clock.stands_still.store(true, Relaxed);

    let id = host.start("tools/call", json!({"name": "upload_build", "arguments": path()})).await;
    while clock.pauses().is_empty() {
        tokio::task::yield_now().await;
    }

    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
        .await;
    fixture.wait_for_cleanup().await;
}

/// The completion has happened, and its answer says that the service is busy.
#[tokio::test]
async fn a_completed_build_is_not_cancelled() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", b"abc");

    let fault = json!({
        "operation": "complete_build_upload", "status": 503, "after": true, "headers": {"retry-after": "70"},
    });
    fixture.service.fault(fault).await;

    let (mut host, clock) = host(&fixture).await;
    clock.stands_still.store(true, Relaxed);

    let id = host.start("tools/call", json!({"name": "upload_build", "arguments": path()})).await;
    while clock.pauses().is_empty() {
        tokio::task::yield_now().await;
    }

    assert_eq!(fixture.journals().len(), 1);

    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
        .await;
    while !fixture.journals().is_empty() {
        tokio::task::yield_now().await;
    }

    let writes = fixture.service.writes().await;

    assert!(!writes.iter().any(|line| line.starts_with("DELETE")), "{writes:?}");
}

/// Begins to upload the file, and lets so many minutes pass at the service; how many uploads it has then.
async fn left_after(fixture: &UploadFixture, arguments: Value, parts: usize, minutes: f64) -> usize {
    hold_parts(&fixture.service, 0).await;
    let mut host = fixture.host().await;
    host.start("tools/call", json!({"name": "upload_build", "arguments": arguments})).await;
    fixture.wait_for_pending_parts(parts).await;
    fixture.service.advance(minutes * MINUTE);
    fixture.leftovers().await.0
}

/// 1 GiB takes 69 minutes at 256 KiB/s.
#[tokio::test]
async fn the_time_limit_of_a_large_file_allows_for_a_slow_line() {
    for (minutes, left) in [(68.0, 1), (69.0, 0)] {
        let fixture = UploadFixture::open().await;
        let file = File::create(fixture.root.path().join("game.apk")).expect("a file");
        file.set_len(1 << 30).expect("a sparse file");
        assert_eq!(left_after(&fixture, path(), 4, minutes).await, left, "{minutes}");
    }
}

/// The service would give it 10.
#[tokio::test]
async fn a_single_part_upload_has_an_hour() {
    for (minutes, left) in [(59.0, 1), (60.0, 0)] {
        let fixture = UploadFixture::open().await;
        fixture.write("game.apk", &bytes(3));
        let arguments = json!({"path": "game.apk", "multipart": false});
        assert_eq!(left_after(&fixture, arguments, 1, minutes).await, left, "{minutes}");
    }
}
