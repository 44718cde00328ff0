//! Steps that are refused or fail, and what remains at the service.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::{sandbox::keys, tools::upload::UploadTiming};

use super::{DEMO, begin, failure, failure_of, file, send_file, service, start, step, uploads};
use crate::support::http_client::{HttpUnderTest, json_of};

/// Returns the violations of a refused call, as `path: rule`.
async fn violations(server: &HttpUnderTest, arguments: Value) -> Vec<String> {
    let error = failure(server, arguments).await;
    assert_eq!(error["code"], "invalid_arguments", "{error}");
    let line = |one: &Value| {
        let [path, rule] = ["path", "rule"].map(|name| one[name].as_str().expect("a text"));
        format!("{path}: {rule}")
    };
    error["details"]["violations"].as_array().expect("violations").iter().map(line).collect()
}

/// Arguments, and the beginnings of the violations in them.
type WrongArguments = (Value, Vec<&'static str>);

#[tokio::test]
async fn all_wrong_arguments_of_a_start_are_named_at_once() {
    let cases = [
        (json!({}), vec![": exactly one of `file_name`, `upload_token` must be provided, got none"]),
        (json!({"file_name": "a.apk"}), vec!["file_name: requires `file_size`"]),
        (
            json!({"file_name": "game.zip", "file_size": 0, "tags": [""], "deletion_policy": "oldest"}),
            vec![
                "file_size: must be 1 or more, got 0",
                "tags.0: must not be empty",
                "deletion_policy: has an effect only with `auto_delete: true`",
                "platform: is required: it cannot be derived from the file name `game.zip`",
            ],
        ),
        (
            json!({"file_name": "a.apk", "file_size": 1, "from_part": 2, "cancel": true, "path": "a.apk"}),
            vec![
                "path: is not an argument",
                "from_part: requires `upload_token`",
                "cancel: requires `upload_token`",
            ],
        ),
    ];

    check_wrong_arguments(&cases).await;
}

#[tokio::test]
async fn all_wrong_arguments_of_a_step_are_named_at_once() {
    let cases = [
        (
            json!({"upload_token": "t"}),
            vec![
                "upload_token: exactly one of `from_part`, `parts` and `cancel: true` must be passed with it, got none",
            ],
        ),
        (
            json!({"upload_token": "t", "cancel": false, "name": "n", "multipart": true}),
            vec![
                "upload_token: exactly one of `from_part`, `parts` and `cancel: true` must be passed with it, got none",
                "name: cannot be combined with `upload_token`",
                "multipart: cannot be combined with `upload_token`",
            ],
        ),
        (
            json!({"upload_token": "t", "from_part": 1, "cancel": true, "file_name": "a.apk"}),
            vec![
                ": exactly one of `file_name`, `upload_token` must be provided, got `file_name`, `upload_token`",
                "file_name: requires `file_size`",
                "upload_token: exactly one of `from_part`, `parts` and `cancel: true` must be passed with it, got from_part, cancel",
            ],
        ),
        (
            json!({"upload_token": "t", "parts": [{"part_number": 2, "etag": "a"}, {"part_number": 2}]}),
            vec!["parts.1.etag: is required", "parts.0.part_number: must be 1"],
        ),
        (json!({"upload_token": "t", "parts": []}), vec!["parts: must not be empty"]),
        (
            json!({"upload_token": "t", "parts": [{"part_number": 1, "etag": ""}]}),
            vec!["parts.0.etag: must not be empty"],
        ),
    ];

    check_wrong_arguments(&cases).await;
}

/// Checks that each call names these violations and is not sent.
async fn check_wrong_arguments(cases: &[WrongArguments]) {
    let (service, server) = start().await;

    for (arguments, expected) in cases {
        let found = violations(&server, arguments.clone()).await;
        let is_expected = found.len() == expected.len()
            && found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected));
        assert!(is_expected, "{arguments}: {found:#?}");
    }

    assert!(service.requests().await.is_empty());
}

