//! The order of the steps.

use std::net::SocketAddr;

use anyhow::Result;

use super::{client::McpClient, scenario::Scenario, transcript::Transcript};
use crate::sandbox::{self, Options, keys, seed};

/// Runs the demo.
///
/// # Errors
/// The first step whose result is not the expected one.
pub async fn run() -> Result<()> {
    // The clock stands still except when the demo advances it.
    let options = Options { speed: 0.0, ..Options::default() };
    let sandbox = sandbox::start(SocketAddr::from(([127, 0, 0, 1], 0)), options, None).await?;
    let environment = [
        ("TAS_BASE_URL", sandbox.base_url()),
        ("TAS_API_KEY", keys::ORGANIZATION.to_owned()),
        ("TAS_PROJECTS", format!("{},{}", seed::DEMO_PROJECT, seed::ARENA_PROJECT)),
    ];
    let client = McpClient::start(&environment).await?;
    let mut scenario = Scenario { sandbox, client, transcript: Transcript::new() };

    scenario.introduce()?;
    let config = scenario.choose_config().await?;
    let test = scenario.choose_test().await?;
    let job = scenario.start_run(&test, &config).await?;
    let run = scenario.wait_for_run(&job).await?;

    scenario.explain_failure(&run).await?;
    scenario.export_run(&run).await?;
    scenario.try_wrong_project(&run).await?;

    let Scenario { client, mut transcript, .. } = scenario;
    client.end().await?;
    transcript.end("Every step had the expected result.");

    Ok(())
}
