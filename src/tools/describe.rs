//! `describe_record`: a record of any kind with the names of what it refers to. What few requests do not reach is named.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use indexmap::IndexSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use super::{
    find::{FoundRecord, Lists, NameResult, read_record},
    names::{NamedId, devices, initiator_name},
    newest::newest_first,
    reader::{Reader, arguments, is_unknown_id},
    summary::duration,
    unread::{Omission, Unread},
    waiting::{PASSED, ResultItem, canonical_result},
};
use crate::{
    failure::{Code, Failure},
    fields::{Fields, text_at},
    service::{
        api::{
            Id, Uuid,
            bugs::{BugDetail, BugOccurrence, ListRunBugs, RunBug},
            builds::{BuildDetail, GetBuild},
            jobs::{GetTestPlanExecution, Job, JobRun, ListJobs, ListTestPlanExecutions, TestPlanExecution},
            plans::{GetTestPlan, ListTestPlans, TestPlan, TestPlanItem, TestPlanSummary},
            runs::{GetRun, ListRuns, Run, RunDetail, RunHead},
            tests::{GetTest, TestCase},
        },
        catalog::ListedOperation,
        lenient::{View, drop_null_fields, view},
        record_kind::{RecordKind, ResultId, ResultKind},
    },
    text::filled,
};

/// Largest number of requests beside those that find the record and read it.
const FURTHER_REQUESTS: usize = 5;

/// Largest number of results that are shown with a test, a plan or a build.
const LATEST_RESULTS: usize = 5;

/// Finds the record that has this id or name. Returns also what else is known of the name.
///
/// # Errors
/// `not_found` and `invalid_arguments` with the records to choose from, and the failures of the look-ups.
pub(super) async fn find_record(
    reader: &Reader,
    name: &str,
    kind: Option<RecordKind>,
) -> Result<(FoundRecord, NameResult), Failure> {
    let mut kinds = kind.map_or(RecordKind::described(), |kind| vec![kind]);
    if let Some(found) = find_by_id(reader, &kinds, name).await? {
        return Ok((found, NameResult::new(name, Vec::new())));
    }

    kinds.retain(|kind| RecordKind::DESCRIBED_BY_NAME.contains(kind));
    Lists::read(reader, &kinds).await?.find(name).take_single("record")
}

/// Returns the record of one of these kinds that has this id. A name may have the form of an id: then there is none.
pub(crate) async fn find_by_id(
    reader: &Reader,
    kinds: &[RecordKind],
    id: &str,
) -> Result<Option<FoundRecord>, Failure> {
    for kind in kinds.iter().filter(|kind| kind.may_have_id(id)) {
        let found = FoundRecord::with_id(*kind, id);

        match read_record(reader, &found).await {
            // A result has no name.
            Err(failure) if is_unknown_id(&failure) && !matches!(kinds, [RecordKind::Result(_)]) => {}
            // It may be the id of a device, which is found in the list.
            Err(failure) if *kind == RecordKind::Build && failure.code == Code::PermissionDenied => {}
            read => return Ok(Some(FoundRecord { whole: Some(read?), ..found })),
        }
    }

    Ok(None)
}

/// A record with the names of what it refers to. Fields without a value are absent.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
#[expect(missing_docs, reason = "the names of most fields are self-explanatory")]
pub struct RecordDescription {
    #[schemars(extend("enum" = RecordKind::described()))]
    pub kind: RecordKind,
    pub id: String,
    pub name: String,
    /// Verdict of a finished run or job, else state; status of an execution, a build or a bug.
    pub state: Option<String>,
    pub project_id: Option<String>,
    pub folder_path: Option<String>,
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
    /// Tests of an execution by outcome.
    pub test_status: Option<Fields>,
    /// Origin of a build; facts about a bug.
    pub details: Option<Fields>,
    pub slots: Option<BTreeMap<usize, String>>,
    pub players: Option<BTreeMap<usize, String>>,
    pub description: Option<String>,
    pub reproduction_steps: Option<String>,
    /// Steps of a run that did not pass.
    pub failed_steps: Option<Vec<Fields>>,
    pub bugs: Option<Vec<Fields>>,
    /// Tests of a plan, in order.
    pub tests: Option<Vec<Fields>>,
    pub plans: Option<Vec<NamedId>>,
    /// Where a bug was seen, newest first. The newest have the `run_state` and `build` of their run.
    pub occurrences: Option<Vec<Fields>>,
    /// Runs of a job, a test or a build, jobs of an execution, or executions of a plan; the newest first, but jobs in the
    /// order of the plan.
    pub results: Option<Vec<Fields>>,
    /// Other records with the name.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub same_name: Vec<FoundRecord>,
    /// What was not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
    /// The record as the service returned it. Models do not get it.
    #[schemars(skip)]
    pub record: Option<Value>,
}