#[tokio::test]
async fn parts_that_are_not_those_of_the_upload_are_refused() {
    let (service, server) = start().await;
    let first = begin(&server, 2_500).await;
    let parts = send_file(&server, &first, &file(2_500)).await;
    let token = &first["upload_token"];
    let before = service.writes().await.len();

    let fewer = violations(&server, json!({"upload_token": token, "parts": parts[..1]})).await;
    assert!(fewer[0].starts_with("parts: lacks parts 2 to 3"), "{fewer:?}");
    let mut more = parts.clone();
    more.push(json!({"part_number": 4, "etag": "a"}));
    let more = violations(&server, json!({"upload_token": token, "parts": more})).await;
    assert_eq!(more, ["parts: has 4 parts, the upload has 3"]);
    let unknown = violations(&server, json!({"upload_token": token, "from_part": 4})).await;
    assert_eq!(unknown, ["from_part: must be from 1 to 3, got 4"]);
    assert_eq!(service.writes().await.len(), before);

    let mut wrong = parts.clone();
    wrong[1]["etag"] = json!("00000000000000000000000000000000");
    let error = failure(&server, json!({"upload_token": token, "parts": wrong})).await;
    assert_eq!((&error["code"], &error["details"]["build_id"]), (&json!("rejected"), &first["build_id"]));
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("again")), "{error}");

    // The upload is still there.
    step(&server, json!({"upload_token": token, "parts": parts})).await;
}

#[tokio::test]
async fn an_upload_is_completed_once() {
    let (service, server) = start().await;
    let first = begin(&server, 10).await;
    let parts = send_file(&server, &first, &file(10)).await;
    let complete = json!({"upload_token": first["upload_token"], "parts": parts});

    let done = step(&server, complete.clone()).await;
    assert_eq!(step(&server, complete).await, done);
    let listed = server.call("/mcp", &DEMO, "list_builds", json!({"page_size": 100})).await;
    let builds = listed["structuredContent"]["data"].as_array().expect("builds");
    assert_eq!(builds.iter().filter(|build| build["file_name"] == "game.apk").count(), 1);

    let cancel = json!({"upload_token": first["upload_token"], "cancel": true});
    assert_eq!(failure(&server, cancel).await["code"], "conflict");
    assert!(service.content(first["build_id"].as_str().expect("an id")).await.is_some());
}

#[tokio::test]
async fn a_cancelled_upload_is_gone() {
    let (service, server) = start().await;
    let first = begin(&server, 2_500).await;
    let parts = send_file(&server, &first, &file(2_500)).await;
    let cancel = json!({"upload_token": first["upload_token"], "cancel": true});

    for _ in 0..2 {
        let reply = step(&server, cancel.clone()).await;
        assert_eq!((&reply["status"], &reply["build_id"]), (&json!("cancelled"), &first["build_id"]));
        assert_eq!(uploads(&service).await, 0);
    }

    let more = failure(&server, json!({"upload_token": first["upload_token"], "from_part": 1})).await;
    let complete = failure(&server, json!({"upload_token": first["upload_token"], "parts": parts})).await;
    for (error, code) in [(more, "rejected"), (complete, "not_found")] {
        assert_eq!(error["code"], code, "{error}");
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("upload_timeout")), "{error}");
    }
}

#[tokio::test]
async fn an_upload_that_the_service_has_removed_is_not_found() {
    let (service, server) = start().await;
    let first = begin(&server, 10).await;
    let parts = send_file(&server, &first, &file(10)).await;

    service.advance(3_601.0);
    let complete = failure(&server, json!({"upload_token": first["upload_token"], "parts": parts})).await;
    assert_eq!(complete["code"], "not_found", "{complete}");
    let more = failure(&server, json!({"upload_token": first["upload_token"], "from_part": 1})).await;
    assert_eq!(more["code"], "rejected", "{more}");
    step(&server, json!({"upload_token": first["upload_token"], "cancel": true})).await;
}

#[tokio::test]
async fn a_start_of_unknown_outcome_is_not_repeated_blindly() {
    let (service, server) = start().await;
    service.fault(json!({"operation": "initiate_build_upload", "reset": true, "after": true})).await;
    let start = json!({"file_name": "game.apk", "file_size": 10});

    let error = failure(&server, start.clone()).await;
    assert_eq!(error["code"], "outcome_unknown", "{error}");
    let before = service.requests().await.len();

    // The list shows no build of an unfinished upload, so that the service is asked and the start is sent again.
    step(&server, start).await;
    let seen = service.requests().await.split_off(before);
    let position = |start: &str| seen.iter().position(|line| line.starts_with(start));
    assert!(position("GET /project/demo/builds?") < position("POST "), "{seen:?}");
    assert!(position("GET /project/demo/builds?").is_some(), "{seen:?}");
}

