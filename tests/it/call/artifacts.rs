//! Artifacts of players: lists, and files in parts (service.md 12).

use serde_json::{Value, json};
use tas_mcp::{
    sandbox::{keys, seed},
    settings::Settings,
};

use crate::support::{
    host::Host,
    peer::Peer,
    service::{Service, settings},
};

mod lists;
mod parts;
mod pictures;
mod redirects;
mod refused;
mod types;

const ALL: (&str, &str) = ("TAS_TOOLSETS", "all");

/// The first player of the failed run.
fn player() -> String {
    format!("{}-1", seed::RUN_FAILED)
}

/// Arguments for a file of that player.
fn file(name: &str) -> Value {
    json!({"run_id": player(), "filename": name})
}

/// A part of a file of that player.
fn part(name: &str, offset: u64, length: u64) -> Value {
    json!({"run_id": player(), "filename": name, "offset": offset, "length": length})
}

/// Settings whose knowledge host is `peer`. No service listens at the address of the main API.
fn settings_of(peer: &Peer) -> Settings {
    let knowledge = format!("http://{}", peer.address());
    // Port 1 refuses connections: a request to the main API would fail.
    let unused_address = ("TAS_BASE_URL", "http://127.0.0.1:1/api/v1");
    settings(&[unused_address, ("TAS_KNOWLEDGE_URL", &knowledge), ("TAS_API_KEY", keys::DEMO), ALL])
}

/// A knowledge host that answers everything with this head and these bytes, and a server in front of it.
async fn answering(head: &str, body: impl AsRef<[u8]>) -> (Peer, Host) {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len());
    answering_bytes([head.as_bytes(), body].concat()).await
}

/// As [`answering`], with an answer that includes its head.
async fn answering_bytes(answer: Vec<u8>) -> (Peer, Host) {
    let peer = Peer::answering(answer).await;
    let host = Host::open(&settings_of(&peer)).await;
    (peer, host)
}

/// The bytes of a file as the sandbox serves them.
async fn bytes_in_sandbox(service: &Service, name: &str) -> Vec<u8> {
    let address = format!("{}/runs/{}/artifacts/{name}", service.knowledge_url(), player());
    service.fetch(&address, keys::DEMO).await
}