impl RecordDescription {
    /// Reads a record and what it refers to. `others` is what else is known of its name.
    ///
    /// # Errors
    /// The failure of the record itself. What else cannot be read is named.
    pub(crate) async fn read(
        reader: &Reader,
        found: FoundRecord,
        others: NameResult,
    ) -> Result<Self, Failure> {
        let record = read_record(reader, &found).await?;
        let mut reading = Reading { reader, requests_left: FURTHER_REQUESTS, unread: Unread::default() };
        if let Some(reason) = others.unread.reason() {
            reading.unread.cut("other records with this name", &reason);
        }
        let mut own = match found.kind {
            RecordKind::Result(ResultKind::Run) => reading.run(view(&record)).await,
            RecordKind::Result(ResultKind::Job) => reading.job(view(&record)).await,
            RecordKind::Result(ResultKind::Execution) => reading.execution(view(&record)).await,
            RecordKind::Test => reading.test(view(&record), found.more.get("folder_path")).await,
            RecordKind::TestPlan => reading.plan(view(&record)).await,
            RecordKind::Build => reading.build(view(&record)).await,
            RecordKind::Bug => reading.bug(view(&record)).await,
            _ => json!({"platform": record.get("kind")}),
        };

        // The fields of the record, and in their place those that are read.
        let mut fields = record.as_object().cloned().unwrap_or_default();
        fields.insert("kind".to_owned(), json!(found.kind));
        if let Value::Object(own) = &mut own {
            own.values_mut().for_each(drop_null_fields);
            fields.append(own);
        }
        Ok(Self {
            same_name: others.records,
            unread: reading.unread.into(),
            record: Some(record),
            ..view(&fields)
        })
    }
}

/// Reads what a record refers to, and returns the fields of its description that differ from those of the record.
struct Reading<'a> {
    reader: &'a Reader,
    requests_left: usize,
    unread: Unread,
}

