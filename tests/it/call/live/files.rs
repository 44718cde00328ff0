//! Images on the command line: files if the flag asks for them, and never Base64 in the printed JSON.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed::RUN_RUNNING};

use crate::support::{binary::run_binary, service::Service};

/// Calls `get_live_run` with these flags. Returns the exit code, the printed JSON, and the printed error.
async fn call(service: &Service, flags: &[&str]) -> (Option<i32>, Value, Value) {
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let arguments = [&["call", "get_live_run", "--run-id", RUN_RUNNING, "--json"], flags].concat();
    let output = run_binary(&arguments, &variables, &[]).await;
    let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
    (output.status.code(), json(&output.stdout), json(&output.stderr)["error"].clone())
}

fn name(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[tokio::test]
async fn the_printed_json_holds_the_number_of_each_image() {
    let service = Service::start().await;
    let (code, run, _) = call(&service, &[]).await;
    let said = json!({"image": 1, "mimeType": "image/png", "width": 720, "height": 1280});
    assert_eq!((code, &run["players"][0]["screenshot"]), (Some(0), &said));
}

#[tokio::test]
async fn images_are_written_to_files_and_no_file_is_overwritten() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("notes.txt"), "mine").expect("a file");

    let (code, run, error) = call(&service, &["--images", name(directory.path())]).await;

    assert_eq!((code, &run["players"][0]["screenshot"]["image"]), (Some(0), &json!(1)), "{error}");

    let path = directory.path().join("image-1.png");
    let written = image::open(&path).expect("a picture");

    assert_eq!((written.width(), written.height()), (720, 1280));

    // Another content shows whether the second call writes the file.
    fs::write(&path, "changed").expect("a file");
    let requests = service.requests().await;
    let (code, _, error) = call(&service, &["--images", name(directory.path())]).await;

    assert_eq!((code, &error["code"]), (Some(2), &json!("invalid_arguments")));
    assert!(
        error["message"].as_str().is_some_and(|said| said.ends_with("already contains `image-1.png`")),
        "{error}"
    );
    assert_eq!(fs::read(&path).expect("a file"), b"changed");
    assert_eq!(service.requests().await, requests, "no request was sent");
}

#[tokio::test]
async fn a_path_that_is_no_directory_is_refused_before_any_request() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("file");

    fs::write(&file, "").expect("a file");
    for bad in [directory.path().join("missing"), file] {
        let (code, _, error) = call(&service, &["--images", name(&bad)]).await;
        assert_eq!((code, &error["code"]), (Some(2), &json!("invalid_arguments")), "{error}");
    }

    assert_eq!(service.requests().await, [""; 0]);
}

/// No process can create a file in `/proc`, not even as root.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_answer_is_printed_if_an_image_cannot_be_written() {
    let service = Service::start().await;
    let (code, run, error) = call(&service, &["--images", "/proc"]).await;
    assert_eq!(run["players"][0]["screenshot"]["image"], 1, "{run}");
    assert_eq!((code, &error["code"]), (Some(1), &json!("file_error")), "{error}");
}

#[tokio::test]
async fn only_tools_that_answer_with_pictures_take_the_flag() {
    let output = run_binary(&["call", "get_run", "--run-id", RUN_RUNNING, "--images", "."], &[], &[]).await;
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("unexpected argument '--images'"), "{said}");
}
