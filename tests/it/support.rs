//! Fixtures and doubles that the tests share.

pub(crate) mod binary;
pub(crate) mod contract;
pub(crate) mod fixture;
pub(crate) mod host;
pub(crate) mod http_client;
pub(crate) mod peer;
pub(crate) mod schema;
pub(crate) mod service;
pub(crate) mod stub;
pub(crate) mod time;
pub(crate) mod tls;

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::{
    mcp::published_tool,
    tools::{catalog::Tool, selection::Selection},
};

/// Longest wait for what must come. After this a test fails instead of hanging, also on a busy machine.
pub(crate) const HANG_LIMIT: Duration = Duration::from_secs(600);

/// Returns the JSON of a tool as hosts list it. Its texts may name every tool.
pub(crate) fn listed_tool(entry: Tool, is_global: bool) -> Value {
    json!(published_tool(entry.info, is_global, &Selection::all_tools()))
}

/// Returns a builder of clients for plain HTTP without a proxy. The library asks for the cryptography of TLS all the same, and would
/// read the certificates of the system each time.
pub(crate) fn plain_client() -> reqwest::ClientBuilder {
    // Every call after the first one finds it installed.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().no_proxy().tls_certs_only([])
}

/// Whether snapshots are to be written instead of compared; they are compared afterwards all the same.
pub(crate) fn updates_snapshots() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a switch of the tests, not a setting")]
    std::env::var_os("TAS_UPDATE_SNAPSHOTS").is_some()
}
