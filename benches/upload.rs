//! Uploads a build in parts, and compares with the minimum that a client must do: four concurrent streaming PUTs from the same
//! file to the same storage. `cargo bench --bench upload`
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(clippy::expect_used, reason = "a benchmark without a service cannot run")]

use std::{
    fs::File,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::{Value, json};
use tas_mcp::{
    call::arguments::ToolArguments,
    settings::{self, Settings},
    tools::{
        catalog,
        context::{CallOptions, CallerWithFiles},
    },
};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

const MIB: u64 = 1024 * 1024;
const PART: u64 = 64 * MIB;
const PARTS: u64 = 16;
const CONCURRENT_PARTS: usize = 4;
const ROUNDS: usize = 5;
/// Size of the buffer that both uploads read with.
const CHUNK: usize = 256 * 1024;

/// Answers as a service that accepts every upload, and as a storage that discards the parts.
async fn answer(State(address): State<SocketAddr>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let text = match (head.method.as_str(), head.uri.path().rsplit('/').next()) {
        ("PUT", _) => {
            let received =
                body.into_data_stream().try_fold(0, async |sum, chunk| Ok(sum + chunk.len())).await;
            assert!(received.is_ok(), "a part arrives completely");
            return [("etag", "\"stored\"")].into_response();
        }
        ("GET", Some("parts")) => {
            let url = |number| json!({"part_number": number, "url": format!("http://{address}/{number}")});
            json!({"upload_urls": (1..=PARTS).map(url).collect::<Vec<_>>()})
        }
        ("POST", Some("upload")) => json!({
            "upload_type": "multipart", "build_id": "b", "upload_id": "u", "object_key": "o",
            "part_size": PART, "total_parts": PARTS,
        }),
        _ => json!({"build_id": "b"}),
    };

    ([("content-type", "application/json")], Body::from(text.to_string())).into_response()
}

fn tools(address: SocketAddr, directory: &Path) -> CallerWithFiles {
    let matches = clap::Command::new("bench").args(settings::flags()).get_matches_from(["bench"]);
    let settings = Settings::from_sources(&matches, |name| match name {
        "TAS_BASE_URL" => Some(format!("http://{address}/api/v1")),
        "TAS_API_KEY" => Some("svc_bench".to_owned()),
        "TAS_PROJECT_ID" => Some("bench".to_owned()),
        "TAS_FILES_ROOT" | "TAS_STATE_DIR" => directory.to_str().map(str::to_owned),
        _ => None,
    });

    CallerWithFiles::new(settings.tools_config().expect("usable settings"))
}

/// Uploads the build with the tool.
async fn upload_build(tools: &CallerWithFiles) -> Duration {
    let tool = catalog::find_tool("upload_build").expect("a tool");
    let arguments = json!({"path": "game.apk", "wait": true});
    let arguments = ToolArguments::from_host(&tool, arguments.as_object().cloned().unwrap_or_default());
    let started = Instant::now();
    let reply = (tool.run)(tools.tool_call(arguments, CallOptions::silent())).await.expect("an upload");

    assert_eq!(reply.value().get("status").and_then(Value::as_str), Some("uploaded"));
    started.elapsed()
}

/// Uploads the parts with four concurrent PUTs and nothing else.
async fn upload_plainly(client: &reqwest::Client, address: SocketAddr, file: &Path) -> Duration {
    let put = |number: u64| async move {
        let mut file = tokio::fs::File::open(file).await.expect("the file");
        file.seek(std::io::SeekFrom::Start((number - 1) * PART)).await.expect("its part");
        let body = reqwest::Body::wrap_stream(ReaderStream::with_capacity(file.take(PART), CHUNK));
        let sent = client.put(format!("http://{address}/{number}")).header("content-length", PART).body(body);
        assert!(sent.send().await.is_ok_and(|answer| answer.status().is_success()), "a part is stored");
    };

    let started = Instant::now();
    stream::iter(1..=PARTS).map(put).buffer_unordered(CONCURRENT_PARTS).collect::<Vec<()>>().await;

    started.elapsed()
}

fn median(mut values: Vec<Duration>) -> f64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default().as_secs_f64()
}

/// Starts the service in another thread, so that it does not share the runtime of the client.
fn serve() -> SocketAddr {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.set_nonblocking(true).expect("a listener");

    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        runtime().block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            axum::serve(listener, Router::new().fallback(answer).with_state(address)).await
        })
    });

    address
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn main() {
    runtime().block_on(compare(serve()));
}

async fn compare(address: SocketAddr) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("game.apk");
    File::create(&file).and_then(|file| file.set_len(PART * PARTS)).expect("a sparse file");

    let tools = tools(address, directory.path());
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let (mut uploads, mut floor) = (Vec::new(), Vec::new());

    // Both take turns, so that a change of the load of the machine affects both.
    for _ in 0..ROUNDS {
        floor.push(upload_plainly(&client, address, &file).await);
        uploads.push(upload_build(&tools).await);
    }

    let [upload, floor] = [uploads, floor].map(median);
    let size = PART * PARTS / MIB;
    println!(
        "upload {size} MiB in {PARTS} parts: {upload:.2} s ({:.2}x of four plain PUTs at once, {floor:.2} s)",
        floor / upload,
    );
}
