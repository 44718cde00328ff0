//! A record for a model: the fields that questions are about, with names beside ids.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::{DescribedKind, DescribedRecord, Record, Viewed};
use crate::{
    call::paging::Omission,
    service::{
        api::{
            bugs::{BugDetail, BugOccurrence, RunBug},
            builds::BuildDetail,
            executions::TestPlanExecution,
            jobs::{Job, JobRun},
            plans::TestPlan,
            runs::{Initiator, Run, RunDetail, RunHead, RunPlayerDetail},
            tests::TestCase,
        },
        lenient::view,
    },
    tools::{
        names::{devices, initiator_name},
        summary::BugEntry,
        waiting::ResultItem,
    },
};

/// A record with the names of what it refers to. Fields without a value are absent.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct RecordDescription {
    pub kind: DescribedKind,
    pub id: String,
    pub name: String,
    /// Verdict of a finished run or job, else state; status of an execution, a build or a bug.
    pub state: Option<String>,
    pub project_id: Option<String>,
    pub folder_path: Option<String>,
    /// `verification`, `discovery` or `task`.
    pub test_type: Option<String>,
    /// Of a test.
    pub version: Option<u32>,
    pub platform: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub severity: Option<String>,
    pub description: Option<String>,
    pub reproduction_steps: Option<String>,
    /// Number of a slot to its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub slots: BTreeMap<usize, String>,
    /// Number of a player to its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub players: BTreeMap<usize, String>,
    /// Steps of a run that did not pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_steps: Vec<FailedStep>,
    /// Bugs of a run.
    pub bugs: Option<Vec<BugEntry>>,
    /// Tests of a plan, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<PlannedTest>,
    /// Plans that contain the test.
    pub plans: Option<Vec<NamedId>>,
    /// Where a bug was seen, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub occurrences: Vec<Occurrence>,
    /// Runs of a job, a test or a build, jobs of an execution, or executions of a plan; the newest first, but jobs in the
    /// order of the plan.
    pub results: Option<Vec<ResultLine>>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
}

/// An id with the name of its record.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct NamedId {
    pub id: String,
    pub name: Option<String>,
}

/// A step that did not pass.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct FailedStep {
    /// Number of the player, from 1, if there are several.
    pub player: Option<usize>,
    pub step: usize,
    pub state: String,
    pub goal: Option<String>,
    /// Report of the agent.
    pub report: Option<String>,
}

/// A test of a plan.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct PlannedTest {
    pub id: String,
    pub name: Option<String>,
    pub retries: u32,
}

/// A place where a bug was seen. Only the newest have the fields of their run.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Occurrence {
    pub run_id: String,
    /// `<run>-<player>`, with players from 1.
    pub player_id: String,
    pub test_name: Option<String>,
    pub step: usize,
    pub detected_at: String,
    pub run_state: Option<String>,
    pub build: Option<NamedId>,
}

/// A run, a job or an execution.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ResultLine {
    pub id: String,
    /// Name of the test.
    pub test_name: Option<String>,
    /// Verdict if it is finished, else state.
    pub state: String,
    pub created_at: Option<String>,
    pub duration_ms: Option<f64>,
    pub build: Option<NamedId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// Of an execution.
    pub passed: Option<usize>,
    /// Of an execution.
    pub failed: Option<usize>,
    /// The run that decides about a job.
    pub run_id: Option<String>,
}

impl From<DescribedRecord> for RecordDescription {
    fn from(DescribedRecord { record, unread }: DescribedRecord) -> Self {
        let description = match &record {
            Record::Run { run, bugs } => Self::of_run(run, bugs),
            Record::Job { job, build_name, execution } => {
                Self::of_job(job, build_name.as_deref(), execution.as_deref())
            }
            Record::TestPlanExecution { test_plan_execution, jobs } => {
                Self::of_execution(test_plan_execution, jobs)
            }
            Record::Test { test, folder_path, plans, latest_runs } => Self {
                folder_path: folder_path.clone(),
                plans: Some(plans.clone()),
                results: Some(run_lines(latest_runs)),
                ..Self::of_test(test)
            },
            Record::TestPlan { test_plan, test_names, latest_executions } => {
                let executions = latest_executions.iter().map(|execution| execution_line(execution));
                Self { results: Some(executions.collect()), ..Self::of_plan(test_plan, test_names) }
            }
            Record::Build { build, latest_runs } => {
                Self { results: Some(run_lines(latest_runs)), ..Self::of_build(build) }
            }
            Record::Device { device } => Self {
                platform: device.kind.clone(),
                description: device.description.clone(),
                ..Self::new(DescribedKind::DeploymentConfig, &device.id, &device.name)
            },
            Record::Bug { bug, runs } => Self::of_bug(bug, runs),
        };

        Self { unread, ..description }
    }
}

