//! `describe_record`: a record with the names of what it refers to. What few requests do not reach is named.

mod answer;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use serde::Serialize;
use serde_json::{Value, json};

pub use self::answer::{NamedId, RecordDescription};
use self::answer::{
    entries, entry, execution_entry, failed_steps, job_entry, named, occurrence_entry, run_entry,
    state_of_job, state_of_run,
};
use crate::{
    call::paging::Omission,
    failure::Failure,
    fields::Fields,
    service::{
        api::{
            Id, ListPage, Uuid,
            bugs::{BugDetail, GetBug, ListRunBugs, RunBug},
            builds::{BuildDetail, GetBuild},
            configs::DeploymentConfig,
            executions::{GetTestPlanExecution, ListTestPlanExecutions, TestPlanExecution},
            jobs::{Job, JobRun, ListJobs},
            plans::{GetTestPlan, ListTestPlans, TestPlan},
            runs::{GetRun, ListRuns, RunDetail, RunHead},
            tests::{GetTest, TestCase, TestSummary},
        },
        catalog::ListedOperation,
        lenient::view,
        record_kind::{RecordKind, ResultId, ResultKind},
    },
    tools::{
        find::FoundRecord,
        found_result::{FoundResult, Subject},
        names::{devices, initiator_name},
        newest::newest_first,
        reader::{Reader, Unread, arguments},
    },
};

/// Largest number of requests beside those that find the record and read it.
const FURTHER_REQUESTS: usize = 5;

/// Largest number of results that are shown with a test, a plan or a build.
const LATEST_RESULTS: usize = 5;

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

/// A record, for programs and for models, with what was not read.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct DescribedRecord {
    #[serde(flatten)]
    pub record: Record,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
    #[serde(skip)]
    pub description: RecordDescription,
}

impl DescribedRecord {
    /// Reads a record and what it refers to. Fails only if the record itself cannot be read.
    pub(crate) async fn read(reader: &Reader, subject: Subject) -> Result<Self, Failure> {
        let mut reading = Reading { reader, requests_left: FURTHER_REQUESTS, unread: Unread::default() };
        let (record, description) = match subject {
            Subject::Result(FoundResult { id, record }) => match id.kind {
                ResultKind::Run => reading.run(record).await,
                ResultKind::Job => reading.job(record).await,
                ResultKind::Execution => reading.execution(&id, record).await,
            },
            Subject::Named(found) => match found.kind {
                RecordKind::Test => reading.test(found).await?,
                RecordKind::TestPlan => reading.plan(found.id).await?,
                RecordKind::Build => reading.build(found.id).await?,
                RecordKind::Bug => reading.bug(found.id).await?,
                _ => device(&found.listed),
            },
        };

        let unread = reading.unread.omissions;
        Ok(Self { record, description: RecordDescription { unread: unread.clone(), ..description }, unread })
    }
}

fn device(device: &Value) -> (Record, RecordDescription) {
    let platform = view::<DeploymentConfig>(device).kind;
    let own = json!({"kind": RecordKind::DeploymentConfig, "platform": platform});
    (Record::Device { device: device.clone() }, RecordDescription::new(device, &own))
}

/// Reads what a record refers to.
struct Reading<'a> {
    reader: &'a Reader,
    requests_left: usize,
    unread: Unread,
}

