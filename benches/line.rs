//! Compares the decoder of one `tools/call` with the decoder of the library. `cargo bench --bench line`
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use rmcp::{RoleServer, service::RxJsonRpcMessage};
use tas_mcp::mcp::message::decode;

const LINE: &[u8] = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"start_run","arguments":{"multiplayer_test_id":"3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b","deployment_config_id":"c4d5e6f7-0819-4a2b-8c3d-4e5f60718293","retries":2,"additional_tags":["nightly","smoke"]}}}"#;

const ROUNDS: usize = 21;
const CALLS: u32 = 5_000;

/// Returns the mean duration of a call of `work`.
fn time(work: impl Fn()) -> Duration {
    let started = Instant::now();
    (0..CALLS).for_each(|_| work());
    started.elapsed() / CALLS
}

fn median(mut values: Vec<Duration>) -> Duration {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn main() {
    let crate_decoder = || drop(black_box(decode(black_box(LINE))));
    let library = || drop(black_box(serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(black_box(LINE))));
    // Both decoders take turns, so that a change of the load of the machine affects both.
    let rounds = (0..ROUNDS).map(|_| (time(crate_decoder), time(library)));
    let (crate_decoder, library): (Vec<_>, Vec<_>) = rounds.unzip();
    let (crate_decoder, library) = (median(crate_decoder), median(library));
    println!(
        "decode tools/call: {crate_decoder:?}, the library {library:?}: {:.2}x",
        crate_decoder.as_secs_f64() / library.as_secs_f64()
    );
}
