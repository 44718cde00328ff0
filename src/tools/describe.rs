//! `describe_record`: a record of any kind with the names of what it refers to. What few requests do not reach is named.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use super::{
    find::{FoundRecord, FoundResult, NameResult, find_name, is_unknown_id},
    names::{devices, initiator_name},
    newest::newest_first,
    reader::{Reader, Unread, arguments},
    waiting::ResultItem,
};
use crate::{
    call::paging::Omission,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            Id, ListPage, Uuid,
            bugs::{BugDetail, BugOccurrence, GetBug, ListRunBugs, RunBug},
            builds::{BuildDetail, GetBuild},
            configs::DeploymentConfig,
            executions::{GetTestPlanExecution, ListTestPlanExecutions, TestPlanExecution},
            jobs::{Job, JobRun, ListJobs},
            plans::{GetTestPlan, ListTestPlans, TestPlan},
            runs::{GetRun, ListRuns, Run, RunDetail, RunHead, RunPlayerDetail},
            tests::{GetTest, TestCase, TestSummary},
        },
        arguments::is_uuid,
        catalog::ListedOperation,
        lenient::{View, view},
        record_kind::{RecordKind, ResultId, ResultKind},
    },
};

/// Largest number of requests beside those that find the record and read it.
const FURTHER_REQUESTS: usize = 5;

/// Largest number of results that are shown with a test, a plan or a build.
const LATEST_RESULTS: usize = 5;

/// What an id or a name means.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A run, a job or an execution.
    Result(FoundResult),
    /// A bug that was found by its id.
    Bug(Value),
    /// Another record, and the result of the search for its name without it.
    Named(FoundRecord, Box<NameResult>),
}

impl Subject {
    /// Finds the record that has this id or name.
    ///
    /// # Errors
    /// `not_found` and `invalid_arguments` with the records to choose from, and the failures of the look-ups.
    pub(super) async fn find(
        reader: &Reader,
        record: &str,
        kind: Option<RecordKind>,
    ) -> Result<Self, Failure> {
        match kind {
            Some(RecordKind::Result(of_result)) => {
                let id = ResultId::new(of_result, record).without_player();
                return FoundResult::read(reader, id).await.map(Self::Result);
            }
            Some(kind @ (RecordKind::Test | RecordKind::TestPlan | RecordKind::Build)) if is_uuid(record) => {
                let others = Box::new(NameResult::new(record, Vec::new()));
                return Ok(Self::Named(FoundRecord::with_id(kind, record), others));
            }
            None | Some(RecordKind::Bug) => {
                if let Some(bug) = Self::bug(reader, record).await? {
                    return Ok(bug);
                }
            }
            Some(_) => {}
        }

        // The id of a run, a job or an execution is one word with digits (service.md 1.7).
        let is_word = !record.contains(char::is_whitespace);
        if kind.is_none() && is_word && record.contains(|character: char| character.is_ascii_digit()) {
            match FoundResult::find(reader, record).await {
                Err(failure) if is_unknown_id(&failure) => {}
                found => return found.map(Self::Result),
            }
        }

        let kinds = kind.map_or(RecordKind::DESCRIBED_BY_NAME.to_vec(), |kind| vec![kind]);
        let found = find_name(reader, &kinds, record).await?.take_single();
        let (record, others) = found.map_err(|found| not_single(&found))?;
        Ok(Self::Named(record, Box::new(others)))
    }

    /// Returns the bug with this id. A name may begin like the id of a bug: then there is none.
    pub(crate) async fn bug(reader: &Reader, id: &str) -> Result<Option<Self>, Failure> {
        if !id.starts_with("bug_") || id.contains(char::is_whitespace) {
            return Ok(None);
        }
        match reader.read_value(&GetBug { bug_id: Id(id.to_owned()) }).await {
            Err(failure) if is_unknown_id(&failure) => Ok(None),
            read => read.map(|bug| Some(Self::Bug(bug))),
        }
    }
}

fn not_single(found: &NameResult) -> Failure {
    let is_found = found.records.iter().any(FoundRecord::has_name);
    let code = if is_found { Code::InvalidArguments } else { Code::NotFound };
    let hint = if found.records.is_empty() {
        "check the id and the project[[; `tool:find_by_name` searches all names]]"
    } else {
        "pass the `id` of a record in `details.records`"
    };

    Failure::new(code, found.problem("record")).hint(hint).detail("records", json!(found.records))
}