#[tokio::test]
async fn a_completion_whose_answer_is_lost_succeeds() {
    let (service, server) = start().await;
    let first = begin(&server, 10).await;
    let parts = send_file(&server, &first, &file(10)).await;
    let complete = json!({"upload_token": first["upload_token"], "parts": parts});

    service.fault(json!({"operation": "complete_build_upload", "reset": true, "times": 1})).await;
    let error = failure(&server, complete.clone()).await;
    assert_eq!(error["code"], "outcome_unknown", "{error}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("only once")), "{error}");

    service.fault(json!({"operation": "complete_build_upload", "reset": true, "after": true})).await;
    assert_eq!(step(&server, complete).await["status"], "uploaded");
}

#[tokio::test]
async fn a_completion_that_takes_too_long_can_be_repeated() {
    let (service, settings) = service(&[]).await;
    let patient = HttpUnderTest::start(&settings);
    let timing = UploadTiming { wait_limit: Duration::from_millis(1), ..UploadTiming::default() };
    let impatient = HttpUnderTest::start(&settings.with_upload_timing(timing));
    let first = begin(&patient, 10).await;
    let parts = send_file(&patient, &first, &file(10)).await;
    let complete = json!({"upload_token": first["upload_token"], "parts": parts});

    // The test ends the delay.
    service.fault(json!({"operation": "complete_build_upload", "delay_ms": 60_000, "times": 1})).await;
    let error = failure(&impatient, complete.clone()).await;
    assert_eq!(error["code"], "outcome_unknown", "{error}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("no answer within")), "{error}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("only once")), "{error}");

    // A request that the time limit has ended before it was sent has not used the fault.
    service.heal().await;
    service.release().await;
    assert_eq!(step(&patient, complete).await["status"], "uploaded");
}

#[tokio::test]
async fn an_upload_without_usable_addresses_is_cancelled() {
    let (service, server) = start().await;
    let foreign = json!({"upload_urls": [{"part_number": 1, "url": "http://storage.example/part?secret=1"}]});
    let faults = [
        (json!({"status": 400}), "rejected"),
        (json!({"body": {"upload_urls": []}}), "bad_response"),
        (json!({"body": foreign}), "bad_response"),
    ];

    for (mut fault, code) in faults {
        fault["operation"] = json!("get_build_upload_parts");
        service.fault(fault.clone()).await;
        let error = failure(&server, json!({"file_name": "game.apk", "file_size": 10})).await;

        assert_eq!(error["code"], code, "{fault}: {error}");
        assert_eq!(error["details"]["upload"], "cancelled: nothing remains at the service", "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
        assert_eq!(uploads(&service).await, 0, "{fault}");
    }
}

#[tokio::test]
async fn a_cancellation_that_fails_can_be_repeated() {
    let (service, server) = start().await;
    let first = begin(&server, 10).await;
    let cancel = json!({"upload_token": first["upload_token"], "cancel": true});

    service.fault(json!({"operation": "cancel_build_upload", "status": 503})).await;
    let error = failure(&server, cancel.clone()).await;
    assert_eq!(error["code"], "service_unavailable", "{error}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("call again")), "{error}");
    assert_eq!(step(&server, cancel).await["status"], "cancelled");
}

#[tokio::test]
async fn a_refused_start_leaves_nothing() {
    let (service, server) = start().await;
    let start = json!({"file_name": "game.apk", "file_size": 10});
    for (key, code) in [(keys::READ_ONLY, "permission_denied"), ("svc_unknown_key", "unauthenticated")] {
        let error = failure_of(&server, "/mcp/demo", &[("x-api-key", key)], start.clone()).await;
        assert_eq!(error["code"], code, "{error}");
    }

    let too_large = failure(&server, json!({"file_name": "a.apk", "file_size": 5_000_000_000_001_u64})).await;
    assert_eq!(too_large["code"], "too_large", "{too_large}");
    assert_eq!(uploads(&service).await, 0);
}

#[tokio::test]
async fn automatic_deletion_is_confirmed_by_a_person() {
    let (service, server) = start().await;
    let start = json!({"file_name": "game.apk", "file_size": 10, "auto_delete": true});
    let params = json!({"name": "upload_build", "arguments": start});
    let asked = json_of(server.modern("/mcp", &DEMO, "tools/call", params).await).await;

    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    assert_eq!(uploads(&service).await, 0);
}
