//! The columns in which people see each kind of record. Names come before ids, and times are ages.

use std::collections::BTreeMap;

use clap::builder::styling::{AnsiColor, Style};
use indexmap::IndexSet;
use jiff::Timestamp;
use serde_json::Value;

use super::table::{Cell, Fit, Table};
use crate::{
    fields::field_at,
    service::{
        api::{
            bugs::{Bug, ListBugs},
            builds::{Build, ListBuilds},
            configs::{DeploymentConfig, ListDeploymentConfigs},
            jobs::{Job, ListJobs, ListTestPlanExecutions, TestPlanExecution},
            plans::{ListTestPlans, TestPlanSummary},
            runs::{ListRuns, Run, RunHead, RunPlayer},
            tests::{ListTests, TestSummary},
        },
        lenient::{View, view},
        operation::Operation as _,
    },
    text,
    tools::{
        names::{devices, initiator_name},
        waiting::ResultItem,
    },
};

pub(super) use crate::text::duration_text;

/// A column of the records `R`.
struct Column<R> {
    header: &'static str,
    fit: Fit,
    cell: fn(&R, &Context) -> Cell,
}

/// What the cells need beside the record.
pub(super) struct Context {
    pub(super) now: Timestamp,
    /// Names of builds by their ids, for records that have the id only.
    pub(super) build_names: BTreeMap<String, String>,
}

impl Default for Context {
    fn default() -> Self {
        Self { now: Timestamp::now(), build_names: BTreeMap::new() }
    }
}

const fn column<R>(header: &'static str, fit: Fit, cell: fn(&R, &Context) -> Cell) -> Column<R> {
    Column { header, fit, cell }
}

const RUNS: &[Column<Run>] = &[
    column("verdict", Fit::Whole, |run, _| verdict(run.head.result.as_deref().unwrap_or(&run.head.state))),
    column("test", Fit::Cut, |run, _| run.head.test.name.as_str().into()),
    column("build", Fit::Cut, |run, _| {
        let name = run.head.build.as_ref().map(|build| build.name.as_ref().unwrap_or(&build.id));
        name.cloned().unwrap_or_default().into()
    }),
    column("device", Fit::Cut, |run, _| devices_of(&run.players).into()),
    column("took", Fit::Whole, |run, context| duration_of(&run.head, context.now)),
    column("bugs", Fit::Whole, |run, _| {
        positive(run.head.bug_info.as_ref().and_then(|bugs| bugs.bug_count).unwrap_or_default())
    }),
    column("age", Fit::Whole, |run, context| age(&run.head.created_at, context)),
    column("id", Fit::Id, |run, _| run.head.multiplayer_run_id.as_str().into()),
    column("started by", Fit::Programs, |run, _| {
        run.head.initiator.as_ref().and_then(initiator_name).unwrap_or_default().into()
    }),
    column("tags", Fit::Programs, |run, _| run.head.tags.join(",").into()),
    column("job", Fit::Programs, |run, _| run.head.job_id.as_str().into()),
];

const JOBS: &[Column<Job>] = &[
    column("verdict", Fit::Whole, |job, _| {
        let item = ResultItem::from_job(job);
        verdict(item.verdict().as_deref().unwrap_or(&job.status))
    }),
    column("test", Fit::Cut, |job, _| job.test_name.clone().unwrap_or_default().into()),
    column("build", Fit::Cut, |job, context| {
        let id = job.build_id.clone().unwrap_or_default();
        let name = context.build_names.get(&id).cloned();
        name.map_or_else(|| id.clone().into(), |name| Cell::from(name).exactly(&id))
    }),
    column("device", Fit::Cut, |job, _| job.platform.clone().unwrap_or_default().into()),
    column("runs", Fit::Whole, |job, _| {
        if job.runs.len() > 1 { job.runs.len().to_string().into() } else { Cell::default() }
    }),
    column("took", Fit::Whole, |job, context| {
        let started = job.runs.iter().filter_map(|run| run.started_at.as_deref()).min();
        duration(None, started, job.completed_at.as_deref(), context.now)
    }),
    column("age", Fit::Whole, |job, context| age(&job.created_at, context)),
    column("id", Fit::Id, |job, _| job.job_id.as_str().into()),
    column("tags", Fit::Programs, |job, _| job.tags.join(",").into()),
    column("execution", Fit::Programs, |job, _| {
        job.test_plan_execution_id.clone().unwrap_or_default().into()
    }),
];

