//! The guide for users who try out the sandbox: URLs, keys, ids and commands.

use crate::sandbox::http::authentication::keys;
use crate::sandbox::http::state::SandboxState;
use crate::sandbox::seed::{
    ARENA_EXECUTION, ARENA_PLAN, ARENA_PROJECT, ARENA_RUN_FAILED, ARENA_RUN_RUNNING, ARENA_TEST_PASSES,
    BUG_ACTIVE, CONFIG_PHONES, CONFIG_WINDOWS, DEMO_PROJECT, EXECUTION_COMPLETED, EXECUTION_IN_PROGRESS,
    JOB_FLAKY, JOB_QUEUED, JOB_RUNNING, PLAN_CROSS_PLATFORM, PLAN_SMOKE, RUN_FAILED, RUN_RUNNING,
    TEST_DISCOVERY, TEST_FAILS, TEST_FLAKY, TEST_PASSES, TEST_TWO_PLAYERS,
};

/// The keys and their meaning.
const KEYS: [(&str, &str); 7] = [
    (keys::DEMO, "project demo, every permission"),
    (keys::ARENA, "project arena, every permission"),
    (keys::ORGANIZATION, "both projects; only on routes that name the project"),
    (keys::READ_ONLY, "project demo, may read runs and configs"),
    (keys::POWERLESS, "project demo, no permission"),
    (keys::EXPIRED, "expired"),
    (keys::DISABLED, "disabled"),
];

/// Records of project `demo`.
const DEMO: [(&str, &str); 17] = [
    (TEST_PASSES, "test that passes"),
    (TEST_FLAKY, "test that times out first and then passes (give retries)"),
    (TEST_FAILS, "test that fails and finds a bug"),
    (TEST_TWO_PLAYERS, "test of two players"),
    (TEST_DISCOVERY, "discovery test that finds several bugs"),
    (CONFIG_PHONES, "deployment config: three phones"),
    (CONFIG_WINDOWS, "deployment config: Windows"),
    (PLAN_SMOKE, "test plan"),
    (PLAN_CROSS_PLATFORM, "cross-platform test plan with slots 2 and 3"),
    (RUN_FAILED, "failed run"),
    (RUN_RUNNING, "running run"),
    (JOB_RUNNING, "its job"),
    (JOB_QUEUED, "queued job"),
    (JOB_FLAKY, "job with a retry"),
    (EXECUTION_COMPLETED, "completed plan execution, to export"),
    (EXECUTION_IN_PROGRESS, "plan execution in progress"),
    (BUG_ACTIVE, "reviewed bug"),
];

/// Records of project `arena`.
const ARENA: [(&str, &str); 5] = [
    (ARENA_TEST_PASSES, "test"),
    (ARENA_PLAN, "test plan"),
    (ARENA_RUN_FAILED, "failed run"),
    (ARENA_RUN_RUNNING, "running run"),
    (ARENA_EXECUTION, "completed plan execution"),
];

/// Returns the lines that a user sees when a sandbox starts: its addresses, and where the guide is.
pub(super) fn banner(state: &SandboxState) -> String {
    let (base, host) = (state.base_url(), state.knowledge_url());
    let guide = format!("{host}/_sandbox");
    let rows = [
        (base.as_str(), "base URL"),
        (host.as_str(), "knowledge URL"),
        (keys::DEMO, "key of the project demo"),
        (guide.as_str(), "more keys, ids, clock, faults"),
    ];

    section("Sandbox of the Test Automation Service", &rows)
}

/// Returns the guide of a running sandbox.
pub(super) fn text(state: &SandboxState) -> String {
    let (base, host) = (state.base_url(), state.knowledge_url());
    let addresses = [(base.as_str(), "base URL"), (host.as_str(), "knowledge URL")];
    let title = format!("Project {ARENA_PROJECT} (no integration, no bug review, 2 GB of build storage)");

    [
        section("Sandbox of the Test Automation Service", &addresses),
        section("Keys (header X-Api-Key)", &KEYS),
        section(&format!("Project {DEMO_PROJECT}"), &DEMO),
        section(&title, &ARENA),
        commands(&base, &host),
    ]
    .join("\n")
}

fn section(title: &str, rows: &[(&str, &str)]) -> String {
    let rows = rows.iter().map(|(value, meaning)| format!("  {value:<38} {meaning}\n"));
    std::iter::once(format!("{title}\n")).chain(rows).collect()
}

fn commands(base: &str, host: &str) -> String {
    let key = keys::DEMO;
    let commands = [
        ("See a run", format!("-H 'X-Api-Key: {key}' {base}/runs/{RUN_FAILED}")),
        (
            "Advance the clock by five minutes",
            format!("{host}/_sandbox/clock -d '{{\"advance_seconds\": 300}}'"),
        ),
        (
            "Let the next get_run fail",
            format!("{host}/_sandbox/faults -d '{{\"operation\": \"get_run\", \"status\": 503}}'"),
        ),
        ("See the latest requests", format!("{host}/_sandbox/requests")),
        (
            "Let the next upload of a part fail",
            format!("{host}/_sandbox/faults -d '{{\"operation\": \"put_part\", \"status\": 503}}'"),
        ),
        ("See unfinished uploads of builds", format!("{host}/_sandbox/uploads")),
        ("Get back what was uploaded", format!("{host}/_sandbox/builds/BUILD_ID/content -o FILE")),
        ("Start again", format!("-X POST {host}/_sandbox/reset")),
    ];

    commands.map(|(purpose, arguments)| format!("{purpose}\n  curl {arguments}\n")).join("\n")
}
