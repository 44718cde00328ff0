//! The ids that people and tests use exist in every sandbox.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tas_mcp::sandbox::{
    keys,
    seed::{
        AGENT_CAREFUL, AGENT_CURIOUS, ARENA_AGENT, ARENA_BUILD_ANDROID, ARENA_BUILD_LINUX,
        ARENA_CONFIG_LINUX, ARENA_CONFIG_TABLETS, ARENA_CONFIG_XBOX, ARENA_CREDENTIALS, ARENA_EXECUTION,
        ARENA_FOLDER_MATCHES, ARENA_JOB_FAILED, ARENA_JOB_PASSED, ARENA_JOB_RUNNING, ARENA_PLAN,
        ARENA_RUN_DISCOVERY, ARENA_RUN_FAILED, ARENA_RUN_PASSED, ARENA_RUN_RUNNING, ARENA_STEPS_DUEL,
        ARENA_TEST_DISCOVERY, ARENA_TEST_FAILS, ARENA_TEST_PASSES, ARENA_TEST_TWO_PLAYERS, BUG_ACTIVE,
        BUG_ARCHIVED, BUG_AUDIO, BUG_CRITICAL, BUG_VISUAL, BUILD_ANDROID, BUILD_ANDROID_EARLIER, BUILD_IOS,
        BUILD_PLAYSTATION, BUILD_WINDOWS, CONFIG_DIRECT_URL, CONFIG_IPHONE, CONFIG_PHONES,
        CONFIG_PHONES_ALL_BROKEN, CONFIG_PHONES_ONE_BROKEN, CONFIG_PLAYSTATION, CONFIG_PRIVATE_PHONE,
        CONFIG_PRIVATE_TABLET, CONFIG_UNKNOWN_SOURCE, CONFIG_WINDOWS, CREDENTIALS_CLOUD, CREDENTIALS_SHOP,
        EXECUTION_COMPLETED, EXECUTION_IN_PROGRESS, EXECUTION_QUEUED, FOLDER_LEVELS, FOLDER_MENUS,
        FOLDER_ONLINE, FOLDER_WORLD_1, FOLDER_WORLD_2, JOB_FAILED, JOB_FLAKY, JOB_PASSED, JOB_QUEUED,
        JOB_REJECTED, JOB_RUNNING, JOB_STOPPED, PLAN_CROSS_PLATFORM, PLAN_SMOKE, RUN_BLOCKED, RUN_DISCOVERY,
        RUN_ERROR, RUN_FAILED, RUN_PASSED, RUN_RUNNING, RUN_SKIPPED, RUN_STOPPED, RUN_TASK,
        RUN_THREE_PLAYERS, RUN_TIMED_OUT, RUN_TWO_PLAYERS, STEPS_SIGN_IN, STEPS_START_LEVEL, STEPS_UNUSED,
        TEST_BLOCKED, TEST_DISCOVERY, TEST_ERRORS, TEST_FAILS, TEST_FLAKY, TEST_PASSES, TEST_SKIPPED,
        TEST_TASK, TEST_THREE_PLAYERS, TEST_TWO_PLAYERS,
    },
};

use super::client::Client;
use crate::support::time::START;

async fn assert_readable(client: &Client, path: &str, ids: &[&str]) {
    for id in ids {
        client.read(&format!("{path}/{id}")).await;
    }
}

async fn assert_listed(client: &Client, path: &str, ids: &[&str]) {
    let list = client.read(path).await;
    let listed: Vec<_> = list["data"].as_array().unwrap().iter().map(|record| record["id"].clone()).collect();
    for id in ids {
        assert!(listed.iter().any(|one| one == id), "{path}: {id}");
    }
}

