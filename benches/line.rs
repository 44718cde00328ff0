//! Compares the decoder of one `tools/call` and the encoder of its result with those of the library.
//! `cargo bench --bench line`

mod ratio;

use std::hint::black_box;

use rmcp::{
    RoleServer,
    model::{CallToolResult, ContentBlock, JsonRpcMessage, RequestId, ServerResult},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
};
use serde_json::json;
use tas_mcp::{
    cli,
    mcp::{Server, message::decode},
    settings::Settings,
};

const LINE: &[u8] = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"start_run","arguments":{"multiplayer_test_id":"3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b","deployment_config_id":"c4d5e6f7-0819-4a2b-8c3d-4e5f60718293","retries":2,"additional_tags":["nightly","smoke"]}}}"#;

fn main() {
    let crate_decoder = || drop(black_box(decode(black_box(LINE))));
    let library = || drop(black_box(serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(black_box(LINE))));

    ratio::compare("decode tools/call", 5_000, crate_decoder, ("the library", library));

    compare_encoders("encode a result of 3 KB", 30, 1_000);
    compare_encoders("encode a result of 1 MB", 10_000, 5);
}

fn compare_encoders(name: &str, steps: usize, calls: u32) {
    let step =
        json!({"name": "step", "report": "The player opens \"Inventory\".\nIt is empty.", "passed": true});
    let reply = json!({"steps": vec![step; steps]});
    let matches = cli::program().get_matches_from(["tas-mcp"]);
    let encoder =
        Server::from_settings(&Settings::from_sources(&matches, |_| None::<&str>)).message_encoder();

    let mut result = CallToolResult::success(vec![ContentBlock::text(reply.to_string())]);
    let message = response(result.clone());
    // The encoder takes its message, so that its time contains a copy of the message.
    let with_encoder = || drop(black_box(encoder.encode(black_box(&message).clone())));
    result.structured_content = Some(reply);
    let complete = response(result);
    let with_library = || drop(black_box(serde_json::to_vec(black_box(&complete))));

    ratio::compare(name, calls, with_encoder, ("the library", with_library));
}

fn response(result: CallToolResult) -> TxJsonRpcMessage<RoleServer> {
    JsonRpcMessage::response(ServerResult::CallToolResult(result), RequestId::Number(7))
}
