//! A record with the names of what it refers to: a run with its bugs, a plan with the names of its tests, a bug with the
//! builds of its occurrences. What cannot be read is named, and does not hide the rest.

mod description;
mod lookup;

use std::{
    collections::BTreeMap,
    ops::Deref,
    sync::atomic::{AtomicU64, Ordering},
};

use futures_util::{StreamExt as _, future::join_all, stream};
use serde::{Serialize, Serializer};
use serde_json::Value;

pub use self::{
    description::{NamedId, RecordDescription},
    lookup::DescribedKind,
};
use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
        paging::Omission,
        reply::Reply,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            Id, Uuid,
            bugs::{BugDetail, GetBug, ListRunBugs, RunBug},
            builds::{BuildDetail, GetBuild},
            configs::DeploymentConfig,
            executions::{GetTestPlanExecution, ListTestPlanExecutions, TestPlanExecution},
            jobs::{GetJob, Job, ListJobs},
            plans::{GetTestPlan, ListTestPlans, TestPlan, TestPlanSummary},
            runs::{GetRun, ListRuns, Run, RunDetail, RunHead},
            tests::{GetTest, TestCase},
        },
        catalog::ListedOperation,
        lenient::{View, view},
        result_kind::{ResultId, ResultKind},
    },
    tools::{
        call_options::CallOptions,
        name_search::{NameSearch, RecordKind},
        newest::{NewestRecords, read_newest},
        project_client::ProjectClient,
        time_limit::{StopSignal, StoppableReader},
    },
};

/// Largest number of results that are shown with a test, a plan or a build.
const LATEST_RESULTS: usize = 5;

/// Largest number of occurrences of a bug whose runs are read.
const READ_OCCURRENCES: usize = 20;

/// Largest number of plans that are read to find those that contain a test.
const READ_PLANS: usize = 50;

/// Number of records that are read at the same time.
const CONCURRENT_READS: usize = 8;

/// What identifies a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordId {
    /// A run, a job or an execution.
    Result(ResultId),
    /// A record with a name.
    Named(RecordKind, String),
}

/// An answer of the service and its view. It is serialized as it came.
#[derive(Clone, Debug)]
pub struct Viewed<T> {
    raw: Value,
    view: T,
}

impl<T: View> From<Value> for Viewed<T> {
    fn from(raw: Value) -> Self {
        Self { view: view(&raw), raw }
    }
}

impl<T> Viewed<T> {
    /// Returns the answer as it came.
    pub fn raw(&self) -> &Value {
        &self.raw
    }
}

impl<T> Deref for Viewed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.view
    }
}

impl<T> Serialize for Viewed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

/// A record with what it refers to.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedRecord {
    /// The record itself.
    #[serde(flatten)]
    pub record: Record,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
}

/// A record of any kind.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Record {
    Run {
        run: Box<Viewed<RunDetail>>,
        bugs: Vec<Viewed<RunBug>>,
    },
    Job {
        job: Box<Viewed<Job>>,
        build_name: Option<String>,
        execution: Option<Box<Viewed<TestPlanExecution>>>,
    },
    TestPlanExecution {
        test_plan_execution: Box<Viewed<TestPlanExecution>>,
        jobs: Vec<Viewed<Job>>,
    },
    Test {
        test: Box<Viewed<TestCase>>,
        folder_path: Option<String>,
        plans: Vec<NamedId>,
        latest_runs: Vec<Viewed<Run>>,
    },
    /// A plan, with the names of its tests by their ids.
    TestPlan {
        test_plan: Box<Viewed<TestPlan>>,
        test_names: BTreeMap<String, String>,
        latest_executions: Vec<Viewed<TestPlanExecution>>,
    },
    Build {
        build: Box<Viewed<BuildDetail>>,
        latest_runs: Vec<Viewed<Run>>,
    },
    Device {
        device: Viewed<DeploymentConfig>,
    },
    /// A bug, with the runs of its occurrences by their ids.
    Bug {
        bug: Box<Viewed<BugDetail>>,
        runs: BTreeMap<String, Viewed<RunHead>>,
    },
}

