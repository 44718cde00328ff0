//! What a run does right now (supplement 2.5).
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Id, Open};
use crate::service::{
    operation::{Operation, Pictures, RequestInfo},
    tool::{ToolInfo, Toolset},
};

/// Shows what each player of a run does right now: current step, game state, and a screenshot as an image.
///
/// For results and reports use `get_run`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetLiveRun {
    /// Run id; not a job id or per-player id.
    pub run_id: Id,
    /// Default true. Images are costly: false unless needed.
    #[schemars(extend("default" = true))]
    pub include_screenshot: Option<bool>,
}

impl Operation for GetLiveRun {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_live_run", "Look at a running run", Toolset::Runs).needs("project:read-runs");
    const REQUEST: RequestInfo = RequestInfo::get("/runs/{run_id}/live")
        .with_pictures(Pictures { list: "players", field: "screenshot" });
    type Answer = LiveRun;
}

/// A run at a moment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LiveRun {
    pub multiplayer_run_id: String,
    /// `initializing`, `running` or `completed`, in either letter case.
    pub state: String,
    pub test: Option<LiveTest>,
    pub players: Vec<LivePlayer>,
}

/// The test of the run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LiveTest {
    pub id: String,
    pub name: String,
}

/// A player of a run at a moment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LivePlayer {
    /// From 0; elsewhere from 1.
    pub player_number: usize,
    /// Per-player id `<run>-<player>`, from 1.
    pub composite_run_id: String,
    pub current_run_id: Option<String>,
    #[schemars(schema_with = "anything")]
    pub current_step: Option<Value>,
    pub game_state: Option<Open>,
    #[schemars(with = "Option<DeliveredPicture>")]
    pub screenshot: Option<Screenshot>,
    pub last_agent_step: Option<AgentStep>,
}

/// A screenshot as the service answers it.
#[derive(Clone, Debug, Serialize)]
pub struct Screenshot {
    /// Base64.
    pub data: String,
    #[serde(rename = "mimeType")]
    pub mime_type: String,
    pub encoding: String,
}

// A picture as callers get it. No field says what it is here: see the module `reply::pictures`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what callers read")]
pub(super) struct DeliveredPicture {
    /// Which of the images of this reply it is, from 1.
    image: Option<u32>,
    #[schemars(rename = "mimeType")]
    mime_type: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    /// Where it was made smaller.
    original_width: Option<u32>,
    original_height: Option<u32>,
    /// Why there is no image.
    omitted: Option<String>,
}

/// The latest turn of the agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgentStep {
    #[schemars(schema_with = "anything")]
    pub agent: Value,
    #[schemars(schema_with = "anything")]
    pub step: Value,
    #[schemars(schema_with = "anything")]
    pub save_data: Value,
    #[schemars(schema_with = "anything")]
    pub start_time: Value,
}

fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({})
}
