//! The build of an uploaded file, and the answer of the tool.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{PART, bytes, fixture, hold_parts, sha256, text};
use crate::support::fixture::Session;

#[tokio::test]
async fn a_file_becomes_a_build() {
    let mut session = fixture().open().await;
    let file = bytes(2_500);
    session.write("emberfall 414.apk", &file);

    let mut build =
        session.host.succeed("upload_build", json!({"path": "emberfall 414.apk", "name": "nightly"})).await;

    assert_eq!(session.service.content(text(&build["build_id"])).await, Some(file.clone()));

    let record = session.host.succeed("get_build", json!({"build_id": build["build_id"]})).await;

    assert_eq!((&record["name"], &record["platform"]), (&json!("nightly"), &json!("android")));

    let fields = build.as_object_mut().expect("an object");

    assert!(fields.remove("build_id").is_some_and(|id| id.is_string()));
    assert!(fields.remove("seconds").is_some_and(|seconds| seconds.as_f64().is_some_and(|s| s >= 0.0)));

    let expected = json!({
        "status": "uploaded", "project_id": "demo", "name": "nightly", "file_name": "emberfall 414.apk",
        "platform": "android",
        "size": 2_500, "parts": 3, "parts_resumed": 0, "bytes_sent_again": 0, "sha256": sha256(&file),
    });

    assert_eq!(build, expected);
    assert_eq!((session.leftovers().await.0, session.states()), (0, vec![]));
}

#[tokio::test]
async fn files_of_every_size_around_a_part_arrive_complete() {
    let mut session = fixture().open().await;

    // The last file has more parts than one request for addresses covers.
    for size in [1, PART - 1, PART, PART + 1, 2 * PART, 25 * PART + 7] {
        let file = bytes(size);
        session.write("game.exe", &file);
        let build = session.upload("game.exe").await;
        assert_eq!(build["parts"], size.div_ceil(PART), "{size}");
        assert_eq!(build["sha256"], sha256(&file), "{size}");
        assert_eq!(session.service.content(text(&build["build_id"])).await, Some(file), "{size}");
    }
}

#[tokio::test]
async fn a_single_part_upload_sends_the_whole_file() {
    let mut session = fixture().open().await;
    let file = bytes(2_500);
    session.write("game.apk", &file);

    let build = session.host.succeed("upload_build", json!({"path": "game.apk", "multipart": false})).await;

    assert_eq!((&build["parts"], &build["sha256"]), (&json!(1), &json!(sha256(&file))));
    assert_eq!(session.service.content(text(&build["build_id"])).await, Some(file));
    assert_eq!(session.puts().await, ["file 200"]);
    assert_eq!(session.states(), [""; 0]);
}

/// `upload_type` may be absent (service.md 10.4). The project of this key omits it.
#[tokio::test]
async fn an_initiation_without_an_upload_type_is_accepted() {
    let session = fixture().open().await;
    let file = bytes(1_500);
    session.write("game.apk", &file);

    let mut host = session.another_host(keys::ARENA, &[]).await;
    let build = host.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["project_id"], &build["parts"]), (&json!("arena"), &json!(2)));
    assert_eq!(session.service.content(text(&build["build_id"])).await, Some(file));
}

#[tokio::test]
async fn an_organization_key_uploads_to_the_named_project() {
    let session = fixture().open().await;
    session.write("game.apk", b"abc");

    let mut host = session.another_host(keys::ORGANIZATION, &[]).await;

    assert_eq!(host.fail("upload_build", json!({"path": "game.apk"})).await["code"], "project_required");

    let build = host.succeed("upload_build", json!({"path": "game.apk", "project_id": "arena"})).await;

    assert_eq!(build["project_id"], "arena");

    let record = json!({"build_id": build["build_id"], "project_id": "arena"});

    assert_eq!(host.succeed("get_build", record).await["file_size"], 3);
}

#[tokio::test]
async fn a_project_other_than_the_configured_one_is_refused_before_any_request() {
    let session = fixture().open().await;
    session.write("game.apk", b"abc");
    let mut host = session.another_host(keys::DEMO, &[("TAS_PROJECT_ID", "demo")]).await;
    let error = host.fail("upload_build", json!({"path": "game.apk", "project_id": "arena"})).await;
    assert_eq!(error["code"], "project_scope_mismatch");
    assert_eq!(session.service.requests().await, [""; 0]);
}

