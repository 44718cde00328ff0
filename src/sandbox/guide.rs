//! What a person needs to try the sandbox out.

use super::{
    keys,
    routes::Service,
    seed::{
        ARENA_EXECUTION, ARENA_PLAN, ARENA_PROJECT, ARENA_RUN_FAILED, ARENA_RUN_RUNNING, ARENA_TEST_PASSES,
        BUG_ACTIVE, CONFIG_PHONES, CONFIG_WINDOWS, DEMO_PROJECT, EXECUTION_COMPLETED, EXECUTION_IN_PROGRESS,
        JOB_FLAKY, JOB_QUEUED, JOB_RUNNING, PLAN_CROSS_PLATFORM, PLAN_SMOKE, RUN_FAILED, RUN_RUNNING,
        TEST_DISCOVERY, TEST_FAILS, TEST_FLAKY, TEST_PASSES, TEST_TWO_PLAYERS,
    },
};

const KEYS: [(&str, &str); 7] = [
    (keys::DEMO, "project demo, every permission"),
    (keys::ARENA, "project arena, every permission"),
    (keys::ORGANIZATION, "both projects; only on routes that name the project"),
    (keys::READ_ONLY, "project demo, may read runs and configs"),
    (keys::POWERLESS, "project demo, no permission"),
    (keys::EXPIRED, "expired"),
    (keys::DISABLED, "disabled"),
];

const DEMO: [(&str, &str); 16] = [
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
];

const ARENA: [(&str, &str); 5] = [
    (ARENA_TEST_PASSES, "test"),
    (ARENA_PLAN, "test plan"),
    (ARENA_RUN_FAILED, "failed run"),
    (ARENA_RUN_RUNNING, "running run"),
    (ARENA_EXECUTION, "completed plan execution"),
];

/// The guide of a running sandbox.
pub(super) fn text(service: &Service) -> String {
    let (base, host) = (service.base_url(), service.knowledge_url());
    let mut text =
        format!("Sandbox of the Test Automation Service\n\nBase URL       {base}\nKnowledge URL  {host}\n");
    section(&mut text, "Keys (header X-Api-Key)", &KEYS);
    let demo = [&DEMO[..], &[(BUG_ACTIVE, "reviewed bug")]].concat();
    section(&mut text, &format!("Project {DEMO_PROJECT}"), &demo);
    let title = format!("Project {ARENA_PROJECT} (no integration, no bug review)");
    section(&mut text, &title, &ARENA);
    text.push_str(&format!(
        "\nSee a run\n  curl -H 'X-Api-Key: {}' {base}/runs/{RUN_FAILED}\n\
         \nAdvance the clock by five minutes\n  curl -X POST {host}/_sandbox/clock -d '{{\"advance_seconds\": 300}}'\n\
         \nOrder a fault for the next get_run\n  curl -X POST {host}/_sandbox/faults -d '{{\"operation\": \"get_run\", \"status\": 503}}'\n\
         \nSee the latest requests\n  curl {host}/_sandbox/requests\n\
         \nStart again\n  curl -X POST {host}/_sandbox/reset\n",
        keys::DEMO
    ));
    text
}

fn section(text: &mut String, title: &str, rows: &[(&str, &str)]) {
    text.push_str(&format!("\n{title}\n"));
    for (value, meaning) in rows {
        text.push_str(&format!("  {value:<38} {meaning}\n"));
    }
}
