//! Callers that repeat a call whose outcome nobody knows (`outcome_unknown`): it is not sent blindly.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::{
    clock::Clock as _,
    sandbox::{keys, seed},
};

use crate::support::fixture::{Fixture, Session};

mod alike;
mod answered;
mod catalog;
mod clocks;
mod equality;
mod found;
mod lateness;
mod not_seen;
mod pages;

async fn open() -> Session {
    open_with(keys::DEMO, &[]).await
}

async fn open_with(key: &str, variables: &[(&str, &str)]) -> Session {
    Fixture::new().key(key).all_tools().variables(variables).simulated_time().open().await
}

/// A connection that is lost after the service has done what was asked.
fn lost_after() -> Value {
    json!({"reset": true, "after": true})
}

/// A connection that is lost before.
fn lost_before() -> Value {
    json!({"reset": true})
}

impl Session {
    async fn pass(&self, seconds: u64) {
        self.clock.sleep(Duration::from_secs(seconds)).await;
    }

    /// Calls a tool that meets a fault, and lets 12 seconds pass.
    async fn lose(&mut self, tool: &str, arguments: &Value, mut fault: Value) {
        fault["operation"] = json!(tool);
        self.service.fault(fault).await;
        let error = self.host.fail(tool, arguments.clone()).await;
        assert_eq!(error["code"], "outcome_unknown", "{tool}: {error}");
        self.pass(12).await;
    }

    /// How many records a list has.
    async fn count(&mut self, list: &str) -> u64 {
        let page = self.host.succeed(list, json!({"page_size": 1})).await;
        page["pagination"]["total_count"].as_u64().expect("a count")
    }
}

/// A call, and the list that its record appears in.
struct Case {
    tool: &'static str,
    arguments: Value,
    list: &'static str,
}

/// Calls that make something which a list shows.
fn cases() -> Vec<Case> {
    let case = |tool, list, arguments| Case { tool, arguments, list };
    let test = json!({"name": "Fresh", "test_type": "task"});
    let steps = json!({"1": {"goal": "Look around", "expected_results": [{"expected": "It is bright"}]}});

    vec![
        case("start_run", "list_jobs", start()),
        case(
            "start_run",
            "list_jobs",
            json!({
                "instructions": "Jump", "deployment_config_id": seed::CONFIG_WINDOWS, "additional_tags": ["once"],
            }),
        ),
        case("start_run", "list_test_plan_executions", plan()),
        case("start_test_plan_run", "list_test_plan_executions", plan()),
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

fn start() -> Value {
    json!({"multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS})
}

fn plan() -> Value {
    json!({"test_plan_id": seed::PLAN_SMOKE, "deployment_config_id": seed::CONFIG_WINDOWS})
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