#[tokio::test]
async fn only_the_main_api_gets_the_key_and_addresses_are_requested_in_batches() {
    let session = fixture().open().await;
    session.write("game.apk", &bytes(19 * PART));

    let mut host = session.another_host(keys::DEMO, &[("TAS_PROJECT_ID", "demo")]).await;
    host.succeed("upload_build", json!({"path": "game.apk"})).await;

    let log = session.service.control("requests").await;
    let requests = log["data"].as_array().expect("a list");
    let requests_of =
        |operation: &str| requests.iter().filter(|one| one["operation"] == operation).collect::<Vec<_>>();
    let batches = requests_of("get_build_upload_parts").into_iter().map(|one| {
        assert_eq!(one["key"], Value::Null);
        text(&one["path"]).rsplit("part_numbers=").next().expect("numbers").matches("%2C").count() + 1
    });

    assert_eq!(batches.collect::<Vec<_>>(), [8, 8, 3]);
    assert!(
        requests_of("put_part").len() == 19 && requests_of("put_part").iter().all(|one| one["key"].is_null())
    );

    for operation in ["initiate_build_upload", "complete_build_upload"] {
        let keys: Vec<_> = requests_of(operation).iter().map(|one| one["key"].clone()).collect();
        assert_eq!(keys, ["key_demo"], "{operation}");
    }
}

#[tokio::test]
async fn four_parts_are_sent_in_parallel_and_addresses_are_requested_as_needed() {
    let mut session = fixture().open().await;
    session.write("game.apk", &bytes(30 * PART));
    hold_parts(&session.service, 0).await;

    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}});
    let call = session.host.start("tools/call", call).await;

    session.wait_for_pending_parts(4).await;

    // Without its limit, the server would have sent eight parts: it has their addresses.
    assert_eq!(session.puts().await.len(), 4);

    let address_requests =
        session.service.requests().await.into_iter().filter(|line| line.contains("/upload/parts")).count();

    assert_eq!(address_requests, 1);

    session.service.heal().await;
    session.service.release().await;

    assert_eq!(session.host.answer(call).await["result"]["structuredContent"]["parts"], 30);
}

/// Uploads a file whose completion fails with `fault`, while the build has `status`. Returns the result of the call.
async fn upload_with_lost_completion(fault: Value, status: Value) -> (Session, Value) {
    let mut session = fixture().open().await;
    session.write("game.apk", &bytes(2_500));

    let mut complete =
        json!({"operation": "complete_build_upload", "times": 50, "headers": {"retry-after": "0"}});
    complete.as_object_mut().expect("an object").extend(fault.as_object().expect("an object").clone());
    session.service.fault(complete).await;

    let mut build = json!({
        "id": "b", "name": "game.apk", "platform": "android", "file_name": "game.apk", "file_size": 2_500,
        "pinned": false, "sdk": false, "tags": [], "created_at": "2026-01-01T00:00:00Z", "last_used": null,
    });

    if !status.is_null() {
        build["status"] = status;
    }

    session.service.fault(json!({"operation": "get_build", "body": build, "times": 50})).await;
    let result = session.host.call("upload_build", json!({"path": "game.apk"})).await;

    (session, serde_json::from_str(text(&result["content"][0]["text"])).expect("JSON"))
}

/// The service may add statuses (service.md 10.1).
#[tokio::test]
async fn a_build_with_an_unknown_status_is_not_a_success() {
    let words = ["UPLOADING", "uploading", "pending", "processing", "FAILED", "broken", ""];
    for status in words.into_iter().map(Value::from).chain([Value::Null]) {
        for (fault, code) in [
            (json!({"status": 503}), "service_unavailable"),
            (json!({"status": 404}), "not_found"),
            (json!({"reset": true}), "outcome_unknown"),
        ] {
            let (session, result) = upload_with_lost_completion(fault, status.clone()).await;
            assert_eq!(result["error"]["code"], code, "{status}: {result}");
            assert_eq!((session.leftovers().await, session.states()), ((0, 0), vec![]), "{status}");
        }
    }
}

#[tokio::test]
async fn complete_statuses_are_compared_without_case() {
    for status in ["OK", "ok", "READY", "ready", "UNHEALTHY", "unhealthy"] {
        let (session, result) = upload_with_lost_completion(json!({"status": 404}), json!(status)).await;
        assert_eq!((&result["status"], session.states()), (&json!("uploaded"), vec![]), "{status}: {result}");
    }
}

#[tokio::test]
async fn the_variables_of_a_ci_job_become_details_unless_the_caller_sets_them() {
    let session = fixture().open().await;
    session.write("game.apk", b"abc");
    let job = [("GITLAB_CI", "true"), ("CI_COMMIT_SHA", "0123456789"), ("CI_PIPELINE_IID", "77")];
    let mut host = session.another_host(keys::DEMO, &job).await;

    let own = json!({"vcs": {"branch": "mine"}});
    let build = host.succeed("upload_build", json!({"path": "game.apk", "details": own})).await;
    let details = host.succeed("get_build", json!({"build_id": build["build_id"]})).await["details"].clone();

    assert_eq!(details["vcs"], own["vcs"]);
    assert_eq!(details["upload"], json!({"method": "mcp", "cli_version": env!("CARGO_PKG_VERSION")}));
    assert_eq!(details["ci"], json!({"system": "gitlab-ci", "build_number": "77"}));
}
