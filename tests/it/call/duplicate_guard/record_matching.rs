//! Which records match a call.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{Session, fixture, reset_after_write, reset_before_write, start_arguments, text};

/// A time during the call.
const NOW: &str = "2026-03-02T09:15:00Z";

impl Session {
    /// Makes the outcome of a call unknown, and shows only this record to the look-up. Returns whether the repetition
    /// is held back.
    async fn is_held_back(&mut self, tool: &str, arguments: &Value, list: &str, record: &Value) -> bool {
        self.lose_answer(tool, arguments, reset_before_write()).await;
        let pagination = json!({"page": 0, "page_size": 100, "total_count": 1, "total_pages": 1});
        let page = json!({"data": [record], "pagination": pagination});
        self.service.fault(json!({"operation": list, "body": page})).await;

        let reply = self.host.call(tool, arguments.clone()).await;
        let structure: Value = serde_json::from_str(text(&reply["content"][0]["text"])).expect("JSON");

        // The service may refuse a call that was sent: only this code shows that the call was held back.
        structure["error"]["code"] == "conflict"
    }
}

#[tokio::test]
async fn hidden_characters_are_ignored_by_the_comparison() {
    for (tool, arguments) in [
        ("create_test_folder", json!({"name": "Fre\u{200B}sh", "parent_path": "Levels"})),
        ("create_test", json!({"test": {"name": "Fre\u{202E}sh", "test_type": "task"}})),
    ] {
        let mut session = fixture().open().await;
        session.lose_answer(tool, &arguments, reset_after_write()).await;

        let error = session.host.fail(tool, arguments).await;
        assert_eq!(
            (&error["code"], &error["details"]["found_count"]),
            (&json!("conflict"), &json!(1)),
            "{error}"
        );
    }
}

#[tokio::test]
async fn missing_fields_of_a_record_match() {
    let below = json!({"name": "Fresh", "parent_path": "Levels"});
    let at_the_root = json!({"name": "Fresh"});
    let ephemeral =
        json!({"instructions": "Jump", "name": "Once", "deployment_config_id": seed::CONFIG_WINDOWS});
    let folder = |more: Value| {
        let mut record = json!({"id": "one", "name": "Fresh", "path": "Fresh", "created_at": NOW});
        record.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        record
    };
    let job = |name: Value| json!({"job_id": "one", "created_at": NOW, "test_name": name});

    for (tool, arguments, list, record, expected) in [
        ("create_test_folder", &below, "list_test_folders", folder(json!({})), true),
        ("create_test_folder", &below, "list_test_folders", folder(json!({"parent_path": "Levels"})), true),
        ("create_test_folder", &below, "list_test_folders", folder(json!({"parent_path": "Menus"})), false),
        ("create_test_folder", &below, "list_test_folders", folder(json!({"parent_path": null})), false),
        ("create_test_folder", &at_the_root, "list_test_folders", folder(json!({"parent_path": null})), true),
        ("start_run", &ephemeral, "list_jobs", json!({"job_id": "one", "created_at": NOW}), true),
        ("start_run", &ephemeral, "list_jobs", job(Value::Null), true),
        ("start_run", &ephemeral, "list_jobs", job(json!("Once")), true),
        ("start_run", &ephemeral, "list_jobs", job(json!("[api] ephemeral test")), false),
    ] {
        let mut session = fixture().open().await;
        let is_held_back = session.is_held_back(tool, arguments, list, &record).await;
        assert_eq!(is_held_back, expected, "{tool} {arguments}: {record}");
    }
}

#[tokio::test]
async fn ids_are_compared_without_letter_case_and_names_with_it() {
    let id = "0B6F2B52-2C0E-4E4E-9C57-7B3B8C0C1D2E";
    let build = |id: &str| json!({"job_id": "one", "created_at": NOW, "build_id": id});
    let mut with_build = start_arguments();

    with_build["build_id"] = json!(id);
    for (tool, arguments, list, record, expected) in [
        ("start_run", &with_build, "list_jobs", build(&id.to_lowercase()), true),
        (
            "create_test_folder",
            &json!({"name": "Fresh"}),
            "list_test_folders",
            json!({"id": "one", "name": "FRESH", "path": "FRESH", "created_at": NOW}),
            false,
        ),
    ] {
        let mut session = fixture().open().await;
        let is_held_back = session.is_held_back(tool, arguments, list, &record).await;
        assert_eq!(is_held_back, expected, "{tool} {arguments}: {record}");
    }
}
