//! Lists of artifacts.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{answering, player};
use crate::support::fixture::{Fixture, Session};

#[tokio::test]
async fn a_list_has_the_files_that_the_run_shows() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    // A run that did not pass has one more screenshot.
    for (run, count) in [(seed::RUN_FAILED, 5), (seed::RUN_TWO_PLAYERS, 4), (seed::RUN_STOPPED, 5)] {
        let detail = host.succeed("get_run", json!({"run_id": run})).await;
        for one in detail["players"].as_array().expect("players") {
            let listing = host.succeed("list_run_artifacts", json!({"run_id": one["id"]})).await;

            assert_eq!((&listing["runId"], &listing["count"]), (&one["id"], &json!(count)));
            let fields_of = |list: &Value, time: &str| {
                let fields = ["filename", "url", "size", time];
                let selected = |file: &Value| fields.map(|field| file[field].clone());
                list.as_array().expect("files").iter().map(selected).collect::<Vec<_>>()
            };

            assert_eq!(
                fields_of(&listing["artifacts"], "uploaded"),
                fields_of(&one["artifacts"], "uploaded_at")
            );
        }
    }
}

#[tokio::test]
async fn a_list_is_returned_as_the_service_wrote_it() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let id = format!("{}-1", seed::RUN_RUNNING);
    let listing = host.succeed("list_run_artifacts", json!({"run_id": id})).await;

    assert_eq!(listing, json!({"artifacts": []}));

    let body = json!({"runId": null, "artifacts": [{"filename": "a", "url": "b"}], "more": 1});
    service.fault(json!({"operation": "list_run_artifacts", "body": body})).await;

    let listing = host.succeed("list_run_artifacts", json!({"run_id": id})).await;

    assert_eq!(listing, body);
}

#[tokio::test]
async fn fields_of_the_service_are_kept() {
    let body = "{\"runId\": \"other-1\", \"count\": 7, \"artifacts\": []}";
    let (_peer, mut host) = answering("200 OK", body).await;
    let listing = host.succeed("list_run_artifacts", json!({"run_id": player()})).await;
    assert_eq!(listing, json!({"runId": "other-1", "count": 7, "artifacts": []}));
}

#[tokio::test]
async fn an_unknown_player_is_not_found() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    for id in [format!("{}-2", seed::RUN_FAILED), "nosuchrun01-1".to_owned()] {
        for (tool, arguments) in [
            ("list_run_artifacts", json!({"run_id": id})),
            ("get_run_artifact", json!({"run_id": id, "filename": "a"})),
        ] {
            let error = host.fail(tool, arguments).await;
            assert_eq!((&error["code"], &error["status"]), (&json!("not_found"), &json!(404)), "{id}");
        }
    }
}
