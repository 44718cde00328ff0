//! Which project a call goes to.

use serde_json::{Value, json};

mod artifacts;
mod bound;
mod executions;
mod organization;
mod own_project;
mod project_key;
mod refusing;
mod search;

/// Both projects of the sandbox.
const BOTH: (&str, &str) = ("TAS_PROJECTS", "demo,arena");

/// A call that reads a run.
fn run(id: &str) -> (&'static str, Value) {
    ("get_run", json!({"run_id": id}))
}

/// These arguments with a project.
fn within(project: &str, mut arguments: Value) -> Value {
    arguments["project_id"] = json!(project);
    arguments
}

/// Asserts that the details and the message of an error name both projects, and the id that decided.
fn assert_mismatch(error: &Value, requested: &str, owning: &str, id: impl Into<Value>) {
    assert_eq!(error["code"], "project_scope_mismatch", "{error}");

    let id = id.into();
    let expected = json!({"requested_project": requested, "owning_project": owning, "id": id});

    assert_eq!(error["details"], expected);

    let hint = error["hint"].as_str().expect("a hint");
    assert!(hint.starts_with("ask the user before another project is used"), "{hint}");

    let message = error["message"].as_str().expect("a message");
    for name in [requested, owning].into_iter().chain(id.as_str()) {
        assert!(message.contains(&format!("`{name}`")), "{name}: {message}");
    }
}
