//! Compares the decoder of one `tools/call` with the decoder of the library. `cargo bench --bench line`

mod ratio;

use std::hint::black_box;

use rmcp::{RoleServer, service::RxJsonRpcMessage};
use tas_mcp::mcp::message::decode;

const LINE: &[u8] = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"start_run","arguments":{"multiplayer_test_id":"3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b","deployment_config_id":"c4d5e6f7-0819-4a2b-8c3d-4e5f60718293","retries":2,"additional_tags":["nightly","smoke"]}}}"#;

fn main() {
    let crate_decoder = || drop(black_box(decode(black_box(LINE))));
    let library = || drop(black_box(serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(black_box(LINE))));

    ratio::compare("decode tools/call", 5_000, crate_decoder, ("the library", library));
}