/// A record with what it refers to, as the service sent it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Record {
    Run { run: Value, bugs: Vec<Value> },
    Job { job: Value, build_name: Option<String>, execution: Option<Value> },
    TestPlanExecution { test_plan_execution: Value, jobs: Vec<Value> },
    Test { test: Value, folder_path: Option<String>, plans: Vec<NamedId>, latest_runs: Vec<Value> },
    TestPlan { test_plan: Value, test_names: BTreeMap<String, String>, latest_executions: Vec<Value> },
    Build { build: Value, latest_runs: Vec<Value> },
    Device { device: Value },
    Bug { bug: Value, runs: BTreeMap<String, Value> },
}

/// A record for programs, and the description of it for models.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct DescribedRecord {
    #[serde(flatten)]
    pub record: Record,
    /// Other records with the name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_name: Vec<FoundRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
    #[serde(skip)]
    pub description: RecordDescription,
}

/// A record with the names of what it refers to. Fields without a value are absent.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
#[expect(missing_docs, reason = "the names of most fields are self-explanatory")]
pub struct RecordDescription {
    #[schemars(extend("enum" = RecordKind::DESCRIBED))]
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
    pub description: Option<String>,
    pub reproduction_steps: Option<String>,
    pub slots: Option<BTreeMap<usize, String>>,
    pub players: Option<BTreeMap<usize, String>>,
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
}

/// An id with the name of its record.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct NamedId {
    pub id: String,
    pub name: Option<String>,
}

impl DescribedRecord {
    /// Reads a record and what it refers to. Fails only if the record itself cannot be read.
    pub(crate) async fn read(reader: &Reader, subject: Subject) -> Result<Self, Failure> {
        let mut reading = Reading { reader, requests_left: FURTHER_REQUESTS, unread: Unread::default() };
        let mut same_name = Vec::new();
        let (record, fields) = match subject {
            Subject::Result(FoundResult { id, record }) => match id.kind {
                ResultKind::Run => reading.run(record).await,
                ResultKind::Job => reading.job(record).await,
                ResultKind::Execution => reading.execution(&id, record).await,
            },
            Subject::Bug(bug) => reading.bug(bug).await,
            Subject::Named(found, others) => {
                if let Some(reason) = &others.reason {
                    reading.unread.omit("other records with this name".to_owned(), reason);
                }
                same_name = others.records;
                match found.kind {
                    RecordKind::Test => reading.test(found).await?,
                    RecordKind::TestPlan => reading.plan(found.id).await?,
                    RecordKind::Build => reading.build(found.id).await?,
                    RecordKind::Bug => {
                        let bug = reader.read_value(&GetBug { bug_id: Id(found.id) }).await?;
                        reading.bug(bug).await
                    }
                    _ => device(&found.listed),
                }
            }
        };

        let unread = reading.unread.omissions;
        let description: RecordDescription = view(&fields);
        let (same, missing) = (same_name.clone(), unread.clone());
        let description = RecordDescription { same_name: same, unread: missing, ..description };
        Ok(Self { record, same_name, unread, description })
    }
}

/// Returns the fields of a description: those of the record itself, and in their place `own`.
fn described(record: &Value, own: &Value) -> Fields {
    let mut fields: Fields = record.as_object().cloned().unwrap_or_default();
    fields.extend(own.as_object().cloned().unwrap_or_default());
    fields
}

fn device(device: &Value) -> (Record, Fields) {
    let platform = view::<DeploymentConfig>(device).kind;
    let fields = described(device, &json!({"kind": RecordKind::DeploymentConfig, "platform": platform}));
    (Record::Device { device: device.clone() }, fields)
}

/// Reads what a record refers to.
struct Reading<'a> {
    reader: &'a Reader,
    requests_left: usize,
    unread: Unread,
}

