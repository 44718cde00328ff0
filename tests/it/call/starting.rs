//! Starting and stopping runs, as callers of the tools see it (service.md 2.1, 2.6, 4.6).

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use crate::support::fixture::{Fixture, Session};

mod answers;
mod options;
mod plans;
mod rules;
mod stopping;

/// A server that starts many runs at once without a confirmation.
fn fixture() -> Fixture {
    Fixture::new().variables(&[("TAS_CONFIRM", "never")])
}

/// A start that breaks no rule, with these arguments added.
fn start_with(more: Value) -> Value {
    merged(
        json!({"multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS}),
        more,
    )
}

fn merged(mut base: Value, more: Value) -> Value {
    let (Value::Object(members), Value::Object(more)) = (&mut base, more) else { panic!("both are objects") };
    members.extend(more);
    base
}

/// Asserts that each call is refused with exactly these violations, and that no request is sent.
async fn assert_refused(tool: &str, cases: &[(Value, &[&str])]) {
    let owned = |(arguments, expected): &(Value, &[&str])| {
        (arguments.clone(), expected.iter().map(|&violation| violation.to_owned()).collect())
    };
    assert_all_refused(tool, cases.iter().map(owned)).await;
}

/// As [`assert_refused`], for violations that a test composes.
async fn assert_all_refused(tool: &str, cases: impl IntoIterator<Item = (Value, Vec<String>)>) {
    let Session { service, mut host, .. } = fixture().open().await;
    for (arguments, expected) in cases {
        assert_eq!(host.violations(tool, arguments.clone()).await, expected, "{arguments}");
    }
    assert_eq!(service.requests().await, [""; 0]);
}