impl Reading<'_> {
    async fn run(&mut self, run: RunDetail) -> Value {
        let head = &run.head;
        let of_run = head.multiplayer_run_id.clone();
        let pages = self.each("bugs", [of_run], |id| ListRunBugs { run_id: Id(id) }).await;
        let page = pages.into_values().next().unwrap_or_default().page;
        // The list has one page (service.md 1.3).
        let total = usize::try_from(page.pagination.total_count.unwrap_or_default()).unwrap_or_default();
        if total > page.data.len() {
            let further = format!("{} of {total} bugs", total - page.data.len());
            self.unread.cut(&further, "the service returns one page of them");
        }

        let bug = |bug: RunBug| json!({"id": bug.bug_id, "title": bug.title, "severity": bug.severity});
        let mut failed_steps = steps_of_run(&run);
        failed_steps.retain(|step| text_at(step, "state").is_some_and(|state| state != PASSED));
        json!({
            "id": head.multiplayer_run_id, "name": head.test.name, "state": state(ResultItem::from_run(head)),
            "devices": devices(run.players.iter().map(|player| &player.player)),
            "by": head.initiator.as_ref().and_then(initiator_name), "players": null,
            "failed_steps": failed_steps, "bugs": page.data.into_iter().map(bug).collect::<Vec<_>>(),
        })
    }

    async fn job(&mut self, job: Job) -> Value {
        let builds = self.each("build", job.build_id.clone(), |id| GetBuild { build_id: Uuid(id) }).await;
        let build = builds.into_values().next().and_then(|build| filled(&build.build.name));
        let execution = |id| GetTestPlanExecution { test_plan_execution_id: Id(id) };
        let executions = self.each("execution", job.test_plan_execution_id.clone(), execution).await;
        let execution = executions.into_values().next().unwrap_or_default();

        let attempt = |run: &JobRun| {
            json!({
                "id": run.multiplayer_run_id, "state": run.result.as_ref().or(run.state.as_ref()), "created_at": run.started_at,
                "duration_ms": duration(run.started_at.as_deref(), run.completed_at.as_deref()),
            })
        };
        json!({
            "id": job.job_id, "name": job.test_name, "state": state(ResultItem::from_job(&job)), "job_id": null,
            "test": named(job.multiplayer_test_id, job.test_name), "build": named(job.build_id, build),
            "test_plan": named(execution.test_plan_id, execution.test_plan_name), "description": job.queue_rejection_reason,
            "results": job.runs.iter().rev().map(attempt).collect::<Vec<_>>(),
        })
    }

    async fn execution(&mut self, execution: TestPlanExecution) -> Value {
        let filter = ResultId::new(ResultKind::Execution, execution.id).to_arguments();
        let mut jobs = self.newest::<ListJobs, Job>("jobs", filter, self.requests_left).await;
        // The jobs of a plan are created in the order of its tests.
        jobs.reverse();

        let entry = |job: &Job| {
            let decisive = ResultItem::from_job(job);
            let start = job.runs.iter().filter_map(|run| run.started_at.as_deref()).min();
            json!({
                "id": job.job_id, "run_id": decisive.run_id, "state": state(decisive), "test_name": job.test_name,
                "created_at": job.created_at, "duration_ms": duration(start, job.completed_at.as_deref()),
            })
        };
        json!({
            "name": execution.test_plan_name, "state": execution.status,
            "project_id": jobs.first().map(|job| &job.project_id), "build": named(execution.build_id, execution.build_name),
            "test_plan": named(execution.test_plan_id, execution.test_plan_name), "created_at": execution.started_at,
            "by": initiator_name(&view(&execution.started_by)), "results": jobs.iter().map(entry).collect::<Vec<_>>(),
        })
    }

    async fn test(&mut self, test: TestCase, folder_path: Option<&Value>) -> Value {
        if folder_path.is_none() {
            self.unread.cut("folder", "only the list has it, in which names are searched");
        }
        let of_test = arguments(&[("multiplayer_test_id", &*test.id)]);
        let runs = self.newest::<ListRuns, Run>("runs", of_test, 2).await;

        let last_changed = arguments(&[("sort_by", "modified_at"), ("sort_order", "desc")]);
        let plans = self.newest::<ListTestPlans, TestPlanSummary>("plans", last_changed, 1).await;
        let ids = plans.into_iter().map(|plan| plan.id);
        let plans = self.each("plans", ids, |id| GetTestPlan { test_plan_id: Uuid(id) }).await;
        let has_test =
            |plan: &&TestPlan| plan.test_items.iter().any(|item| item.multiplayer_test_id == test.id);
        let plans = plans.values().filter(has_test).map(|plan| json!({"id": plan.id, "name": plan.name}));

        json!({
            "folder_path": folder_path, "plans": plans.collect::<Vec<_>>(), "players": Some(test.player_names()).filter(|names| !names.is_empty()), "results": latest(&runs),
        })
    }

    async fn plan(&mut self, plan: TestPlan) -> Value {
        let of_plan = arguments(&[("test_plan_id", &*plan.id)]);
        let mut executions =
            self.newest::<ListTestPlanExecutions, TestPlanExecution>("executions", of_plan, 1).await;
        executions.truncate(LATEST_RESULTS);

        // The jobs of the last execution have the names of most tests.
        let mut names = BTreeMap::new();
        if let Some(last) = executions.first() {
            let of_last = ResultId::new(ResultKind::Execution, &*last.id).to_arguments();
            let jobs = self.newest::<ListJobs, Job>("jobs", of_last, 1).await.into_iter();
            names.extend(jobs.filter_map(|job| Some((job.multiplayer_test_id?, job.test_name?))));
        }
        let tests = plan.test_items.iter().map(|item| item.multiplayer_test_id.clone());
        let others: Vec<_> = tests.filter(|id| !names.contains_key(id)).collect();
        let others = self.each("tests", others, GetTest::newest).await;
        names.extend(others.into_iter().map(|(id, test)| (id, test.name)));

        let test = |item: &TestPlanItem| {
            let id = &item.multiplayer_test_id;
            json!({"id": id, "name": names.get(id), "retries": item.retries})
        };
        let execution = |one: TestPlanExecution| {
            json!({
                "id": one.id, "state": one.status, "created_at": one.started_at, "duration_ms": one.duration_ms,
                "build": named(one.build_id, one.build_name),
                "passed": one.test_status.passed, "failed": one.test_status.failed,
            })
        };
        json!({
            "by": plan.audit.created_by, "slots": plan.slot_names(), "tests": plan.test_items.iter().map(test).collect::<Vec<_>>(),
            "results": executions.into_iter().map(execution).collect::<Vec<_>>(),
        })
    }

    async fn build(&mut self, detail: BuildDetail) -> Value {
        // Runs cannot be selected by their build (service.md 2.2).
        let mut runs = self.newest::<ListRuns, Run>("runs", Fields::new(), self.requests_left).await;
        let id = &detail.build.id;
        runs.retain(|run| run.head.build.as_ref().is_some_and(|build| build.id.eq_ignore_ascii_case(id)));

        json!({"state": detail.build.status, "version": detail.app_version(), "results": latest(&runs)})
    }

    async fn bug(&mut self, bug: BugDetail) -> Value {
        let BugDetail { bug, mut occurrences } = bug;
        occurrences.sort_by(|one, other| other.detected_at.cmp(&one.detected_at));
        let seen = occurrences.iter().map(|one| one.multiplayer_run_id.clone());
        let runs = self.each("runs", seen, |id| GetRun { run_id: Id(id) }).await;

        let place =
            |one: &BugOccurrence| occurrence(one, runs.get(&one.multiplayer_run_id).map(|run| &run.head));
        json!({
            "name": bug.title, "state": bug.status, "by": bug.created_by,
            "occurrences": occurrences.iter().map(place).collect::<Vec<_>>(),
        })
    }

    /// Reads the records with these ids, as far as requests are left.
    async fn each<O: ListedOperation>(
        &mut self,
        what: &str,
        ids: impl IntoIterator<Item = String>,
        operation: impl Fn(String) -> O,
    ) -> BTreeMap<String, O::Answer> {
        let mut ids: IndexSet<_> = ids.into_iter().collect();
        if ids.len() > self.requests_left {
            let further = format!("{} of {} {what}", ids.len() - self.requests_left, ids.len());
            let why = format!("a description makes at most {FURTHER_REQUESTS} further requests");
            self.unread.cut(&further, &why);
            ids.truncate(self.requests_left);
        }
        self.requests_left -= ids.len();

        let reader = self.reader;
        let reads = ids.into_iter().map(|id| {
            let operation = operation(id.clone());
            async move { (id, reader.read(&operation).await) }
        });
        let read = join_all(reads).await.into_iter().filter_map(|(id, answer)| {
            let unread = |failure| self.unread.add(what, &id, &failure);
            Some((id.clone(), answer.map_err(unread).ok()?))
        });
        read.collect()
    }

    /// Reads the first pages of a list, and returns the newest record first.
    async fn newest<L: ListedOperation, R: View>(
        &mut self,
        what: &str,
        filter: Fields,
        pages: usize,
    ) -> Vec<R> {
        self.requests_left = self.requests_left.saturating_sub(pages);
        let pages = pages as u64;
        let list = self.reader.list(L::entry(), &filter, pages).await;
        let records = self.unread.list(what, list, pages).unwrap_or_default();
        newest_first(L::entry(), records).iter().map(view).collect()
    }
}

