//! Repeated calls after an unknown outcome (`outcome_unknown`): the server looks for a record of the first call
//! before it sends the second one.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::{clock::Clock as _, sandbox::seed};

use crate::support::fixture::{Fixture, Session};

mod catalog;
mod equality;
mod failed_look_ups;
mod found;
mod pages;
mod record_matching;
mod shared;
mod time_limit;
mod uncertain_answers;

/// All tools, and time that passes only when a test or the server waits.
fn fixture() -> Fixture {
    Fixture::new().all_tools().simulated_time()
}

/// A connection that is reset after the service has performed the request.
fn reset_after_write() -> Value {
    json!({"reset": true, "after": true})
}

/// A connection that is reset before the service performs the request.
fn reset_before_write() -> Value {
    json!({"reset": true})
}

impl Session {
    /// Lets time pass for the server and the sandbox.
    async fn advance(&self, seconds: u64) {
        self.clock.sleep(Duration::from_secs(seconds)).await;
    }

    /// Calls a tool whose outcome this fault makes unknown. Then lets 12 seconds pass.
    async fn lose_answer(&mut self, tool: &str, arguments: &Value, mut fault: Value) {
        fault["operation"] = json!(tool);
        self.service.fault(fault).await;
        let error = self.host.fail(tool, arguments.clone()).await;
        assert_eq!(error["code"], "outcome_unknown", "{tool}: {error}");
        self.advance(12).await;
    }

    /// The number of records of a list.
    async fn count_records(&mut self, list: &str) -> u64 {
        let page = self.host.succeed(list, json!({"page_size": 1})).await;
        page["pagination"]["total_count"].as_u64().expect("a count")
    }
}

/// A call that creates a record, and the list that shows the record.
struct CreatingCall {
    tool: &'static str,
    arguments: Value,
    list: &'static str,
}

/// Calls that create a record which a list shows.
fn creating_calls() -> Vec<CreatingCall> {
    let case = |tool, list, arguments| CreatingCall { tool, arguments, list };
    let test = json!({"name": "Fresh", "test_type": "task"});
    let steps = json!({"1": {"goal": "Look around", "expected_results": [{"expected": "It is bright"}]}});

    vec![
        case("start_run", "list_jobs", start_arguments()),
        case(
            "start_run",
            "list_jobs",
            json!({
                "instructions": "Jump", "deployment_config_id": seed::CONFIG_WINDOWS, "additional_tags": ["once"],
            }),
        ),
        case("start_run", "list_test_plan_executions", plan_arguments()),
        case("start_test_plan_run", "list_test_plan_executions", plan_arguments()),
        case("create_test", "list_tests", json!({"test": test})),
        case("create_test", "list_tests", json!({"test": test, "folder_path": "Levels"})),
        case("create_test", "list_tests", json!({"test": test, "folder_id": seed::FOLDER_LEVELS})),
        case("create_test_folder", "list_test_folders", json!({"name": "Fresh"})),
        case("create_test_folder", "list_test_folders", json!({"name": "Fresh", "parent_path": "Levels"})),
        case(
            "create_test_folder",
            "list_test_folders",
            json!({"name": "Fresh", "parent_folder_id": seed::FOLDER_LEVELS}),
        ),
        case(
            "create_test_plan",
            "list_test_plans",
            json!({"name": "Fresh", "test_items": [{"multiplayer_test_id": seed::TEST_PASSES}]}),
        ),
        case(
            "create_shared_step",
            "list_shared_steps",
            json!({"name": "Fresh", "steps_by_key": steps, "step_order": ["1"]}),
        ),
    ]
}

/// With a tag that no job of the seed has.
fn start_arguments() -> Value {
    json!({
        "multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS,
        "additional_tags": ["once"],
    })
}

/// With a build that no execution of this plan in the seed has.
fn plan_arguments() -> Value {
    json!({
        "test_plan_id": seed::PLAN_SMOKE, "deployment_config_id": seed::CONFIG_WINDOWS,
        "build_id": seed::BUILD_WINDOWS,
    })
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
