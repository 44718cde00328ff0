//! The answer of `describe_record`: the fields that questions are about, with names beside ids.
#![expect(missing_docs, reason = "the names of most fields are self-explanatory")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::{
    call::paging::Omission,
    fields::Fields,
    service::{
        api::{
            bugs::BugOccurrence,
            executions::TestPlanExecution,
            jobs::Job,
            runs::{Run, RunHead, RunPlayerDetail},
        },
        lenient::{View, view},
        record_kind::RecordKind,
    },
    tools::{names::devices, waiting::ResultItem},
};

/// A record with the names of what it refers to. Fields without a value are absent.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RecordDescription {
    #[schemars(extend("enum" = RecordKind::DESCRIBED))]
    pub kind: RecordKind,
    pub id: String,
    pub name: String,
    /// Verdict of a finished run or job, else state; status of an execution, a build or a bug.
    pub state: Option<String>,
    pub project_id: Option<String>,
    pub folder_path: Option<String>,
    /// `verification`, `discovery` or `task`.
    pub test_type: Option<String>,
    /// Of a test, or of the app in a build.
    pub version: Option<Value>,
    /// Whether a build is never deleted automatically.
    pub pinned: Option<bool>,
    pub platform: Option<String>,
    pub devices: Option<Vec<String>>,
    pub test: Option<NamedId>,
    pub build: Option<NamedId>,
    pub test_plan: Option<NamedId>,
    pub test_plan_execution_id: Option<String>,
    pub job_id: Option<String>,
    /// When the record was created; of an execution, when it was started.
    pub created_at: Option<String>,
    pub completed_at: Option<String>,
    pub duration_ms: Option<f64>,
    /// Who started or created it.
    pub by: Option<String>,
    pub tags: Option<Vec<String>>,
    pub severity: Option<String>,
    pub description: Option<String>,
    pub reproduction_steps: Option<String>,
    /// Number of a slot to its name.
    pub slots: Option<BTreeMap<usize, String>>,
    /// Number of a player to its name.
    pub players: Option<BTreeMap<usize, String>>,
    /// Steps of a run that did not pass.
    pub failed_steps: Option<Vec<Fields>>,
    /// Bugs of a run.
    pub bugs: Option<Vec<Fields>>,
    /// Tests of a plan, in order.
    pub tests: Option<Vec<Fields>>,
    /// Plans that contain the test.
    pub plans: Option<Vec<NamedId>>,
    /// Where a bug was seen, newest first. The newest have the `run_state` and `build` of their run.
    pub occurrences: Option<Vec<Fields>>,
    /// Runs of a job, a test or a build, jobs of an execution, or executions of a plan; the newest first, but jobs in the
    /// order of the plan.
    pub results: Option<Vec<Fields>>,
    /// What was not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
}

/// An id with the name of its record.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct NamedId {
    pub id: String,
    pub name: Option<String>,
}

impl RecordDescription {
    /// Returns the description with the fields `own`, and else with those of the record itself.
    pub(super) fn new(record: &Value, own: &Value) -> Self {
        let mut fields: Fields = record.as_object().cloned().unwrap_or_default();
        fields.extend(own.as_object().cloned().unwrap_or_default());
        view(&fields)
    }
}

/// Returns an entry of a list without the fields that have no value.
pub(super) fn entry(mut fields: Value) -> Value {
    if let Some(fields) = fields.as_object_mut() {
        fields.retain(|_, value| !value.is_null() && *value != json!([]) && *value != "");
    }
    fields
}

pub(super) fn entries<T: View>(records: &[Value], make: impl Fn(&T) -> Value) -> Vec<Value> {
    records.iter().map(|record| entry(make(&view(record)))).collect()
}

pub(super) fn named(id: Option<String>, name: Option<String>) -> Option<NamedId> {
    Some(NamedId { id: id?, name })
}

pub(super) fn state_of_run(run: &RunHead) -> String {
    run.result.clone().unwrap_or_else(|| run.state.clone())
}

pub(super) fn state_of_job(job: &Job) -> String {
    ResultItem::from_job(job).verdict().unwrap_or_else(|| job.status.clone())
}

pub(super) fn run_entry(Run { head, players }: &Run) -> Value {
    json!({
        "id": head.multiplayer_run_id, "test_name": head.test.name, "state": state_of_run(head),
        "created_at": head.created_at, "duration_ms": head.duration_ms, "build": head.build,
        "devices": devices(players),
    })
}

pub(super) fn job_entry(job: &Job) -> Value {
    json!({
        "id": job.job_id, "test_name": job.test_name, "state": state_of_job(job), "created_at": job.created_at,
        // The run that decides.
        "run_id": ResultItem::from_job(job).run_id,
    })
}

pub(super) fn execution_entry(execution: &TestPlanExecution) -> Value {
    json!({
        "id": execution.id, "state": execution.status, "created_at": execution.started_at,
        "duration_ms": execution.duration_ms,
        "build": named(execution.build_id.clone(), execution.build_name.clone()),
        "passed": execution.test_status.passed, "failed": execution.test_status.failed,
    })
}

/// Returns where a bug was seen. Players count from 0 in the occurrence, and from 1 in their ids (service.md 1.8).
pub(super) fn occurrence_entry(one: &BugOccurrence, run: Option<&Value>) -> Value {
    let run: Option<RunHead> = run.map(view);
    entry(json!({
        "run_id": one.multiplayer_run_id, "player_id": format!("{}-{}", one.multiplayer_run_id, one.player_index + 1),
        "test_name": one.test_name, "step": one.test_step, "detected_at": one.detected_at,
        "run_state": run.as_ref().map(state_of_run), "build": run.and_then(|run| run.build),
    }))
}

pub(super) fn failed_steps(players: &[RunPlayerDetail]) -> Vec<Value> {
    let mut failed = Vec::new();
    for (place, player) in players.iter().enumerate() {
        let number = player.player.player_number.unwrap_or(place + 1);
        for (place, step) in player.steps.iter().enumerate() {
            if step.run_result.as_ref().is_some_and(|state| !state.eq_ignore_ascii_case("SUCCESS")) {
                failed.push(entry(json!({
                    "player": (players.len() > 1).then_some(number), "step": step.step_number.unwrap_or(place + 1),
                    "state": step.run_result, "goal": step.test.goal, "report": step.report,
                })));
            }
        }
    }
    failed
}