/// Returns where a bug was seen, with what is known of the run. Players count from 0 in the occurrence, and from 1 in their ids
/// (service.md 1.8).
pub(super) fn occurrence(one: &BugOccurrence, run: Option<&RunHead>) -> Value {
    let id = &one.multiplayer_run_id;
    let mut place = json!({
        "run_id": id, "player_id": format!("{id}-{}", one.player_index + 1),
        "run_state": run.map(|run| state(ResultItem::from_run(run))), "build": run.map(|run| &run.build),
        "test_name": one.test_name, "step": one.test_step, "detected_at": one.detected_at,
    });
    drop_null_fields(&mut place);

    place
}

fn named(id: Option<String>, name: Option<String>) -> Option<NamedId> {
    Some(NamedId { id: id?, name })
}

/// Returns the verdict of what is finished, else its state.
fn state(item: ResultItem) -> Option<String> {
    item.verdict().or(item.status)
}

fn latest(runs: &[Run]) -> Vec<Value> {
    let entry = |Run { head, players, .. }: &Run| {
        json!({
            "id": head.multiplayer_run_id, "state": state(ResultItem::from_run(head)), "test_name": head.test.name,
            "created_at": head.created_at, "duration_ms": head.duration_ms, "build": head.build, "devices": devices(players),
        })
    };
    runs.iter().take(LATEST_RESULTS).map(entry).collect()
}

/// Returns the steps of all players of a run. Those that have passed need no report.
pub fn steps_of_run(run: &RunDetail) -> Vec<Value> {
    let mut steps = Vec::new();
    for (place, player) in (1..).zip(&run.players) {
        let number = player.player.player_number.unwrap_or(place);
        for (place, step) in (1..).zip(&player.steps) {
            let state = step.run_result.as_deref().map(canonical_result);
            let report = step.report.as_ref().filter(|_| state.as_deref() != Some(PASSED));
            steps.push(json!({
                "player": (run.players.len() > 1).then_some(number), "step": step.step_number.unwrap_or(place),
                "state": state, "duration_ms": step.duration_ms, "goal": step.test.goal, "report": report,
            }));
        }
    }
    steps
}
