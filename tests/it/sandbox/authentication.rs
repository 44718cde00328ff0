//! Keys and permissions (specification, Authentication).

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use super::client::Client;

#[tokio::test]
async fn smoke() {
    let client = Client::demo().await;
    for path in [
        "/runs?page_size=40",
        "/jobs?page_size=40",
        "/tests",
        "/test-plans",
        "/bugs?status=all",
        "/test-plan-executions",
        "/deployment-configs",
        &format!("/runs/{}", seed::RUN_FAILED),
        &format!("/runs/{}/bugs", seed::RUN_FAILED),
        &format!("/runs/{}", seed::RUN_RUNNING),
        &format!("/jobs/{}", seed::JOB_FLAKY),
        &format!("/bugs/{}", seed::BUG_ACTIVE),
        &format!("/test-plans/{}", seed::PLAN_CROSS_PLATFORM),
        &format!("/test-plan-executions/{}", seed::EXECUTION_COMPLETED),
    ] {
        println!("{path}\n{}", client.read(path).await);
    }
    println!("{}", client.sandbox.guide());
    let _ = (json!(1), keys::DEMO);
}