impl Reading<'_> {
    async fn run(&mut self, run: Value) -> (Record, RecordDescription) {
        let RunDetail { head, players, .. } = view(&run);
        let of_run = ListRunBugs { run_id: Id(head.multiplayer_run_id.clone()) };
        let bugs = self.one("bugs", &of_run).await;
        let bugs = bugs.map(|page| view::<ListPage<Value>>(&page).data).unwrap_or_default();
        let bug = |bug: &RunBug| json!({"id": bug.bug_id, "title": bug.title, "severity": bug.severity});

        let own = json!({
            "kind": RecordKind::Result(ResultKind::Run), "id": head.multiplayer_run_id, "name": head.test.name, "state": state_of_run(&head),
            "devices": devices(players.iter().map(|player| &player.player)),
            "by": head.initiator.as_ref().and_then(initiator_name),
            "players": null, "failed_steps": failed_steps(&players), "bugs": entries(&bugs, bug),
        });
        let description = RecordDescription::new(&run, &own);
        (Record::Run { run, bugs }, description)
    }

    async fn job(&mut self, answer: Value) -> (Record, RecordDescription) {
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
        let description = RecordDescription::new(&answer, &own);
        (Record::Job { job: answer, build_name, execution }, description)
    }

    async fn execution(&mut self, id: &ResultId, answer: Value) -> (Record, RecordDescription) {
        let mut jobs = self.newest::<ListJobs>("jobs", id.to_arguments(), self.requests_left).await;
        // The jobs of a plan are created in the order of its tests.
        jobs.reverse();

        let execution: TestPlanExecution = view(&answer);
        let name = execution.test_plan_name;
        let own = json!({
            "kind": RecordKind::Result(ResultKind::Execution), "name": name, "state": execution.status,
            "project_id": jobs.first().map(|job| view::<Job>(job).project_id),
            "build": named(execution.build_id, execution.build_name), "test_plan": named(execution.test_plan_id, name),
            "created_at": execution.started_at, "by": initiator_name(&view(&execution.started_by)),
            "results": entries(&jobs, job_entry),
        });
        let description = RecordDescription::new(&answer, &own);
        (Record::TestPlanExecution { test_plan_execution: answer, jobs }, description)
    }

    async fn test(&mut self, found: FoundRecord) -> Result<(Record, RecordDescription), Failure> {
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
        let description = RecordDescription::new(&test, &own);
        Ok((Record::Test { test, folder_path, plans, latest_runs }, description))
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

    async fn plan(&mut self, id: String) -> Result<(Record, RecordDescription), Failure> {
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
        let own = json!({
            "kind": RecordKind::TestPlan, "by": plan.audit.created_by, "slots": plan.slot_names(),
            "tests": tests.collect::<Vec<_>>(), "results": entries(&latest_executions, execution_entry),
        });
        let description = RecordDescription::new(&test_plan, &own);
        Ok((Record::TestPlan { test_plan, test_names, latest_executions }, description))
    }

    /// Returns the names of tests by their ids. The jobs of the last execution have most of them.
    async fn names_of(&mut self, tests: Vec<String>, last: Option<&Value>) -> BTreeMap<String, String> {
        let mut names = BTreeMap::new();
        if let Some(last) = last.map(view::<TestPlanExecution>) {
            let of_last = ResultId::new(ResultKind::Execution, last.id).to_arguments();
            let jobs = self.newest::<ListJobs>("jobs", of_last, 1).await;
            names.extend(
                jobs.iter()
                    .map(view::<Job>)
                    .filter_map(|job| Some((job.multiplayer_test_id?, job.test_name?))),
            );
        }

        let others = tests.into_iter().filter(|id| !names.contains_key(id)).collect();
        let include_shared_collection_steps = Some(false);
        let test = |id| GetTest { test_id: Id(id), version: None, include_shared_collection_steps };
        let others = self.each("tests", others, test).await;
        names.extend(others.into_iter().map(|(id, test)| (id, view::<TestCase>(&test).name)));
        names
    }

    async fn build(&mut self, id: String) -> Result<(Record, RecordDescription), Failure> {
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
        let description = RecordDescription::new(&build, &own);
        Ok((Record::Build { build, latest_runs }, description))
    }

    async fn bug(&mut self, id: String) -> Result<(Record, RecordDescription), Failure> {
        let bug = self.reader.read_value(&GetBug { bug_id: Id(id) }).await?;
        let BugDetail { bug: head, mut occurrences } = view(&bug);
        occurrences.sort_by(|one, other| other.detected_at.cmp(&one.detected_at));
        let seen = occurrences.iter().map(|one| one.multiplayer_run_id.clone()).collect();
        let runs = self.each("runs", seen, |id| GetRun { run_id: Id(id) }).await;

        let places = occurrences.iter().map(|one| occurrence_entry(one, runs.get(&one.multiplayer_run_id)));
        let own = json!({
            "kind": RecordKind::Bug, "name": head.title, "state": head.status, "by": head.created_by,
            "occurrences": places.collect::<Vec<_>>(),
        });
        let description = RecordDescription::new(&bug, &own);
        Ok((Record::Bug { bug, runs }, description))
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
