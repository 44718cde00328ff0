//! The same tests as over standard input and output: this test binary runs them again with hosts that use HTTP.

use std::process::{Command, Stdio};

use crate::support::host::TRANSPORT;

/// Modules whose tests run again: refusals, replies, scope, faults, secrets and hostile services.
const MODULES: [&str; 6] =
    ["call::refusals", "call::exporting", "call::replies", "call::scope", "call::long_answers", "client::"];

/// Tests that do not run again: a host needs a session to cancel a call with a notification, and a stranger sends no long
/// message.
const SKIPPED: [&str; 2] = ["a_cancelled_call_aborts_its_request", "huge_values"];

#[test]
fn calls_have_the_same_results_over_http() {
    let mut tests = Command::new(std::env::current_exe().expect("this test binary"));
    // This process has as many threads, and both run at the same time.
    tests.args(MODULES).args(["--test-threads", "4"]);
    for name in SKIPPED {
        tests.args(["--skip", name]);
    }
    let output = tests.env(TRANSPORT, "http").stdin(Stdio::null()).output().expect("the tests run");

    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let passed = text.split("test result: ok. ").nth(1).and_then(|rest| rest.split(' ').next());
    assert!(passed.is_some_and(|count| count.parse::<u32>().is_ok_and(|count| count > 150)), "{text}");
}