impl DescribedRecord {
    /// Reads the record and what it refers to.
    ///
    /// # Errors
    /// The failure of the record itself.
    pub async fn read(
        caller: &Caller,
        project: Option<&str>,
        id: RecordId,
        reads: &RecordReads,
    ) -> Result<Self, Failure> {
        let client = ProjectClient { caller: caller.clone(), project: project.map(str::to_owned) };
        let mut reader = Reader { client, reads, unread: Vec::new() };
        let record = match id {
            RecordId::Result(id) => match id.kind {
                ResultKind::Run => reader.run(id.id).await?,
                ResultKind::Job => reader.job(id.id).await?,
                ResultKind::Execution => reader.execution(id).await?,
            },
            RecordId::Named(kind, id) => match kind {
                RecordKind::Test => reader.test(id).await?,
                RecordKind::TestPlan => reader.plan(id).await?,
                RecordKind::Build => reader.build(id).await?,
                RecordKind::DeploymentConfig => reader.device(&id).await?,
                RecordKind::Bug => reader.bug(id).await?,
                RecordKind::TestFolder | RecordKind::AgentConfig | RecordKind::SharedStep => {
                    return Err(Failure::new(
                        Code::InvalidArguments,
                        format!("`{id}` is no record that can be shown"),
                    )
                    .hint("a run, job, execution, test, plan, build, device or bug can be shown"));
                }
            },
        };

        Ok(Self { record, unread: reader.unread })
    }
}

/// The reads of one record. After their stop, what is missing is named.
#[derive(Debug, Default)]
pub struct RecordReads {
    stop: StopSignal,
    /// Number of answers so far.
    answers: AtomicU64,
}

impl RecordReads {
    /// Waits for an answer, at most until the stop.
    pub(in crate::tools) async fn receive<T>(
        &self,
        request: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        // Boxed, because the futures of several reads in one task would fill the stack.
        let answer = self.stop.until_stopped(Box::pin(request)).await;
        self.answers.fetch_add(1, Ordering::Relaxed);
        answer
    }
}

impl StoppableReader for RecordReads {
    fn stop(&self) {
        self.stop.stop();
    }

    fn progress(&self) -> (u64, u64, String) {
        let answers = self.answers.load(Ordering::Relaxed);
        (answers, answers, format!("{answers} answers read"))
    }
}

/// Reads a record and what it refers to.
struct Reader<'a> {
    client: ProjectClient,
    reads: &'a RecordReads,
    unread: Vec<Omission>,
}

