//! The same tests as over standard input and output: this test binary runs them again with hosts that use HTTP.

use std::process::{Command, Stdio};

use crate::support::host::TRANSPORT;

/// Modules whose tests run again: refusals, replies, scope, faults, secrets and hostile services.
const MODULES: [&str; 6] =
    ["call::refusals", "call::exporting", "call::replies", "call::scope", "call::long_answers", "client::"];

/// Tests that do not run again: those of other modules with similar names, and those that need a session, in which a host
/// cancels a call with a notification and answers questions, or send longer messages than a stranger may.
const SKIPPED: [&str; 8] = [
    "cli::",
    "http::",
    "mcp::",
    "cancel",
    "elicitation",
    "a_repetition_excludes_others",
    "command::",
    "huge_values",
];

#[test]
fn calls_have_the_same_results_over_http() {
    let mut tests = Command::new(std::env::current_exe().expect("this test binary"));
    tests.args(MODULES).args(SKIPPED.iter().flat_map(|module| ["--skip", module]));
    let output = tests.env(TRANSPORT, "http").stdin(Stdio::null()).output().expect("the tests run");

    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let passed = text.split("test result: ok. ").nth(1).and_then(|rest| rest.split(' ').next());
    assert!(passed.is_some_and(|count| count.parse::<u32>().is_ok_and(|count| count > 150)), "{text}");
}
