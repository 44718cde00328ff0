//! The current state of a run (supplement 2.5).
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Id, Open};
use crate::service::{
    operation::{Operation, Pictures, RequestInfo},
    tool::{ToolInfo, Toolset},
};

/// Returns the current state of each player of a run: step, game state and a screenshot as an image.
///
/// For results and reports use `get_run`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetLiveRun {
    /// Id of a run, not of a job or of one player.
    pub run_id: Id,
    /// Default true. Pass false if no image is needed, because images use many tokens.
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

/// The current state of a run.
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

/// The current state of a player of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LivePlayer {
    /// Starts at 0 here; in other answers at 1.
    pub player_number: usize,
    /// Id of the player, `<run>-<player>`, with players numbered from 1.
    pub composite_run_id: String,
    pub current_run_id: Option<String>,
    #[schemars(schema_with = "anything")]
    pub current_step: Option<Value>,
    pub game_state: Option<Open>,
    #[schemars(with = "Option<DeliveredPicture>")]
    pub screenshot: Option<Screenshot>,
    pub last_agent_step: Option<AgentStep>,
}

/// A screenshot in the form that the service returns.
#[derive(Clone, Debug, Serialize)]
pub struct Screenshot {
    /// Base64 text.
    pub data: String,
    #[serde(rename = "mimeType")]
    pub mime_type: String,
    pub encoding: String,
}

// A picture as callers receive it; `call::reply` fills these fields. No doc comment, because it would become part of the schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what callers read")]
pub(super) struct DeliveredPicture {
    /// Position of the image among the images of this reply, starting at 1.
    image: Option<u32>,
    #[schemars(rename = "mimeType")]
    mime_type: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    /// Present if the image was scaled down.
    original_width: Option<u32>,
    original_height: Option<u32>,
    /// Reason if there is no image.
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