impl Reader<'_> {
    async fn run(&mut self, id: String) -> Result<Record, Failure> {
        let (run, bugs) = (GetRun { run_id: Id(id.clone()) }, ListRunBugs { run_id: Id(id) });
        let (run, bugs) = futures_util::future::join(self.call(&run), self.call(&bugs)).await;
        let bugs = self.optional("bugs", bugs).map(|bugs| records(&bugs.into_value())).unwrap_or_default();

        Ok(Record::Run { run: Box::new(run?.into_value().into()), bugs })
    }

    async fn job(&mut self, id: String) -> Result<Record, Failure> {
        let job: Viewed<Job> = self.read(&GetJob { job_id: Uuid(id) }).await?;
        let build_name = match &job.build_id {
            Some(id) => {
                let names = async { Ok(build_names(&self.client, [id.as_str()]).await) };
                self.reads.receive(names).await.unwrap_or_default().remove(id)
            }
            None => None,
        };
        let execution = match job.test_plan_execution_id.clone() {
            Some(id) => {
                let read = self.call(&GetTestPlanExecution { test_plan_execution_id: Id(id) }).await;
                self.optional("execution", read).map(|execution| Box::new(execution.into_value().into()))
            }
            None => None,
        };

        Ok(Record::Job { job: Box::new(job), build_name, execution })
    }

    async fn execution(&mut self, id: ResultId) -> Result<Record, Failure> {
        let filter = id.to_arguments();
        let operation = GetTestPlanExecution { test_plan_execution_id: Id(id.id) };
        let execution = Box::new(self.read(&operation).await?);
        let mut jobs = self.newest::<ListJobs, _>("jobs", filter, usize::MAX).await;
        // The jobs of a plan are created in the order of its tests.
        jobs.reverse();

        Ok(Record::TestPlanExecution { test_plan_execution: execution, jobs })
    }

    async fn test(&mut self, id: String) -> Result<Record, Failure> {
        let filter = argument("multiplayer_test_id", &id);
        let operation = GetTest { test_id: Id(id), version: None, include_shared_collection_steps: None };
        let test: Box<Viewed<TestCase>> = Box::new(self.read(&operation).await?);
        let folder_path = self.folder_of(&test.id).await;
        let plans = self.plans_with(&test.id).await;
        let latest_runs = self.newest::<ListRuns, _>("runs", filter, LATEST_RESULTS).await;

        Ok(Record::Test { test, folder_path, plans, latest_runs })
    }

    /// Returns the path of the folder of a test, which only lists contain (service.md 6.1).
    async fn folder_of(&mut self, test: &str) -> Option<String> {
        let names = vec![test.to_owned()];
        let search = NameSearch { names, kinds: vec![RecordKind::Test], with_details: false };
        let project = self.client.project.clone();
        let (caller, options) = (&self.client.caller, CallOptions::silent());
        let found = self.reads.receive(search.run(caller, project, &options)).await;
        let mut records =
            self.optional("folder", found)?.results.into_iter().flat_map(|result| result.records);
        let record = records.find(|record| record.id == test)?;

        record.more.get("folder_path").and_then(Value::as_str).map(str::to_owned)
    }

    async fn plans_with(&mut self, test: &str) -> Vec<NamedId> {
        let plans = self.newest::<ListTestPlans, TestPlanSummary>("plans", Fields::new(), usize::MAX).await;
        let mut ids: Vec<String> = plans.iter().map(|plan| plan.id.clone()).collect();
        if ids.len() > READ_PLANS {
            let what = format!("{} of {} plans", ids.len() - READ_PLANS, ids.len());
            self.unread.push(Omission { what, why: "too many to look for the test in each".to_owned() });
            ids.truncate(READ_PLANS);
        }

        let reader = &*self;
        let reads = stream::iter(ids)
            .map(|id| async move { reader.call(&GetTestPlan { test_plan_id: Uuid(id) }).await });
        let plans: Vec<_> = reads.buffered(CONCURRENT_READS).collect().await;
        let mut containing = Vec::new();
        for plan in plans {
            let Some(plan) = self.optional("plan", plan).map(|plan| plan.view::<GetTestPlan>()) else {
                continue;
            };
            if plan.test_items.iter().any(|item| item.multiplayer_test_id == test) {
                containing.push(NamedId { id: plan.id, name: Some(plan.name) });
            }
        }

        containing
    }

    async fn plan(&mut self, id: String) -> Result<Record, Failure> {
        let filter = argument("test_plan_id", &id);
        let plan: Viewed<TestPlan> = self.read(&GetTestPlan { test_plan_id: Uuid(id) }).await?;
        let tests: Vec<_> = plan.test_items.iter().map(|item| item.multiplayer_test_id.clone()).collect();
        let reader = &*self;
        let names = stream::iter(tests).map(|id| async move {
            let test = GetTest {
                test_id: Id(id.clone()),
                version: None,
                include_shared_collection_steps: Some(false),
            };
            Some((id, reader.call(&test).await.ok()?.view::<GetTest>().name))
        });
        let names: Vec<_> = names.buffer_unordered(CONCURRENT_READS).collect().await;
        let latest_executions =
            self.newest::<ListTestPlanExecutions, _>("executions", filter, LATEST_RESULTS).await;

        Ok(Record::TestPlan {
            test_plan: Box::new(plan),
            test_names: names.into_iter().flatten().collect(),
            latest_executions,
        })
    }

    async fn build(&mut self, id: String) -> Result<Record, Failure> {
        let build = Box::new(self.read(&GetBuild { build_id: Uuid(id.clone()) }).await?);
        // Runs cannot be selected by their build (service.md 2.2).
        let mut latest_runs = self.newest::<ListRuns, Run>("runs", Fields::new(), usize::MAX).await;
        latest_runs
            .retain(|run| run.head.build.as_ref().is_some_and(|build| build.id.eq_ignore_ascii_case(&id)));
        latest_runs.truncate(LATEST_RESULTS);

        Ok(Record::Build { build, latest_runs })
    }

    async fn device(&mut self, id: &str) -> Result<Record, Failure> {
        let list = RecordKind::DeploymentConfig.list();
        let read = read_newest(&self.client.caller, list, self.arguments(Fields::new()));
        let devices = self.reads.receive(read).await?;
        let device = devices
            .data
            .into_iter()
            .map(Viewed::<DeploymentConfig>::from)
            .find(|one| one.id.eq_ignore_ascii_case(id));

        device.map(|device| Record::Device { device }).ok_or_else(|| {
            Failure::new(Code::NotFound, format!("no device has the id `{id}`"))
                .hint("`tool:list_deployment_configs`")
        })
    }

    async fn bug(&mut self, id: String) -> Result<Record, Failure> {
        let mut bug: Viewed<BugDetail> = self.read(&GetBug { bug_id: Id(id) }).await?;
        bug.view.occurrences.sort_by(|one, other| other.detected_at.cmp(&one.detected_at));
        let ids = bug.occurrences.iter().map(|occurrence| occurrence.multiplayer_run_id.clone());
        let reader = &*self;
        let runs = stream::iter(ids.take(READ_OCCURRENCES).collect::<Vec<_>>()).map(|id| async move {
            let run = reader.call(&GetRun { run_id: Id(id.clone()) }).await.ok()?;
            Some((id, Viewed::from(run.into_value())))
        });
        let runs: Vec<_> = runs.buffer_unordered(CONCURRENT_READS).collect().await;

        Ok(Record::Bug { bug: Box::new(bug), runs: runs.into_iter().flatten().collect() })
    }

    async fn read<O: ListedOperation>(&self, operation: &O) -> Result<Viewed<O::Answer>, Failure>
    where
        O::Answer: View,
    {
        Ok(self.call(operation).await?.into_value().into())
    }

    async fn call<O: ListedOperation>(&self, operation: &O) -> Result<Reply, Failure> {
        self.reads.receive(self.client.call(operation)).await
    }

    /// Reads the newest records of a list. A failure is named.
    async fn newest<L: ListedOperation, R: View>(
        &mut self,
        what: &str,
        filter: Fields,
        limit: usize,
    ) -> Vec<Viewed<R>> {
        let read = read_newest(&self.client.caller, L::entry(), self.arguments(filter));
        let read = self.reads.receive(read).await;
        let Some(NewestRecords { data, unread, .. }) = self.optional(what, read) else { return Vec::new() };
        self.unread.extend(unread);

        data.into_iter().take(limit).map(Viewed::from).collect()
    }

    fn arguments(&self, filter: Fields) -> ToolArguments {
        ToolArguments::new(filter, CommonArguments::in_project(self.client.project.as_deref()))
    }

    /// Returns what was read; a failure is named.
    fn optional<T>(&mut self, what: &str, read: Result<T, Failure>) -> Option<T> {
        read.map_err(|failure| self.unread.push(Omission { what: what.to_owned(), why: failure.message }))
            .ok()
    }
}

fn argument(name: &str, id: &str) -> Fields {
    Fields::from_iter([(name.to_owned(), Value::from(id))])
}

fn records<R: View>(page: &Value) -> Vec<Viewed<R>> {
    let records = page.get("data").and_then(Value::as_array).cloned().unwrap_or_default();
    records.into_iter().map(Viewed::from).collect()
}

/// Returns the names of builds by their ids. A build that cannot be read is missing.
pub(crate) async fn build_names<'a>(
    client: &ProjectClient,
    ids: impl IntoIterator<Item = &'a str>,
) -> BTreeMap<String, String> {
    let reads = ids.into_iter().map(|id| async move {
        let build = client.call(&GetBuild { build_id: Uuid(id.to_owned()) }).await.ok()?;
        let name = build.view::<GetBuild>().build.name;
        (!name.is_empty()).then(|| (id.to_owned(), name))
    });
    join_all(reads).await.into_iter().flatten().collect()
}