impl RecordDescription {
    fn new(kind: DescribedKind, id: &str, name: &str) -> Self {
        Self { kind, id: id.to_owned(), name: name.to_owned(), ..Self::default() }
    }

    fn of_run(run: &RunDetail, bugs: &[Viewed<RunBug>]) -> Self {
        let head = &run.head;
        let players = run.players.iter().map(|player| &player.player);
        let bug = |bug: &Viewed<RunBug>| BugEntry {
            id: filled(&bug.bug_id),
            title: bug.title.clone(),
            severity: bug.severity.clone(),
        };

        Self {
            state: Some(state_of_run(head)),
            project_id: filled(&head.project_id),
            devices: devices(players),
            test: named(&head.test.id, Some(&head.test.name)),
            build: build_of(head),
            job_id: filled(&head.job_id),
            created_at: filled(&head.created_at),
            completed_at: head.completed_at.clone(),
            duration_ms: head.duration_ms,
            by: head.initiator.as_ref().and_then(initiator_name),
            tags: head.tags.clone(),
            failed_steps: failed_steps(&run.players),
            bugs: Some(bugs.iter().map(bug).collect()),
            ..Self::new(DescribedKind::Run, &head.multiplayer_run_id, &head.test.name)
        }
    }

    fn of_job(job: &Job, build_name: Option<&str>, execution: Option<&Viewed<TestPlanExecution>>) -> Self {
        let run = |run: &JobRun| ResultLine {
            id: run.multiplayer_run_id.clone(),
            state: run.result.clone().or_else(|| run.state.clone()).unwrap_or_default(),
            created_at: run.started_at.clone(),
            ..ResultLine::default()
        };
        let test_name = job.test_name.as_deref().unwrap_or_default();
        let plan = execution
            .and_then(|execution| named(execution.test_plan_id.as_ref()?, execution.test_plan_name.as_ref()));

        Self {
            state: Some(state_of_job(job)),
            project_id: filled(&job.project_id),
            platform: job.platform.clone(),
            test: job.multiplayer_test_id.as_ref().and_then(|id| named(id, job.test_name.as_ref())),
            build: job.build_id.as_ref().and_then(|id| named(id, build_name.map(str::to_owned).as_ref())),
            test_plan: plan,
            test_plan_execution_id: job.test_plan_execution_id.clone(),
            created_at: filled(&job.created_at),
            completed_at: job.completed_at.clone(),
            description: job.queue_rejection_reason.clone(),
            tags: job.tags.clone(),
            results: Some(job.runs.iter().rev().map(run).collect()),
            ..Self::new(DescribedKind::Job, &job.job_id, test_name)
        }
    }

    fn of_execution(execution: &TestPlanExecution, jobs: &[Viewed<Job>]) -> Self {
        let by: Initiator = view(&execution.started_by);
        let name = execution.test_plan_name.as_deref().unwrap_or_default();
        let plan = execution.test_plan_id.as_ref();

        Self {
            state: filled(&execution.status),
            project_id: jobs.first().and_then(|job| filled(&job.project_id)),
            build: build_of_execution(execution),
            test_plan: plan.and_then(|id| named(id, execution.test_plan_name.as_ref())),
            created_at: execution.started_at.clone(),
            completed_at: execution.completed_at.clone(),
            duration_ms: execution.duration_ms,
            by: initiator_name(&by),
            results: Some(jobs.iter().map(|job| job_line(job)).collect()),
            ..Self::new(DescribedKind::TestPlanExecution, &execution.id, name)
        }
    }

    fn of_test(test: &TestCase) -> Self {
        let players = &test.content.players_by_key;
        let name = |key: &String| {
            let name = players.get(key).and_then(|player| player.name.clone());
            name.unwrap_or_else(|| key.clone())
        };

        Self {
            project_id: filled(&test.project_id),
            test_type: filled(&test.test_type),
            version: Some(test.version),
            tags: test.tags.clone(),
            players: (1..).zip(test.content.player_order.iter().map(name)).collect(),
            ..Self::new(DescribedKind::Test, &test.id, &test.name)
        }
    }

    fn of_plan(plan: &TestPlan, names: &BTreeMap<String, String>) -> Self {
        let unnamed = || "unnamed".to_owned();
        let others = plan.slots.iter().flatten();
        let others = others.map(|slot| (slot.index, slot.name.clone().unwrap_or_else(unnamed)));
        let first = (1, plan.default_slot_name.clone().unwrap_or_else(unnamed));
        let tests = plan.test_items.iter().map(|item| PlannedTest {
            id: item.multiplayer_test_id.clone(),
            name: names.get(&item.multiplayer_test_id).cloned(),
            retries: item.retries,
        });

        Self {
            project_id: filled(&plan.project_id),
            created_at: plan.audit.created_at.clone(),
            by: plan.audit.created_by.clone(),
            slots: [first].into_iter().chain(others).collect(),
            tests: tests.collect(),
            ..Self::new(DescribedKind::TestPlan, &plan.id, &plan.name)
        }
    }