const EXECUTIONS: &[Column<TestPlanExecution>] = &[
    column("verdict", Fit::Whole, |execution, _| verdict(execution_verdict(execution))),
    column("plan", Fit::Cut, |execution, _| execution.test_plan_name.clone().unwrap_or_default().into()),
    column("build", Fit::Cut, |execution, _| execution.build_name.clone().unwrap_or_default().into()),
    column("passed", Fit::Whole, |execution, _| execution.test_status.passed.to_string().into()),
    column("failed", Fit::Whole, |execution, _| execution.test_status.failed.to_string().into()),
    column("skipped", Fit::Whole, |execution, _| positive(execution.test_status.skipped)),
    column("stopped", Fit::Whole, |execution, _| positive(execution.test_status.stopped)),
    column("tests", Fit::Programs, |execution, _| positive(execution.total_tests.unwrap_or_default())),
    column("took", Fit::Whole, |execution, context| {
        let (started, completed) = (execution.started_at.as_deref(), execution.completed_at.as_deref());
        duration(execution.duration_ms, started, completed, context.now)
    }),
    column("age", Fit::Whole, |execution, context| {
        age(execution.started_at.as_deref().unwrap_or_default(), context)
    }),
    column("id", Fit::Id, |execution, _| execution.id.as_str().into()),
    column("started by", Fit::Programs, |execution, _| {
        initiator_name(&view(&execution.started_by)).unwrap_or_default().into()
    }),
];

const PLANS: &[Column<TestPlanSummary>] = &[
    column("plan", Fit::Cut, |plan, _| plan.name.as_str().into()),
    column("tests", Fit::Whole, |plan, _| plan.test_count.to_string().into()),
    column("changed", Fit::Whole, |plan, context| {
        let changed = plan.audit.modified_at.as_deref().or(plan.audit.created_at.as_deref());
        age(changed.unwrap_or_default(), context)
    }),
    column("id", Fit::Id, |plan, _| plan.id.as_str().into()),
    column("changed by", Fit::Programs, |plan, _| plan.audit.modified_by.clone().unwrap_or_default().into()),
];

