//! Slow, silent and cancelled requests.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use super::{run, start};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    peer::{Event, Peer},
    service::settings,
};

#[tokio::test]
async fn a_reading_request_that_takes_too_long_is_a_timeout() {
    let Session { service, mut host, .. } = Fixture::new().variables(&[("TAS_TIMEOUT_S", "1")]).open().await;
    service.fault(json!({"operation": "get_run", "delay_ms": 60_000})).await;

    let error = host.fail("get_run", run()).await;

    assert_eq!(error["code"], "timeout");
    assert!(error["message"].as_str().expect("a message").contains("within 1 s"), "{error}");
    assert_eq!(service.requests().await.len(), 1);

    host.succeed("get_run", run()).await;
}

/// The paused clock of Tokio jumps to the next time limit, so that no attempt waits in real time.
#[tokio::test(start_paused = true)]
async fn a_write_without_a_connection_is_unavailable_and_not_of_unknown_outcome() {
    // The peer accepts the connection and never answers the TLS handshake.
    let peer = Peer::answering("").await;
    let base_url = format!("https://{}/api/v1", peer.address());
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];

    for seconds in ["1", "30", "45"] {
        let mut host = Host::open(&settings(&[&variables[..], &[("TAS_TIMEOUT_S", seconds)]].concat())).await;
        let error = host.fail("start_run", start()).await;
        assert_eq!(error["code"], "service_unavailable", "{error}");
    }
}

#[tokio::test]
async fn a_cancelled_call_aborts_its_request() {
    let mut peer = Peer::answering("").await;
    let mut host = Host::open(&peer.settings(keys::DEMO, &[])).await;

    for (tool, arguments) in
        [("get_run", run()), ("stop_runs", json!({"job_ids": [seed::JOB_RUNNING], "confirm": true}))]
    {
        let call = host.start("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(matches!(peer.next().await, Event::Request(_)));
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}});
        host.send(&cancel).await;
        assert_eq!(peer.next().await, Event::Closed);
    }

    assert!(host.request("tools/list", json!({})).await["result"]["tools"].is_array());
}
