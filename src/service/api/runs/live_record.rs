//! The current state of a run (supplement 2.5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::apply;

use crate::service::view::{lenient, objects};

use crate::service::api::{Open, delivered_picture::DeliveredPicture, values::anything};

/// The current state of a run.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct LiveRun {
    pub multiplayer_run_id: String,
    /// `initializing`, `running` or `completed`, in either letter case.
    pub state: String,
    pub test: Option<LiveTest>,
    pub players: Vec<LivePlayer>,
}

/// The test of the run.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct LiveTest {
    pub id: String,
    pub name: String,
}

/// The current state of a player of a run.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct LivePlayer {
    /// Starts at 0 here, and at 1 in other answers.
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
#[apply(_ => #[serde(default, deserialize_with = "lenient")])]
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Screenshot {
    /// Base64 text.
    pub data: String,
    #[serde(rename = "mimeType")]
    pub mime_type: String,
    pub encoding: String,
}

/// The latest turn of the agent.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
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

objects!(LiveRun, LiveTest, LivePlayer, Screenshot, AgentStep);
