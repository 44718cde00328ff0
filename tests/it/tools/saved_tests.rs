//! `list_tests`: whether its answer may lack tests, and the tests of every folder.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    fixture::{Fixture, Session},
    stub::Stub,
};

const TOOL: &str = "list_tests";

fn test(id: &str, folder: &str) -> Value {
    json!({"id": id, "name": id.to_uppercase(), "type": "task", "folder_id": null, "folder_path": folder})
}

fn page(records: &[Value]) -> (u16, Value) {
    let pagination = json!({"page": 0, "page_size": 100, "total_count": records.len(), "total_pages": 1});
    (200, json!({"data": records, "pagination": pagination}))
}

/// A service that lists only the tests of the root if no folder is named (service.md 6.1). It has three folders, of
/// which the one with the id `closed` cannot be read.
async fn root_only(folders: &'static [&'static str]) -> Stub {
    Stub::start(move |target: String| async move {
        if target.contains("/test-folders?") {
            let folder = |id: &&str| json!({"id": id, "name": id, "path": id});
            page(&folders.iter().map(folder).collect::<Vec<_>>())
        } else if target.contains("folder_id=closed") {
            (403, json!({"error": "no"}))
        } else if let Some(id) = folders.iter().find(|id| target.contains(&format!("folder_id={id}"))) {
            page(&[test(&format!("in-{id}"), id)])
        } else {
            page(&[test("in-root", "/")])
        }
    })
    .await
}

fn ids(list: &Value) -> Vec<&str> {
    let records = list["data"].as_array().expect("a list").iter();
    records.map(|record| record["id"].as_str().expect("an id")).collect()
}

#[tokio::test]
async fn the_answer_is_that_of_the_service_unless_it_may_lack_tests() {
    let mut session = Fixture::new().open().await;
    for arguments in [json!({"fields": "*"}), json!({"fields": "*", "folder_path": "Levels"})] {
        let list = session.host.succeed(TOOL, arguments.clone()).await;
        let members: Vec<_> = list.as_object().expect("an object").keys().collect();
        assert_eq!(members, ["data", "pagination"], "{arguments}");
    }
}

#[tokio::test]
async fn a_list_that_shows_no_folder_may_lack_tests_and_says_how_to_get_them() {
    let mut session = Fixture::new().open_with(root_only(&["a"]).await).await;
    let list = session.host.succeed(TOOL, json!({})).await;

    assert!(list["warning"].as_str().expect("a text").contains("`all_folders: true`"), "{list}");
    assert_eq!(session.service.requests().len(), 1);
}

#[tokio::test]
async fn the_tests_of_every_folder_are_one_list() {
    let mut session = Fixture::new().open_with(root_only(&["b", "a"]).await).await;
    let list = session.host.succeed(TOOL, json!({"all_folders": true})).await;

    assert_eq!(ids(&list), ["in-root", "in-a", "in-b"]);
    assert_eq!(list["pagination"]["total_count"], 3);
    assert!(list["incomplete"].is_null() && list["next"].is_null(), "{list}");
    // The tests of the root, the folders, and the tests of both folders.
    assert_eq!(session.service.requests().len(), 4);
}

#[tokio::test]
async fn a_service_that_lists_every_folder_is_not_asked_for_each() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let list = host.succeed(TOOL, json!({"all_folders": true, "fields": "id"})).await;

    assert_eq!(ids(&list).len() as u64, list["pagination"]["total_count"].as_u64().expect("a number"));
    assert_eq!(service.requests().await.len(), 1);
}

#[tokio::test]
async fn a_folder_that_cannot_be_read_is_reported() {
    let mut session = Fixture::new().open_with(root_only(&["a", "closed"]).await).await;
    let list = session.host.succeed(TOOL, json!({"all_folders": true, "fields": "id"})).await;

    assert_eq!(ids(&list), ["in-root", "in-a"]);
    assert_eq!(list["unread"][0]["what"], "tests in the folder closed");
    let first = list.as_object().and_then(|fields| fields.keys().next());
    assert_eq!(first.map(String::as_str), Some("incomplete"));
}

#[tokio::test]
async fn the_tests_of_every_folder_can_be_read_in_pages() {
    let mut session = Fixture::new().open_with(root_only(&["b", "a"]).await).await;
    let first = session.host.succeed(TOOL, json!({"all_folders": true, "page_size": 2})).await;
    assert_eq!(first["next"], json!({"page": 1, "remaining_pages": 1}));

    let arguments = json!({"all_folders": true, "page_size": 2, "page": 1});
    let second = session.host.succeed(TOOL, arguments).await;
    assert_eq!([ids(&first), ids(&second)].concat(), ["in-root", "in-a", "in-b"]);
}

#[tokio::test]
async fn a_folder_is_listed_with_the_folders_in_it_and_is_named_by_its_path() {
    let mut session = Fixture::new().open().await;
    let inside = json!({"all_folders": true, "folder_path": "Levels", "fields": "folder_path"});
    let list = session.host.succeed(TOOL, inside).await;
    let expected = ["Levels", "Levels/World 1", "Levels/World 2"].map(|path| json!({"folder_path": path}));
    assert_eq!(list["data"], json!(expected));

    let arguments = json!({"all_folders": true, "folder_id": seed::FOLDER_LEVELS});
    let violations = session.host.violations(TOOL, arguments).await;
    assert_eq!(violations, ["all_folders: cannot be combined with `folder_id`"]);
}

#[tokio::test]
async fn a_list_says_when_each_test_was_last_run_if_it_is_asked() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let runs = host.succeed("list_runs", json!({"newest": 50, "fields": "test.id,created_at"})).await;
    let newest_of = |id: &Value| {
        let mut of_test =
            runs["data"].as_array().into_iter().flatten().filter(|run| run["test"]["id"] == *id);
        of_test.next().map(|run| run["created_at"].clone()).unwrap_or_default()
    };

    for arguments in [json!({}), json!({"all_folders": true, "folder_path": "Levels"})] {
        let mut arguments = arguments;
        arguments["fields"] = json!("id,last_run_at");
        let list = host.succeed(TOOL, arguments).await;
        let tests = list["data"].as_array().expect("a list");
        assert!(tests.iter().any(|test| !test["last_run_at"].is_null()), "{list}");
        for test in tests {
            assert_eq!(test["last_run_at"], newest_of(&test["id"]), "{test}");
        }
    }

    let sent = service.requests().await.len();
    let list = host.succeed(TOOL, json!({})).await;
    assert_eq!(service.requests().await.len(), sent + 1);
    assert!(list["left_out"].as_str().expect("a text").ends_with("; last_run_at: only by name"), "{list}");
}

#[tokio::test]
async fn a_key_that_may_not_read_runs_gets_the_tests_and_the_reason() {
    let Session { service: _service, mut host, .. } = Fixture::new().key(keys::POWERLESS).open().await;
    let list = host.succeed(TOOL, json!({"fields": "name,last_run_at"})).await;

    assert!(list["unread"][0]["why"].as_str().expect("a reason").contains("project:read-runs"), "{list}");
    assert_eq!(list["data"][0], json!({"name": list["data"][0]["name"]}), "{list}");
}
