//! Creating folders (service.md 7.2).

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::FOLDER_LEVELS;

use super::client::{Answer, Client, error};

const NOWHERE: &str = "00000000-0000-4000-8000-000000000000";

/// Creates a folder, in the wrapper object of the service.
async fn create_folder(client: &Client, folder: Value) -> Answer {
    client.post("/test-folders", json!({"test_folder": folder})).await
}

#[tokio::test]
async fn a_folder_is_created_below_its_parent() {
    let client = Client::demo().await;
    for (parent, path, parent_path) in [
        (json!({}), "A", "/"),
        (json!({"parent_path": null}), "B", "/"),
        (json!({"parent_path": "/"}), "C", "/"),
        (json!({"parent_path": "Levels"}), "Levels/D", "Levels"),
        (json!({"parent_folder_id": FOLDER_LEVELS}), "Levels/E", "Levels"),
    ] {
        let mut body = parent;
        body["name"] = json!(path.rsplit('/').next());

        let created = create_folder(&client, body).await;

        assert_eq!(created.status, 201, "{}", created.body);
        assert_eq!(
            (&created.body["path"], &created.body["parent_path"]),
            (&json!(path), &json!(parent_path))
        );
        assert_eq!(created.body["created_intermediate_paths"], json!([]));
    }
}

#[tokio::test]
async fn missing_parents_are_created_only_on_request() {
    let client = Client::demo().await;
    let deep = json!({"name": "Z", "parent_path": "Levels/X/Y"});

    assert_eq!(create_folder(&client, deep.clone()).await, error(404, "parent folder not found"));

    let mut deep = deep;
    deep["create_intermediate_parents"] = json!(true);

    let created = create_folder(&client, deep.clone()).await.body;

    assert_eq!(created["created_intermediate_paths"], json!(["Levels/X", "Levels/X/Y"]));

    let again = error(409, "a folder with this name already exists");

    assert_eq!(create_folder(&client, deep).await, again);

    let folders = client.read("/test-folders").await;
    let row = folders["data"].as_array().unwrap().iter().find(|row| row["path"] == "Levels/X/Y").unwrap();

    assert_eq!((&created["parent_folder_id"], &row["parent_path"]), (&row["id"], &json!("Levels/X")));
}

#[tokio::test]
async fn an_invalid_folder_is_refused() {
    let client = Client::demo().await;
    for name in ["", "A/B", " A", "A ", "\tA"] {
        assert_eq!(create_folder(&client, json!({"name": name})).await.status, 400, "{name:?}");
    }

    let both = json!({"name": "A", "parent_path": "Levels", "parent_folder_id": FOLDER_LEVELS});
    let text = "supply either parent_path or parent_folder_id, not both";

    assert_eq!(create_folder(&client, both).await, error(400, text));

    let unwrapped = client.post("/test-folders", json!({"name": "A"})).await;

    assert_eq!(unwrapped, error(400, "invalid request: test_folder: Required"));

    let nameless = create_folder(&client, json!({})).await;

    assert_eq!(nameless, error(400, "invalid request: test_folder.name: Required"));

    let unknown = json!({"name": "A", "parent_folder_id": NOWHERE});

    assert_eq!(create_folder(&client, unknown).await, error(404, "parent folder not found"));
}
