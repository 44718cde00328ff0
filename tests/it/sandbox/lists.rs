//! Lists: filters, paging, order (service.md 1.3 and the list of each resource).

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{
    BUG_ACTIVE, BUG_ARCHIVED, BUG_CRITICAL, BUG_UNREVIEWED, BUILD_IOS, BUILD_PLAYSTATION,
    EXECUTION_COMPLETED, EXECUTION_QUEUED, FOLDER_LEVELS, JOB_FLAKY, PLAN_CROSS_PLATFORM, PLAN_SMOKE,
    RUN_FAILED, TEST_FAILS, TEST_PASSES,
};

use super::client::{Client, error};

/// Returns a field of each entry of a list.
fn field_of_each(list: &Value, name: &str) -> Vec<Value> {
    list["data"].as_array().unwrap().iter().map(|record| record[name].clone()).collect()
}

/// Returns a field of each entry of the list at `path`.
async fn list_field(path: &str, name: &str) -> Vec<Value> {
    field_of_each(&Client::demo().await.read(path).await, name)
}

#[tokio::test]
async fn pages_continue_each_other() {
    let client = Client::demo().await;
    let all_runs = client.read("/runs?page_size=100").await;
    let total = all_runs["pagination"]["total_count"].as_u64().unwrap();
    let mut pieces = Vec::new();

    for page in 0..total.div_ceil(7) {
        let list = client.read(&format!("/runs?page={page}&page_size=7")).await;
        let expected =
            json!({"page": page, "page_size": 7, "total_count": total, "total_pages": total.div_ceil(7)});
        assert_eq!(list["pagination"], expected);
        pieces.extend(field_of_each(&list, "multiplayer_run_id"));
    }

    assert_eq!(pieces, field_of_each(&all_runs, "multiplayer_run_id"));
    assert_eq!(client.read("/runs?page=1000").await["data"], json!([]));
}

#[tokio::test]
async fn default_page_sizes_are_20_or_25() {
    let client = Client::demo().await;

    for (path, size) in [
        ("/runs", 20),
        ("/jobs", 20),
        ("/test-plans", 20),
        ("/test-plan-executions", 20),
        ("/bugs", 20),
        ("/tests", 25),
        ("/builds", 20),
        ("/test-folders", 25),
        ("/shared-steps", 25),
        ("/deployment-configs", 25),
        ("/agent-configs", 25),
        ("/credential-kinds", 25),
    ] {
        assert_eq!(client.read(path).await["pagination"]["page_size"], size, "{path}");
    }
}

#[tokio::test]
async fn runs_are_filtered_by_each_parameter() {
    assert!(list_field("/runs?state=running", "state").await.iter().all(|state| state == "RUNNING"));
    assert!(list_field("/runs?state=completed", "state").await.iter().all(|state| state == "COMPLETED"));
    assert_eq!(list_field(&format!("/runs?job_id={JOB_FLAKY}"), "result").await, ["SUCCESS", "TIMEOUT"]);
    assert_eq!(
        list_field(&format!("/runs?test_plan_execution_id={EXECUTION_COMPLETED}"), "job_id").await.len(),
        5
    );

    let tests = list_field("/runs?test_type=discovery", "test").await;

    assert!(!tests.is_empty() && tests.iter().all(|test| test["type"] == "discovery"));

    let tests = list_field(&format!("/runs?multiplayer_test_id={TEST_PASSES}"), "test").await;

    assert!(!tests.is_empty() && tests.iter().all(|test| test["id"] == TEST_PASSES));
    assert!(list_field("/runs?bugs=true", "multiplayer_run_id").await.contains(&json!(RUN_FAILED)));
}

#[tokio::test]
async fn every_tag_has_to_match() {
    for path in ["/runs", "/jobs"] {
        let tags = list_field(&format!("{path}?tags=smoke,ci"), "tags").await;
        assert!(!tags.is_empty());
        for tags in tags.iter().map(|tags| tags.as_array().unwrap()) {
            assert!(tags.contains(&json!("smoke")) && tags.contains(&json!("ci")), "{tags:?}");
        }
        assert_eq!(list_field(&format!("{path}?tags=smoke,nobody"), "tags").await.len(), 0);
    }
}

#[tokio::test]
async fn jobs_are_filtered_by_status() {
    for (filter, allowed) in [
        ("queued", &["QUEUED"][..]),
        ("running", &["STARTING", "RUNNING", "STOPPING", "CLEANING_UP"]),
        ("completed", &["COMPLETED"]),
    ] {
        let found = list_field(&format!("/jobs?status={filter}"), "status").await;
        assert!(
            !found.is_empty() && found.iter().all(|status| allowed.contains(&status.as_str().unwrap())),
            "{filter}"
        );
    }
}

