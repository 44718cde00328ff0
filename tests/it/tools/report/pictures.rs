//! The pictures of the page, and the resource that gives them to the view in a host.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{data, run};
use crate::support::{host::Host, service::Service};

/// Writes the page to standard output, with the setting of the artifact host. Returns the exit code and the data of the page.
async fn page(service: &Service, arguments: &[&str]) -> (Option<i32>, Value) {
    let knowledge_url = service.knowledge_url();
    let arguments = [&["report", "--html", "-"], arguments].concat();
    let (code, page, _) = run(service, &arguments, &[("TAS_KNOWLEDGE_URL", knowledge_url.as_str())]).await;
    (code, data(&page))
}

/// Returns three facts of each picture of a page: the run, the failed step, and whether the picture is the last of its player.
fn picture_facts(data: &Value) -> Vec<(&str, Option<u64>, bool)> {
    let items = data["pictures"]["items"].as_array().expect("pictures");
    items
        .iter()
        .map(|one| (one["run_id"].as_str().expect("a run"), one["step"].as_u64(), one["end"] == true))
        .collect()
}

/// Returns the URL of the screenshot of the failed step.
fn step_url(service: &Service) -> String {
    format!("{}/runs/{}-1/artifacts/screenshots/step-2.png", service.knowledge_url(), seed::RUN_FAILED)
}

/// Lets the next `get_run` answer with a run of `players` failed players, each with one screenshot at `url`.
async fn answer_with_players(service: &Service, players: usize, url: &str) {
    let player = |number: usize| {
        json!({
            "id": format!("{}-1", seed::RUN_FAILED), "player_number": number, "steps": [{"run_result": "FAILED"}],
            "artifacts": [{"filename": "step-1.png", "url": url}],
        })
    };
    let run = json!({
        "multiplayer_run_id": seed::RUN_FAILED, "state": "completed", "result": "FAILED",
        "players": (1..=players).map(player).collect::<Vec<_>>(),
    });
    service.fault(json!({"operation": "get_run", "body": run})).await;
}

#[tokio::test]
async fn the_page_of_a_run_shows_the_failed_step_and_the_end() {
    let service = Service::start().await;
    let (code, data) = page(&service, &[seed::RUN_FAILED]).await;

    assert_eq!(code, Some(0));
    assert_eq!(picture_facts(&data), [(seed::RUN_FAILED, Some(2), false), (seed::RUN_FAILED, None, true)]);
    assert_eq!(data["pictures"]["unread"], Value::Null);

    let step = &data["pictures"]["items"][0];
    let encoded = step["src"].as_str().and_then(|src| src.strip_prefix("data:image/jpeg;base64,"));
    let picture = BASE64_STANDARD.decode(encoded.expect("a JPEG")).expect("Base64");
    let decoded = image::load_from_memory(&picture).expect("a picture");

    assert_eq!((&step["width"], &step["height"]), (&json!(decoded.width()), &json!(decoded.height())));
}

#[tokio::test]
async fn failed_tests_of_an_execution_come_first() {
    let service = Service::start().await;
    let (_, data) = page(&service, &[seed::EXECUTION_COMPLETED]).await;
    let shown = picture_facts(&data);
    let of_steps: Vec<_> = shown.iter().filter(|one| one.1.is_some()).map(|one| one.0).collect();
    let of_ends: Vec<_> = shown.iter().filter(|one| one.1.is_none()).map(|one| one.0).collect();

    // One test failed, and one passed after a timeout.
    assert_eq!((of_steps.len(), of_ends.len()), (2, 5));
    assert_eq!(shown.iter().position(|one| one.1.is_none()), Some(2));
    assert_eq!(of_steps, of_ends[..2]);
}

#[tokio::test]
async fn without_pictures_no_file_is_requested() {
    let service = Service::start().await;
    for id in [seed::RUN_FAILED, seed::EXECUTION_COMPLETED] {
        let (code, data) = page(&service, &[id, "--no-pictures"]).await;
        assert_eq!((code, &data["pictures"]), (Some(0), &Value::Null));
    }

    let requests = service.requests().await;

    assert!(!requests.iter().any(|line| line.contains("/artifacts/")), "{requests:?}");
}

#[tokio::test]
async fn the_page_names_the_setting_of_a_missing_artifact_host() {
    let service = Service::start().await;
    let (code, page, _) = run(&service, &["report", seed::RUN_FAILED, "--html", "-"], &[]).await;
    let pictures = data(&page)["pictures"].clone();
    assert_eq!((code, &pictures["items"]), (Some(0), &json!([])));
    assert_eq!(pictures["unread"][0]["what"], "2 of 2 pictures");
    let why = pictures["unread"][0]["why"].as_str().expect("a reason");
    assert!(why.contains("TAS_KNOWLEDGE_URL"), "{why}");
}