impl Reading<'_> {
    async fn run(&mut self, run: Value) -> (Record, Fields) {
        let RunDetail { head, players, .. } = view(&run);
        let of_run = ListRunBugs { run_id: Id(head.multiplayer_run_id.clone()) };
        let bugs = self.one("bugs", &of_run).await;
        let ListPage { data: bugs, pagination } =
            bugs.as_ref().map(view::<ListPage<Value>>).unwrap_or_default();
        // The list has one page (service.md 1.3).
        let total = usize::try_from(pagination.total_count.unwrap_or_default()).unwrap_or_default();
        if total > bugs.len() {
            let further = format!("{} of {total} bugs", total - bugs.len());
            self.unread.omit(further, "the service returns one page of them");
        }

        let bug = |bug: &RunBug| json!({"id": bug.bug_id, "title": bug.title, "severity": bug.severity});
        let own = json!({
            "kind": RecordKind::Result(ResultKind::Run), "id": head.multiplayer_run_id, "name": head.test.name, "state": state_of_run(&head),
            "devices": devices(players.iter().map(|player| &player.player)),
            "by": head.initiator.as_ref().and_then(initiator_name),
            "players": null, "failed_steps": failed_steps(&players), "bugs": entries(&bugs, bug),
        });
        let fields = described(&run, &own);
        (Record::Run { run, bugs }, fields)
    }

    async fn job(&mut self, answer: Value) -> (Record, Fields) {
        let job: Job = view(&answer);
        let (mut build_name, mut execution) = (None, None);
        if let Some(id) = job.build_id.clone() {
            let build = self.one("build", &GetBuild { build_id: Uuid(id) }).await;
            build_name =
                build.map(|build| view::<BuildDetail>(&build).build.name).filter(|name| !name.is_empty());
        }
        if let Some(id) = job.test_plan_execution_id.clone() {
            execution = self.one("execution", &GetTestPlanExecution { test_plan_execution_id: Id(id) }).await;
        }

        let plan: TestPlanExecution = execution.as_ref().map(view).unwrap_or_default();
        let attempt = |run: &JobRun| {
            let state = run.result.as_ref().or(run.state.as_ref());
            entry(json!({"id": run.multiplayer_run_id, "state": state, "created_at": run.started_at}))
        };
        let own = json!({
            "kind": RecordKind::Result(ResultKind::Job), "id": job.job_id, "name": job.test_name, "state": state_of_job(&job), "job_id": null,
            "test": named(job.multiplayer_test_id, job.test_name), "build": named(job.build_id, build_name.clone()),
            "test_plan": named(plan.test_plan_id, plan.test_plan_name), "description": job.queue_rejection_reason,
            "results": job.runs.iter().rev().map(attempt).collect::<Vec<_>>(),
        });
        let fields = described(&answer, &own);
        (Record::Job { job: answer, build_name, execution }, fields)
    }

    async fn execution(&mut self, id: &ResultId, answer: Value) -> (Record, Fields) {
        let mut jobs = self.newest::<ListJobs>("jobs", id.to_arguments(), self.requests_left).await;
        // The jobs of a plan are created in the order of its tests.
        jobs.reverse();

        let job = |job: &Job| {
            json!({
                "id": job.job_id, "test_name": job.test_name, "state": state_of_job(job), "created_at": job.created_at,
                // The run that decides.
                "run_id": ResultItem::from_job(job).run_id,
            })
        };
        let execution: TestPlanExecution = view(&answer);
        let name = execution.test_plan_name;
        let own = json!({
            "kind": RecordKind::Result(ResultKind::Execution), "name": name, "state": execution.status,
            "project_id": jobs.first().map(|job| view::<Job>(job).project_id),
            "build": named(execution.build_id, execution.build_name), "test_plan": named(execution.test_plan_id, name),
            "created_at": execution.started_at, "by": initiator_name(&view(&execution.started_by)),
            "results": entries(&jobs, job),
        });
        let fields = described(&answer, &own);
        (Record::TestPlanExecution { test_plan_execution: answer, jobs }, fields)
    }

    async fn test(&mut self, found: FoundRecord) -> Result<(Record, Fields), Failure> {
        let FoundRecord { id, listed, .. } = found;
        let operation =
            GetTest { test_id: Id(id.clone()), version: None, include_shared_collection_steps: None };
        let test = self.reader.read_value(&operation).await?;
        if listed.is_null() {
            self.unread.omit("folder".to_owned(), "only the list has it, in which names are searched");
        }
        let of_test = arguments(&[("multiplayer_test_id", &*id)]);
        let mut latest_runs = self.newest::<ListRuns>("runs", of_test, 2).await;
        latest_runs.truncate(LATEST_RESULTS);

        let (plans, folder_path) = (self.plans_with(&id).await, view::<TestSummary>(&listed).folder_path);
        let own = json!({
            "kind": RecordKind::Test, "folder_path": folder_path, "plans": plans,
            "players": view::<TestCase>(&test).player_names(), "results": entries(&latest_runs, run_entry),
        });
        let fields = described(&test, &own);
        Ok((Record::Test { test, folder_path, plans, latest_runs }, fields))
    }

    async fn plans_with(&mut self, test: &str) -> Vec<NamedId> {
        let last_changed = arguments(&[("sort_by", "modified_at"), ("sort_order", "desc")]);
        let plans = self.newest::<ListTestPlans>("plans", last_changed, 1).await;
        let ids = plans.iter().map(|plan| view::<TestPlan>(plan).id).collect();
        let plans = self.each("plans", ids, |id| GetTestPlan { test_plan_id: Uuid(id) }).await;

        let plans = plans.values().map(view::<TestPlan>);
        let containing =
            plans.filter(|plan| plan.test_items.iter().any(|item| item.multiplayer_test_id == test));
        containing.map(|plan| NamedId { id: plan.id, name: Some(plan.name) }).collect()
    }

    async fn plan(&mut self, id: String) -> Result<(Record, Fields), Failure> {
        let of_plan = arguments(&[("test_plan_id", &*id)]);
        let test_plan = self.reader.read_value(&GetTestPlan { test_plan_id: Uuid(id) }).await?;
        let mut latest_executions = self.newest::<ListTestPlanExecutions>("executions", of_plan, 1).await;
        latest_executions.truncate(LATEST_RESULTS);

        let plan: TestPlan = view(&test_plan);
        let tests = plan.test_items.iter().map(|item| item.multiplayer_test_id.clone()).collect();
        let test_names = self.names_of(tests, latest_executions.first()).await;
        let tests = plan.test_items.iter().map(|item| {
            let id = &item.multiplayer_test_id;
            entry(json!({"id": id, "name": test_names.get(id), "retries": item.retries}))
        });
        let execution = |one: &TestPlanExecution| {
            json!({
                "id": one.id, "state": one.status, "created_at": one.started_at, "duration_ms": one.duration_ms,
                "build": named(one.build_id.clone(), one.build_name.clone()),
                "passed": one.test_status.passed, "failed": one.test_status.failed,
            })
        };
        let own = json!({
            "kind": RecordKind::TestPlan, "by": plan.audit.created_by, "slots": plan.slot_names(),
            "tests": tests.collect::<Vec<_>>(), "results": entries(&latest_executions, execution),
        });
        let fields = described(&test_plan, &own);
        Ok((Record::TestPlan { test_plan, test_names, latest_executions }, fields))
    }

    /// Returns the names of tests by their ids. The jobs of the last execution have most of them.
    async fn names_of(&mut self, tests: Vec<String>, last: Option<&Value>) -> BTreeMap<String, String> {
        let mut names = BTreeMap::new();
        if let Some(last) = last.map(view::<TestPlanExecution>) {
            let of_last = ResultId::new(ResultKind::Execution, last.id).to_arguments();
            let jobs = self.newest::<ListJobs>("jobs", of_last, 1).await;
            let jobs = jobs.iter().map(view::<Job>);
            names.extend(jobs.filter_map(|job| Some((job.multiplayer_test_id?, job.test_name?))));
        }

        let others = tests.into_iter().filter(|id| !names.contains_key(id)).collect();
        let include_shared_collection_steps = Some(false);
        let test = |id| GetTest { test_id: Id(id), version: None, include_shared_collection_steps };
        let others = self.each("tests", others, test).await;
        names.extend(others.into_iter().map(|(id, test)| (id, view::<TestCase>(&test).name)));
        names
    }

    async fn build(&mut self, id: String) -> Result<(Record, Fields), Failure> {
        let build = self.reader.read_value(&GetBuild { build_id: Uuid(id.clone()) }).await?;
        // Runs cannot be selected by their build (service.md 2.2).
        let mut latest_runs = self.newest::<ListRuns>("runs", Fields::new(), self.requests_left).await;
        let build_of = |run: &Value| view::<RunHead>(run).build;
        latest_runs.retain(|run| build_of(run).is_some_and(|build| build.id.eq_ignore_ascii_case(&id)));
        latest_runs.truncate(LATEST_RESULTS);

        let detail: BuildDetail = view(&build);
        let own = json!({
            "kind": RecordKind::Build, "state": detail.build.status, "version": detail.app_version(),
            "results": entries(&latest_runs, run_entry),
        });
        let fields = described(&build, &own);
        Ok((Record::Build { build, latest_runs }, fields))
    }

    async fn bug(&mut self, bug: Value) -> (Record, Fields) {
        let BugDetail { bug: head, mut occurrences } = view(&bug);
        occurrences.sort_by(|one, other| other.detected_at.cmp(&one.detected_at));
        let seen = occurrences.iter().map(|one| one.multiplayer_run_id.clone()).collect();
        let runs = self.each("runs", seen, |id| GetRun { run_id: Id(id) }).await;

        // Players count from 0 in the occurrence, and from 1 in their ids (service.md 1.8).
        let place = |one: &BugOccurrence| {
            let run: Option<RunHead> = runs.get(&one.multiplayer_run_id).map(view);
            entry(json!({
                "run_id": one.multiplayer_run_id, "player_id": format!("{}-{}", one.multiplayer_run_id, one.player_index + 1),
                "test_name": one.test_name, "step": one.test_step, "detected_at": one.detected_at,
                "run_state": run.as_ref().map(state_of_run), "build": run.and_then(|run| run.build),
            }))
        };
        let own = json!({
            "kind": RecordKind::Bug, "name": head.title, "state": head.status, "by": head.created_by,
            "occurrences": occurrences.iter().map(place).collect::<Vec<_>>(),
        });
        let fields = described(&bug, &own);
        (Record::Bug { bug, runs }, fields)
    }

    async fn one<O: ListedOperation>(&mut self, what: &str, operation: &O) -> Option<Value> {
        self.requests_left = self.requests_left.saturating_sub(1);
        self.reader.read_value(operation).await.map_err(|failure| self.unread.add(what, &failure)).ok()
    }

    /// Reads the records with these ids, as far as requests are left.
    async fn each<O: ListedOperation>(
        &mut self,
        what: &str,
        mut ids: Vec<String>,
        operation: impl Fn(String) -> O,
    ) -> BTreeMap<String, Value> {
        let mut seen = BTreeSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        if ids.len() > self.requests_left {
            let what = format!("{} of {} {what}", ids.len() - self.requests_left, ids.len());
            self.unread
                .omit(what, &format!("a description makes at most {FURTHER_REQUESTS} further requests"));
            ids.truncate(self.requests_left);
        }
        self.requests_left -= ids.len();

        let operations: Vec<_> = ids.iter().cloned().map(operation).collect();
        let answers = join_all(operations.iter().map(|operation| self.reader.read_value(operation))).await;
        let mut read = BTreeMap::new();
        for (id, answer) in ids.into_iter().zip(answers) {
            match answer {
                Ok(answer) => drop(read.insert(id, answer)),
                Err(failure) => self.unread.add(&format!("{what}: {id}"), &failure),
            }
        }
        read
    }

    /// Reads the first pages of a list, and returns the newest record first.
    async fn newest<L: ListedOperation>(&mut self, what: &str, filter: Fields, pages: usize) -> Vec<Value> {
        self.requests_left = self.requests_left.saturating_sub(pages);
        let pages = pages as u64;
        let list = self.reader.list(L::entry(), &filter, pages).await;
        newest_first(L::entry(), self.unread.list(what, list, pages).unwrap_or_default())
    }
}

/// Returns an entry of a list without the fields that have no value.
fn entry(mut fields: Value) -> Value {
    if let Some(fields) = fields.as_object_mut() {
        fields.retain(|_, value| !value.is_null() && *value != json!([]) && *value != "");
    }
    fields
}

fn entries<T: View>(records: &[Value], make: impl Fn(&T) -> Value) -> Vec<Value> {
    records.iter().map(|record| entry(make(&view(record)))).collect()
}

fn named(id: Option<String>, name: Option<String>) -> Option<NamedId> {
    Some(NamedId { id: id?, name })
}

fn state_of_run(run: &RunHead) -> String {
    run.result.clone().unwrap_or_else(|| run.state.clone())
}

fn state_of_job(job: &Job) -> String {
    ResultItem::from_job(job).verdict().unwrap_or_else(|| job.status.clone())
}

fn run_entry(Run { head, players }: &Run) -> Value {
    json!({
        "id": head.multiplayer_run_id, "test_name": head.test.name, "state": state_of_run(head),
        "created_at": head.created_at, "duration_ms": head.duration_ms, "build": head.build,
        "devices": devices(players),
    })
}

fn failed_steps(players: &[RunPlayerDetail]) -> Vec<Value> {
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