#[tokio::test]
async fn the_ids_of_demo_exist() {
    let client = Client::demo().await;
    let runs = [RUN_PASSED, RUN_FAILED, RUN_TIMED_OUT, RUN_BLOCKED, RUN_ERROR, RUN_SKIPPED, RUN_TWO_PLAYERS];
    assert_readable(&client, "/runs", &runs).await;
    assert_readable(
        &client,
        "/runs",
        &[RUN_THREE_PLAYERS, RUN_DISCOVERY, RUN_TASK, RUN_STOPPED, RUN_RUNNING],
    )
    .await;

    let jobs = [JOB_PASSED, JOB_FAILED, JOB_FLAKY, JOB_RUNNING, JOB_QUEUED, JOB_STOPPED, JOB_REJECTED];
    assert_readable(&client, "/jobs", &jobs).await;
    assert_readable(&client, "/test-plans", &[PLAN_SMOKE, PLAN_CROSS_PLATFORM]).await;

    let executions = [EXECUTION_COMPLETED, EXECUTION_IN_PROGRESS, EXECUTION_QUEUED];
    assert_readable(&client, "/test-plan-executions", &executions).await;
    assert_readable(&client, "/bugs", &[BUG_ACTIVE, BUG_CRITICAL, BUG_AUDIO, BUG_VISUAL, BUG_ARCHIVED]).await;

    let tests =
        [TEST_PASSES, TEST_FLAKY, TEST_FAILS, TEST_BLOCKED, TEST_ERRORS, TEST_SKIPPED, TEST_TWO_PLAYERS];
    assert_listed(&client, "/tests", &tests).await;
    assert_listed(&client, "/tests", &[TEST_THREE_PLAYERS, TEST_DISCOVERY, TEST_TASK]).await;

    let configs =
        [CONFIG_WINDOWS, CONFIG_PHONES, CONFIG_PHONES_ONE_BROKEN, CONFIG_PHONES_ALL_BROKEN, CONFIG_IPHONE];
    assert_listed(&client, "/deployment-configs", &configs).await;

    let configs = [
        CONFIG_PRIVATE_PHONE,
        CONFIG_PRIVATE_TABLET,
        CONFIG_PLAYSTATION,
        CONFIG_DIRECT_URL,
        CONFIG_UNKNOWN_SOURCE,
    ];
    assert_listed(&client, "/deployment-configs", &configs).await;
    assert_readable(&client, "/shared-steps", &[STEPS_START_LEVEL, STEPS_SIGN_IN, STEPS_UNUSED]).await;

    let builds = [BUILD_ANDROID, BUILD_ANDROID_EARLIER, BUILD_WINDOWS, BUILD_IOS, BUILD_PLAYSTATION];
    assert_readable(&client, "/builds", &builds).await;

    let folders = [FOLDER_LEVELS, FOLDER_WORLD_1, FOLDER_WORLD_2, FOLDER_MENUS, FOLDER_ONLINE];
    assert_listed(&client, "/test-folders", &folders).await;
    assert_listed(&client, "/agent-configs", &[AGENT_CAREFUL, AGENT_CURIOUS]).await;
    assert_listed(&client, "/credential-kinds", &[CREDENTIALS_SHOP, CREDENTIALS_CLOUD]).await;
}

#[tokio::test]
async fn the_ids_of_arena_exist() {
    let client = Client::demo().await.key(keys::ARENA);
    let runs = [ARENA_RUN_PASSED, ARENA_RUN_FAILED, ARENA_RUN_DISCOVERY, ARENA_RUN_RUNNING];
    assert_readable(&client, "/runs", &runs).await;
    assert_readable(&client, "/jobs", &[ARENA_JOB_PASSED, ARENA_JOB_FAILED, ARENA_JOB_RUNNING]).await;
    assert_readable(&client, "/test-plans", &[ARENA_PLAN]).await;
    assert_readable(&client, "/test-plan-executions", &[ARENA_EXECUTION]).await;

    let tests = [ARENA_TEST_PASSES, ARENA_TEST_FAILS, ARENA_TEST_TWO_PLAYERS, ARENA_TEST_DISCOVERY];
    assert_listed(&client, "/tests", &tests).await;

    let configs = [ARENA_CONFIG_LINUX, ARENA_CONFIG_TABLETS, ARENA_CONFIG_XBOX];
    assert_listed(&client, "/deployment-configs", &configs).await;
    assert_readable(&client, "/shared-steps", &[ARENA_STEPS_DUEL]).await;
    assert_readable(&client, "/builds", &[ARENA_BUILD_LINUX, ARENA_BUILD_ANDROID]).await;
    assert_listed(&client, "/test-folders", &[ARENA_FOLDER_MATCHES]).await;
    assert_listed(&client, "/agent-configs", &[ARENA_AGENT]).await;
    assert_listed(&client, "/credential-kinds", &[ARENA_CREDENTIALS]).await;
}

/// Returns every time in a value.
fn times(value: &Value) -> Vec<Timestamp> {
    match value {
        Value::String(text) => text.parse().into_iter().collect(),
        Value::Array(items) => items.iter().flat_map(times).collect(),
        Value::Object(fields) => fields.values().flat_map(times).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn the_history_is_that_of_the_months_before_the_start() {
    let client = Client::demo().await;
    let mut newest = Timestamp::MIN;
    for path in [
        "/runs",
        "/jobs",
        "/test-plan-executions",
        "/test-plans",
        "/builds",
        "/bugs",
        "/shared-steps",
        "/test-folders",
        "/file-storage/demo/project",
    ] {
        let times = times(&client.read(path).await);
        let earliest = START - SignedDuration::from_hours(121 * 24);

        assert!(!times.is_empty(), "{path}");
        assert!(times.iter().all(|time| (earliest..=START).contains(time)), "{path}: {times:?}");
        newest = newest.max(times.into_iter().max().unwrap_or(newest));
    }

    assert!(START.duration_since(newest) < SignedDuration::from_secs(10), "{newest}");
}