#[tokio::test]
async fn pictures_that_cannot_be_loaded_are_named_and_the_report_succeeds() {
    let service = Service::start().await;
    let hostile = ["<script>alert(1)</script>", "GIF89a", "", "\u{ff}\u{d8}\u{ff}"];

    for body in hostile {
        service
            .fault(json!({"operation": "get_run_artifact", "body": body, "content_type": "image/png"}))
            .await;
        let (code, data) = page(&service, &[seed::RUN_FAILED]).await;

        // Both pictures are requested at the same time: either of them can receive the fault.
        assert_eq!((code, picture_facts(&data).len()), (Some(0), 1));
        let what = data["pictures"]["unread"][0]["what"].as_str().expect("a text");
        assert!(what.starts_with("picture `screenshots/") && !what.contains(", "), "{what}");

        let why = data["pictures"]["unread"][0]["why"].as_str().expect("a reason");

        assert!(why.ends_with("it is neither PNG nor JPEG"), "{why}");
    }

    // A cut body is requested three times for each picture.
    for (fault, times) in [(json!({"status": 404}), 2), (json!({"status": 403}), 2), (json!({"cut": 100}), 6)]
    {
        let mut fault = fault;
        fault["operation"] = json!("get_run_artifact");
        fault["times"] = json!(times);
        service.fault(fault.clone()).await;

        let (code, data) = page(&service, &[seed::RUN_FAILED]).await;

        assert_eq!((code, data["run"]["multiplayer_run_id"].as_str()), (Some(0), Some(seed::RUN_FAILED)));
        assert_eq!(picture_facts(&data), [], "{fault}");
        let what = data["pictures"]["unread"][0]["what"].as_str().expect("a text");
        assert!(what.starts_with("picture `screenshots/") && what.contains(", `screenshots/"), "{fault}");
    }
}

#[tokio::test]
async fn a_picture_is_requested_again_after_a_transient_failure() {
    let service = Service::start().await;
    service
        .fault(json!({"operation": "get_run_artifact", "status": 503, "headers": {"retry-after": "0"}}))
        .await;

    let (_, data) = page(&service, &[seed::RUN_FAILED]).await;

    assert_eq!((picture_facts(&data).len(), &data["pictures"]["unread"]), (2, &Value::Null));
}

#[tokio::test]
async fn a_picture_larger_than_the_limit_is_not_requested() {
    let service = Service::start().await;
    let file = json!({"filename": "step-1.png", "url": step_url(&service), "size": 20_000_000});
    let player = json!({"id": format!("{}-1", seed::RUN_FAILED), "steps": [{"run_result": "FAILED"}], "artifacts": [file]});
    let run = json!({"multiplayer_run_id": seed::RUN_FAILED, "state": "completed", "players": [player]});
    service.fault(json!({"operation": "get_run", "body": run})).await;

    let (_, data) = page(&service, &[seed::RUN_FAILED]).await;
    let why = data["pictures"]["unread"][0]["why"].as_str().expect("a reason");

    assert!(why.contains("larger than"), "{why}");
    assert!(!service.requests().await.iter().any(|line| line.contains("/artifacts/")));
}

#[tokio::test]
async fn a_host_reads_the_pictures_of_a_run_as_an_unlisted_resource() {
    let service = Service::start().await;
    let knowledge_url = service.knowledge_url();
    let settings = service.settings(keys::DEMO, &[("TAS_KNOWLEDGE_URL", &knowledge_url)]);
    let mut host = Host::open(&settings).await;

    for uri in [
        format!("tas://runs/{}/pictures", seed::RUN_FAILED),
        format!("tas://projects/demo/runs/{}/pictures", seed::RUN_FAILED),
    ] {
        let read = host.request("resources/read", json!({"uri": uri})).await["result"].clone();
        let contents = &read["contents"][0];
        let album: Value = serde_json::from_str(contents["text"].as_str().expect("text")).expect("JSON");

        assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(uri), &json!("application/json")));
        assert_eq!((album["items"].as_array().map(Vec::len), &album["bugs_found"]), (Some(2), &json!(1)));
    }

    let listed = host.request("resources/templates/list", json!({})).await.to_string();

    assert!(!listed.contains("pictures"), "{listed}");

    for (uri, code) in [
        ("tas://runs/unknown/pictures".to_owned(), -32002),
        (format!("tas://projects/arena/runs/{}/pictures", seed::RUN_FAILED), -32602),
        ("tas://runs//pictures".to_owned(), -32002),
        ("tas://runs/a/b/pictures".to_owned(), -32002),
        ("tas://runs/%FF/pictures".to_owned(), -32002),
        ("tas://projects/demo/runs/r1?x/pictures".to_owned(), -32002),
    ] {
        let answer = host.request("resources/read", json!({"uri": uri})).await;
        assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
    }
}

#[tokio::test]
async fn pictures_are_not_read_without_the_tool_that_reads_the_run() {
    let service = Service::start().await;
    let mut host = Host::open(&service.settings(keys::DEMO, &[("TAS_TOOLSETS", "builds")])).await;
    let uri = format!("tas://runs/{}/pictures", seed::RUN_FAILED);
    let answer = host.request("resources/read", json!({"uri": uri})).await;

    assert!(answer["error"]["code"].is_i64(), "{answer}");
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn the_pictures_for_a_host_keep_to_their_size_limit() {
    let service = Service::start().await;
    let knowledge_url = service.knowledge_url();
    let settings = service.settings(keys::DEMO, &[("TAS_KNOWLEDGE_URL", &knowledge_url)]);
    let mut host = Host::open(&settings).await;
    answer_with_players(&service, 300, &step_url(&service)).await;

    let uri = format!("tas://runs/{}/pictures", seed::RUN_FAILED);
    let read = host.request("resources/read", json!({"uri": uri})).await["result"].clone();
    let text = read["contents"][0]["text"].as_str().expect("text");
    let album: Value = serde_json::from_str(text).expect("JSON");
    let count = album["items"].as_array().expect("pictures").len();

    assert!((1_900_000..=2_001_000).contains(&text.len()), "{}", text.len());
    assert_eq!(album["unread"][0]["what"], format!("{} of 300 pictures", 300 - count));
}
