//! Records of runs (supplement 2.2 to 2.4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::apply;

use crate::service::view::{lenient, objects};

use crate::service::api::Open;

/// A run, list form (supplement 2.2).
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Run {
    #[serde(flatten)]
    pub head: RunHead,
    pub players: Vec<RunPlayer>,
}

/// The fields that both forms of a run have.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct RunHead {
    pub job_id: String,
    /// Id of the run.
    pub multiplayer_run_id: String,
    pub project_id: String,
    /// `initializing`, `running` or `completed`, in either letter case.
    pub state: String,
    /// `SUCCESS`, `FAILED`, `SKIPPED`, `BLOCKED`, `TIMEOUT`, `ERROR`, `STOPPED`, `MAX_STEPS`; null until completed.
    pub result: Option<String>,
    pub bug_info: Option<BugInfo>,
    pub test: TestRef,
    pub build: Option<BuildRef>,
    pub created_at: String,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub duration_ms: Option<f64>,
    pub initiator: Option<Initiator>,
    pub tags: Vec<String>,
}

/// A run, detail form (supplement 2.4).
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct RunDetail {
    #[serde(flatten)]
    pub head: RunHead,
    pub players: Vec<RunPlayerDetail>,
    pub templating_enabled: bool,
    /// Null if templating is off.
    pub template_data: Option<Open>,
}

/// Number of bugs found by a verification test.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct BugInfo {
    pub bug_label: String,
    pub bug_count: usize,
}

/// The test of a run.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestRef {
    pub id: String,
    pub name: String,
    pub r#type: String,
}

/// The build of a run.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct BuildRef {
    pub id: String,
    pub name: Option<String>,
}

/// The person or system that started a run.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Initiator {
    pub r#type: String,
    pub value: Open,
}

/// A player of a run, list form.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct RunPlayer {
    /// Id of the player, `<run>-<player>`.
    pub id: String,
    pub state: String,
    pub result: Option<String>,
    /// Starts at 1.
    #[schemars(with = "usize")]
    pub player_number: Option<usize>,
    pub test_name: Option<String>,
    pub composite_test_id: Option<String>,
    pub step_count: Option<usize>,
    pub completed_step_count: Option<usize>,
    /// Number of steps by result.
    pub step_result_summary: Option<Open>,
    #[schemars(extend("type" = ["object", "string", "null"]))]
    pub platform: Option<Open>,
}

/// A player of a run, detail form.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct RunPlayerDetail {
    #[serde(flatten)]
    pub player: RunPlayer,
    #[schemars(with = "Vec<RunArtifactRef>")]
    pub artifacts: Option<Vec<RunArtifactRef>>,
    pub steps: Vec<RunStep>,
}

/// A file that a player produced.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct RunArtifactRef {
    pub filename: String,
    pub url: String,
    /// Size in bytes.
    pub size: u64,
    pub uploaded_at: String,
}

/// A step of a player.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct RunStep {
    #[schemars(with = "usize")]
    pub step_number: Option<usize>,
    pub start_time: Option<String>,
    pub end_time: Option<String>,
    pub duration_ms: Option<f64>,
    pub run_state: String,
    pub run_result: Option<String>,
    pub report: Option<String>,
    pub items: Option<Vec<RunStepItem>>,
    pub test: RunStepTest,
}

/// An expected result of a step.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct RunStepItem {
    pub id: String,
    pub expected: String,
    /// `passed`, `failed`, `skipped`, `blocked`, `stopped`, `timeout`, `error` or `pending`.
    pub status: String,
    pub comment: Option<String>,
}

/// The definition of a step.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct RunStepTest {
    pub test_step_id: String,
    pub goal: Option<String>,
    pub finish_condition: Option<String>,
    pub test_type: String,
}

objects!(
    Run,
    RunHead,
    RunDetail,
    BugInfo,
    TestRef,
    BuildRef,
    Initiator,
    RunPlayer,
    RunPlayerDetail,
    RunArtifactRef,
    RunStep,
    RunStepItem,
    RunStepTest
);