    fn of_build(detail: &BuildDetail) -> Self {
        let build = &detail.build;
        Self {
            state: filled(&build.status),
            platform: filled(&build.platform),
            created_at: filled(&build.created_at),
            description: build.description.clone(),
            tags: build.tags.clone(),
            ..Self::new(DescribedKind::Build, &build.id, &build.name)
        }
    }

    fn of_bug(detail: &BugDetail, runs: &BTreeMap<String, Viewed<RunHead>>) -> Self {
        let bug = &detail.bug;
        let occurrences =
            detail.occurrences.iter().map(|one| occurrence(one, runs.get(&one.multiplayer_run_id)));

        Self {
            state: filled(&bug.status),
            project_id: filled(&bug.project_id),
            created_at: filled(&bug.created_at),
            by: bug.created_by.clone(),
            tags: bug.tags.clone(),
            severity: filled(&bug.severity),
            description: filled(&bug.description),
            reproduction_steps: filled(&bug.reproduction_steps),
            occurrences: occurrences.collect(),
            ..Self::new(DescribedKind::Bug, &bug.id, &bug.title)
        }
    }
}

fn filled(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn named(id: &str, name: Option<&String>) -> Option<NamedId> {
    filled(id).map(|id| NamedId { id, name: name.and_then(|name| filled(name)) })
}

fn build_of(run: &RunHead) -> Option<NamedId> {
    run.build.as_ref().and_then(|build| named(&build.id, build.name.as_ref()))
}

fn build_of_execution(execution: &TestPlanExecution) -> Option<NamedId> {
    named(execution.build_id.as_ref()?, execution.build_name.as_ref())
}

fn state_of_run(run: &RunHead) -> String {
    run.result.clone().unwrap_or_else(|| run.state.clone())
}

fn state_of_job(job: &Job) -> String {
    ResultItem::from_job(job).verdict().unwrap_or_else(|| job.status.clone())
}

fn failed_steps(players: &[RunPlayerDetail]) -> Vec<FailedStep> {
    let has_several = players.len() > 1;
    let steps = players.iter().enumerate().flat_map(|(place, player)| {
        let number = player.player.player_number.unwrap_or(place + 1);
        player.steps.iter().enumerate().map(move |(place, step)| (number, place, step))
    });
    let failed = steps.filter_map(|(player, place, step)| {
        let state = step.run_result.clone()?;
        (!state.eq_ignore_ascii_case("SUCCESS")).then(|| FailedStep {
            player: has_several.then_some(player),
            step: step.step_number.unwrap_or(place + 1),
            state,
            goal: step.test.goal.clone(),
            report: step.report.clone(),
        })
    });

    failed.collect()
}

fn run_lines(runs: &[Viewed<Run>]) -> Vec<ResultLine> {
    let line = |run: &Viewed<Run>| ResultLine {
        id: run.head.multiplayer_run_id.clone(),
        test_name: filled(&run.head.test.name),
        state: state_of_run(&run.head),
        created_at: filled(&run.head.created_at),
        duration_ms: run.head.duration_ms,
        build: build_of(&run.head),
        devices: devices(&run.players),
        ..ResultLine::default()
    };
    runs.iter().map(line).collect()
}

fn job_line(job: &Job) -> ResultLine {
    let item = ResultItem::from_job(job);
    ResultLine {
        id: job.job_id.clone(),
        test_name: job.test_name.clone(),
        state: state_of_job(job),
        created_at: filled(&job.created_at),
        run_id: item.run_id,
        ..ResultLine::default()
    }
}

fn execution_line(execution: &TestPlanExecution) -> ResultLine {
    ResultLine {
        id: execution.id.clone(),
        state: execution.status.clone(),
        created_at: execution.started_at.clone(),
        duration_ms: execution.duration_ms,
        build: build_of_execution(execution),
        passed: Some(execution.test_status.passed),
        failed: Some(execution.test_status.failed),
        ..ResultLine::default()
    }
}

/// Returns a place where a bug was seen. The number of a player counts from 0 there, and from 1 in its id (service.md
/// 1.8).
fn occurrence(one: &BugOccurrence, run: Option<&Viewed<RunHead>>) -> Occurrence {
    Occurrence {
        run_id: one.multiplayer_run_id.clone(),
        player_id: format!("{}-{}", one.multiplayer_run_id, one.player_index + 1),
        test_name: one.test_name.clone(),
        step: one.test_step,
        detected_at: one.detected_at.clone(),
        run_state: run.map(|run| state_of_run(run)),
        build: run.and_then(|run| build_of(run)),
    }
}