#[tokio::test]
async fn tests_are_listed_completely_or_by_folder() {
    let client = Client::demo().await;

    assert_eq!(client.read("/tests").await["pagination"]["total_count"], 10);

    let menus = client.read("/tests?folder_path=Menus").await;

    assert!(field_of_each(&menus, "id").contains(&json!(TEST_FAILS)));

    let id = menus["data"][0]["folder_id"].as_str().unwrap();

    assert_eq!(client.read(&format!("/tests?folder_id={id}")).await["data"], menus["data"]);
    assert_eq!(field_of_each(&client.read("/tests?folder_path=/").await, "folder_path"), ["/"]);

    let both = client.get(&format!("/tests?folder_path=Menus&folder_id={id}")).await;

    assert_eq!(both, error(400, "supply either folder_path or folder_id, not both"));
}

#[tokio::test]
async fn plans_are_sorted_by_name_by_default() {
    assert_eq!(list_field("/test-plans", "id").await, [PLAN_CROSS_PLATFORM, PLAN_SMOKE]);
    assert_eq!(list_field("/test-plans?sort_order=desc", "id").await, [PLAN_SMOKE, PLAN_CROSS_PLATFORM]);
    assert_eq!(list_field("/test-plans?sort_by=created_at", "id").await, [PLAN_SMOKE, PLAN_CROSS_PLATFORM]);
    assert_eq!(list_field("/test-plans?search=SMOKE", "id").await, [PLAN_SMOKE]);
}

#[tokio::test]
async fn executions_are_newest_first() {
    let statuses = ["queued", "in_progress", "completed"];
    assert_eq!(list_field("/test-plan-executions", "status").await, statuses);
    assert_eq!(list_field("/test-plan-executions?status=queued", "id").await, [EXECUTION_QUEUED]);
    let path = format!("/test-plan-executions?test_plan_id={PLAN_SMOKE}&sort_order=asc");
    assert_eq!(list_field(&path, "status").await, ["completed", "in_progress"]);
}

#[tokio::test]
async fn builds_are_newest_first_and_filtered_by_each_parameter() {
    let all = list_field("/builds", "id").await;

    assert_eq!((all.len(), &all[0], &all[4]), (5, &json!(BUILD_IOS), &json!(BUILD_PLAYSTATION)));
    assert_eq!(list_field("/builds?pinned=true", "id").await, [BUILD_PLAYSTATION]);
    assert_eq!(list_field("/builds?sdk=false", "id").await, [BUILD_PLAYSTATION]);
    assert_eq!(list_field("/builds?platform=ios-native", "id").await, [BUILD_IOS]);
    assert_eq!(list_field("/builds?status=OK&tags=nightly", "id").await.len(), 4);
    assert_eq!(list_field("/builds?status=failed", "id").await.len(), 0);
    assert_eq!(Client::demo().await.get("/builds?platform=toaster").await.status, 400);
}

#[tokio::test]
async fn folders_are_alphabetical_and_contain_their_parents() {
    let folders = Client::demo().await.read("/test-folders").await;
    let paths = ["Levels", "Levels/World 1", "Levels/World 2", "Menus", "Online"];

    assert_eq!(field_of_each(&folders, "path"), paths);
    assert_eq!(field_of_each(&folders, "name"), ["Levels", "World 1", "World 2", "Menus", "Online"]);
    assert_eq!(field_of_each(&folders, "parent_path"), ["/", "Levels", "Levels", "/", "/"]);

    let parents = field_of_each(&folders, "parent_folder_id");

    assert_eq!(parents, [json!(null), json!(FOLDER_LEVELS), json!(FOLDER_LEVELS), json!(null), json!(null)]);
}

#[tokio::test]
async fn active_bugs_are_listed_by_default() {
    let active = list_field("/bugs", "id").await;
    assert!(active.contains(&json!(BUG_ACTIVE)) && !active.contains(&json!(BUG_ARCHIVED)));
    assert_eq!(list_field("/bugs?status=archived", "id").await, [BUG_ARCHIVED]);
    assert_eq!(list_field("/bugs?severity=critical", "id").await, [BUG_CRITICAL]);
    assert_eq!(list_field("/bugs?search=PAUSE+button&category=ui", "id").await, [BUG_ACTIVE]);
    assert_eq!(list_field("/bugs?sort_by=severity&sort_order=desc", "id").await[0], BUG_CRITICAL);
}

#[tokio::test]
async fn a_reviewed_bug_lists_its_occurrences() {
    let client = Client::demo().await;
    let bug = client.read(&format!("/bugs/{BUG_ACTIVE}")).await;
    let occurrences = bug["occurrences"].as_array().unwrap();

    assert_eq!(bug["occurrence_count"], occurrences.len());

    let detected = client.read(&format!("/runs/{RUN_FAILED}/bugs")).await;

    assert_eq!(
        (&occurrences[0]["id"], &occurrences[0]["player_index"]),
        (&detected["data"][0]["id"], &json!(0))
    );
    assert_eq!(occurrences[0]["test_plan_name"], "Release smoke");
}

#[tokio::test]
async fn a_bug_is_listed_only_after_a_review() {
    assert_eq!(
        Client::demo().await.get(&format!("/bugs/{BUG_UNREVIEWED}")).await,
        error(404, "bug not found")
    );
}