const TESTS: &[Column<TestSummary>] = &[
    column("test", Fit::Cut, |test, _| test.name.as_str().into()),
    column("folder", Fit::Cut, |test, _| test.folder_path.clone().unwrap_or_default().into()),
    column("type", Fit::Whole, |test, _| test.r#type.as_str().into()),
    column("id", Fit::Id, |test, _| test.id.as_str().into()),
];

const BUILDS: &[Column<Build>] = &[
    column("build", Fit::Cut, |build, _| build.name.as_str().into()),
    column("platform", Fit::Whole, |build, _| build.platform.as_str().into()),
    column("status", Fit::Whole, |build, _| build.status.as_str().into()),
    column("size", Fit::Whole, |build, _| size(build.file_size)),
    column("age", Fit::Whole, |build, context| age(&build.created_at, context)),
    column("id", Fit::Id, |build, _| build.id.as_str().into()),
    column("file", Fit::Programs, |build, _| build.file_name.as_str().into()),
    column("tags", Fit::Programs, |build, _| build.tags.join(",").into()),
    column("pinned", Fit::Programs, |build, _| if build.pinned { "yes" } else { "" }.into()),
];

const DEVICES: &[Column<DeploymentConfig>] = &[
    column("device", Fit::Cut, |device, _| device.name.as_str().into()),
    column("platform", Fit::Whole, |device, _| device.kind.clone().unwrap_or_default().into()),
    column("build source", Fit::Whole, |device, _| device.provider_type.clone().unwrap_or_default().into()),
    column("description", Fit::Cut, |device, _| device.description.clone().unwrap_or_default().into()),
    column("id", Fit::Id, |device, _| device.id.as_str().into()),
];

const BUGS: &[Column<Bug>] = &[
    column("severity", Fit::Whole, |bug, _| bug.severity.as_str().into()),
    column("bug", Fit::Cut, |bug, _| bug.title.as_str().into()),
    column("category", Fit::Cut, |bug, _| bug.category.as_str().into()),
    column("status", Fit::Whole, |bug, _| bug.status.as_str().into()),
    column("seen", Fit::Whole, |bug, _| bug.occurrence_count.to_string().into()),
    column("age", Fit::Whole, |bug, context| age(&bug.created_at, context)),
    column("id", Fit::Id, |bug, _| bug.id.as_str().into()),
    column("tags", Fit::Programs, |bug, _| bug.tags.join(",").into()),
];

/// Returns the records of the list `list` as a table; `None` if the list has no columns of its own.
pub(super) fn record_table(list: &str, records: &[Value], context: &Context) -> Option<Table> {
    Some(match list {
        ListRuns::NAME => table(RUNS, records, context),
        ListJobs::NAME => table(JOBS, records, context),
        ListTestPlanExecutions::NAME => table(EXECUTIONS, records, context),
        ListTestPlans::NAME => table(PLANS, records, context),
        ListTests::NAME => table(TESTS, records, context),
        ListBuilds::NAME => table(BUILDS, records, context),
        ListDeploymentConfigs::NAME => table(DEVICES, records, context),
        ListBugs::NAME => table(BUGS, records, context),
        _ => return None,
    })
}

fn table<R: View>(columns: &[Column<R>], records: &[Value], context: &Context) -> Table {
    let table = Table::new(columns.iter().map(|column| column.header));
    let fits = columns.iter().map(|column| column.fit).enumerate();
    let mut table = fits.fold(table, |table, (index, fit)| table.fitting([index], fit));
    for record in records {
        let record = view::<R>(record);
        table.add_row(columns.iter().map(|column| (column.cell)(&record, context)));
    }

    table
}

pub(super) fn field_table(fields: &[&str], records: &[Value]) -> Table {
    let fields: Vec<_> = fields.iter().map(|field| field.trim_start_matches("data.")).collect();
    let mut table = Table::new(fields.iter().copied());
    for record in records {
        table.add_row(fields.iter().map(|field| field_at(record, field).map(plain_text).unwrap_or_default()));
    }

    table
}

/// Returns those fields of the records that are neither objects nor lists.
pub(super) fn plain_table(records: &[Value]) -> Table {
    let is_plain = |value: &Value| !value.is_object() && !value.is_array();
    let fields = records.iter().filter_map(Value::as_object).flatten();
    let names = fields.filter(|(_, value)| is_plain(value)).map(|(name, _)| name.as_str());
    let columns: Vec<_> = names.collect::<IndexSet<_>>().into_iter().collect();

    let is_id = |name: &str| name == "id" || name.ends_with("_id");
    let ids = columns.iter().enumerate().filter(|(_, name)| is_id(name)).map(|(index, _)| index);
    field_table(&columns, records).fitting(ids, Fit::Id)
}

pub(super) fn plain_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn positive(number: usize) -> Cell {
    if number > 0 { number.to_string().into() } else { Cell::default() }
}

/// Returns a verdict, or the state of what has none yet, in its colour.
pub(super) fn verdict(verdict: &str) -> Cell {
    Cell::from(verdict.to_ascii_uppercase()).exactly(verdict).styled(verdict_style(verdict))
}

/// Returns the worst verdict of the tests of an execution that has ended, or its state.
pub(super) fn execution_verdict(execution: &TestPlanExecution) -> &str {
    let counts = &execution.test_status;
    match execution.status.as_str() {
        ended if !ended.eq_ignore_ascii_case("completed") => ended,
        _ if counts.failed > 0 => "FAILED",
        _ if counts.stopped > 0 => "STOPPED",
        _ if counts.skipped > 0 => "SKIPPED",
        _ => "SUCCESS",
    }
}

pub(super) fn verdict_style(verdict: &str) -> Style {
    let color = match verdict.to_ascii_uppercase().as_str() {
        "SUCCESS" | "PASSED" => AnsiColor::Green,
        "FAILED" => AnsiColor::Red,
        "ERROR" | "TIMEOUT" | "STOPPED" | "BLOCKED" | "SKIPPED" | "NOT STARTED" | "NOT READ" | "NO_RUN" => {
            AnsiColor::Yellow
        }
        "QUEUED" | "STARTING" | "RUNNING" | "INITIALIZING" | "IN_PROGRESS" => AnsiColor::Cyan,
        _ => return Style::new(),
    };

    Style::new().fg_color(Some(color.into()))
}

pub(super) fn size(bytes: u64) -> Cell {
    Cell::from(indicatif::HumanBytes(bytes).to_string()).exactly(&bytes.to_string())
}

/// Returns how long ago a time was. A text that is no time stays as it is.
pub(super) fn age(time: &str, context: &Context) -> Cell {
    age_of(time, context).map_or_else(|| time.into(), |seconds| Cell::from(text::age(seconds)).exactly(time))
}

/// Returns how many seconds ago a time was; `None` for a text that is no time.
pub(super) fn age_of(time: &str, context: &Context) -> Option<i64> {
    time.parse::<Timestamp>().ok().map(|time| context.now.duration_since(time).as_secs())
}

pub(super) fn devices_of<'a>(players: impl IntoIterator<Item = &'a RunPlayer>) -> String {
    devices(players).join(", ")
}

/// Returns when something was, in a sentence; empty for a text that is no time.
pub(super) fn ago(time: &str, context: &Context) -> String {
    age_of(time, context).map(text::ago).unwrap_or_default()
}

pub(super) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

pub(super) fn duration_of(run: &RunHead, now: Timestamp) -> Cell {
    duration(run.duration_ms, run.started_at.as_deref(), run.completed_at.as_deref(), now)
}

/// Returns a duration that the service states, else the time between the start and the end, or since the start.
pub(super) fn duration(
    milliseconds: Option<f64>,
    start: Option<&str>,
    end: Option<&str>,
    now: Timestamp,
) -> Cell {
    let time = |text: &str| text.parse::<Timestamp>().ok();
    let end = || end.map_or(Some(now), time);
    let between = || Some(end()?.duration_since(start.and_then(time)?).as_secs_f64());
    let length = milliseconds.map(|milliseconds| milliseconds / 1_000.0).or_else(between);

    let Some(seconds) = length.filter(|seconds| *seconds >= 0.0) else { return Cell::default() };
    Cell::from(duration_text(seconds)).exactly(&format!("{seconds:.1}"))
}
