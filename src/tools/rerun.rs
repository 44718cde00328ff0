//! Starts again what did not pass: the tests of a run, a job or an execution of a test plan.
//!
//! Each start has a tag that names the job that it repeats. A repeated call finds the jobs with this tag, so that it starts
//! nothing twice.

use std::{collections::BTreeMap, time::Duration};

use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with::skip_serializing_none;

use super::{
    call_options::CallOptions, names::find_device, project_client::ProjectClient, summary::TestResult,
};
use crate::{
    call::{Caller, RequestPreview, arguments::AGREEMENT},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            Open, Uuid,
            configs::{DeploymentConfig, ListDeploymentConfigs},
            jobs::{GetJob, Job, ListJobs},
            runs::{GetRun, ListRuns, Run, StartRun},
        },
        record_kind::{ResultId, ResultKind},
        tool::DRY_RUN,
    },
    text::guidance::Guidance,
};

/// Beginning of the tag of a start. The id of the repeated job follows.
const TAG_PREFIX: &str = "rerun-of:";

/// Largest number of starts of one call. A wait takes as many jobs.
pub(crate) const MAX_STARTS: usize = 50;

/// Largest number of starts without a question to the user.
const MOST_UNASKED: usize = 10;

/// Number of requests at the same time.
const PARALLEL_REQUESTS: usize = 4;

/// Time that is left for the last starts before the time limit of the call.
const RESERVE: Duration = Duration::from_secs(10);

/// Build source of the devices that take a build (service.md 11).
const BUILD_STORAGE: &str = "build-storage";

/// Verdicts that say nothing about the tested app.
const INFRASTRUCTURE: [&str; 5] = ["ERROR", "TIMEOUT", "STOPPED", "no_run", "no_result"];

// Which tests are started again. Nothing that is still running is. No doc comment, because it would become part of the
// description of the argument.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the description of the argument explains the words")]
pub enum RerunSelection {
    #[default]
    Infrastructure,
    Failed,
    Flaky,
    All,
}

/// A request to start tests again.
#[derive(Clone, Debug)]
pub(crate) struct RerunRequest {
    pub(crate) source: ResultId,
    pub(crate) selection: RerunSelection,
    /// Project, if the caller names one.
    pub(crate) project: Option<String>,
    /// Deployment config of every start.
    pub(crate) device: Option<String>,
    /// Build of every start.
    pub(crate) build: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) is_dry_run: bool,
    pub(crate) is_confirmed: bool,
    /// Number of starts to which a user has agreed.
    pub(crate) max_starts: Option<usize>,
}

/// The tests that were started again.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Rerun {
    /// `started`; `incomplete`: see `tests[].error`; `nothing_to_start`; `dry_run`.
    pub status: &'static str,
    pub project_id: Option<String>,
    /// Each is one run without retries.
    pub tests: Vec<RerunTest>,
    /// Also those of an earlier equal call.
    pub job_ids: Vec<String>,
    /// Number of other tests by verdict, or by the reason why they were not started.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, usize>,
    #[schemars(with = "Option<String>")]
    pub next: Option<Guidance>,
}

/// A test that was started again.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct RerunTest {
    pub name: String,
    /// Its result before.
    pub verdict: Option<String>,
    pub run_id: Option<String>,
    /// The job that is repeated.
    pub job_id: String,
    pub device: Option<String>,
    pub build_id: Option<String>,
    pub build_name: Option<String>,
    /// The new jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub job_ids: Vec<String>,
    /// `true`: an earlier call has started them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub already_started: bool,
    /// The request of a dry run.
    #[schemars(with = "Option<Open>")]
    pub request: Option<RequestPreview>,
    /// Why it was not started.
    pub error: Option<String>,
}

/// A start that repeats a job.
#[derive(Debug)]
struct Start {
    test: RerunTest,
    operation: StartRun,
}

impl RerunSelection {
    fn includes(self, test: &TestResult) -> bool {
        let Some(verdict) = test.verdict.as_deref() else { return false };
        match self {
            Self::Infrastructure => INFRASTRUCTURE.contains(&verdict),
            Self::Failed => !["SUCCESS", "SKIPPED"].contains(&verdict),
            Self::Flaky => test.passed_after_retry(),
            Self::All => true,
        }
    }
}

impl RerunRequest {
    /// Starts the selected tests again, unless an earlier call has.
    ///
    /// # Errors
    /// The failures of reading the tests; `invalid_arguments` with the devices if that of a test is not known;
    /// `confirmation_required`; the failure of the first start if nothing could be started.
    pub(crate) async fn run(self, caller: &Caller, options: &CallOptions) -> Result<Rerun, Failure> {
        let mut client = ProjectClient { caller: caller.clone(), project: self.project.clone() };
        let jobs = self.read_jobs(&mut client).await?;
        let mut rerun = Rerun { project_id: client.project.clone(), ..Rerun::default() };
        let mut selected = Vec::new();
        for job in jobs {
            let test = TestResult::from_job(&job);
            if self.selection.includes(&test) {
                selected.push((job, test));
            } else {
                *rerun.left_out.entry(test.verdict.unwrap_or_else(|| "running".to_owned())).or_default() += 1;
            }
        }

        let mut starts = self.plan(&client, selected).await?;
        let searches: Vec<_> = starts.iter_mut().map(|start| self.find_earlier(&client, start)).collect();
        let searches: Vec<_> = stream::iter(searches).buffered(PARALLEL_REQUESTS).collect().await;
        searches.into_iter().collect::<Result<(), Failure>>()?;
        self.limit(caller, &mut starts, &mut rerun.left_out)?;

        let deadline = options.wait_limit.map(|limit| caller.clock().now() + limit.saturating_sub(RESERVE));
        let tests = stream::iter(starts).map(|start| self.start(&client, start, deadline));
        let outcomes: Vec<_> = tests.buffered(PARALLEL_REQUESTS).collect().await;

        rerun.finish(outcomes, self.is_dry_run)
    }

    /// Reads the jobs of the source. The calls after it go to the project that has answered.
    async fn read_jobs(&self, client: &mut ProjectClient) -> Result<Vec<Job>, Failure> {
        let record = client.read_result(&self.source).await?;
        client.project = record.project().map(str::to_owned).or(client.project.take());

        match self.source.kind {
            ResultKind::Job => Ok(vec![record.view::<GetJob>()]),
            ResultKind::Run => {
                let job_id = Uuid(record.view::<GetRun>().head.job_id);
                Ok(vec![client.call(&GetJob { job_id }).await?.view::<GetJob>()])
            }
            ResultKind::Execution => client.read_list::<ListJobs, _>(&self.source.to_arguments()).await,
        }
    }

    /// Returns a start for each job, with its device and build.
    async fn plan(
        &self,
        client: &ProjectClient,
        selected: Vec<(Job, TestResult)>,
    ) -> Result<Vec<Start>, Failure> {
        let Some((first, _)) = selected.first() else { return Ok(Vec::new()) };
        let of_job = ResultId::new(ResultKind::Job, first.job_id.as_str());
        let listed = if self.source.kind == ResultKind::Execution { &self.source } else { &of_job };
        let devices = client.read_list::<ListDeploymentConfigs, DeploymentConfig>(&Fields::new()).await;
        let runs = client.read_list::<ListRuns, Run>(&listed.to_arguments()).await;
        let (devices, runs) = match self.device {
            // A start with a known device needs no permission to list the devices and the runs.
            Some(_) => (devices.unwrap_or_default(), runs.unwrap_or_default()),
            None => (devices?, runs?),
        };

        let mut unknown = Vec::new();
        let mut starts = Vec::new();
        for (job, test) in selected {
            let run = runs.iter().find(|run| Some(&run.head.multiplayer_run_id) == test.run_id.as_ref());
            let device = match &self.device {
                Some(id) => devices.iter().find(|device| device.id.eq_ignore_ascii_case(id)),
                None => run.and_then(|run| find_device(run, &devices)),
            };
            if self.device.is_none() && device.is_none() {
                unknown.push(test.name);
            } else {
                starts.push(self.start_of(job, test, run, device));
            }
        }

        if unknown.is_empty() { Ok(starts) } else { Err(unknown_devices(&unknown, &devices)) }
    }

    fn start_of(
        &self,
        job: Job,
        test: TestResult,
        run: Option<&Run>,
        device: Option<&DeploymentConfig>,
    ) -> Start {
        let takes_build = device.is_none_or(|device| device.provider_type.as_deref() == Some(BUILD_STORAGE));
        let build_id = self.build.clone().or(job.build_id.filter(|_| takes_build));
        let build = run.and_then(|run| run.head.build.clone());
        let is_same = |id: &String| build.as_ref().is_some_and(|build| build.id.eq_ignore_ascii_case(id));
        let has_name = build_id.as_ref().is_some_and(is_same);

        let operation = StartRun {
            multiplayer_test_id: job.multiplayer_test_id.map(Uuid),
            deployment_config_id: self.device.clone().or(device.map(|device| device.id.clone())).map(Uuid),
            build_id: build_id.clone().map(Uuid),
            agent_config_id: self.agent.clone().map(Uuid),
            additional_tags: Some(vec![format!("{TAG_PREFIX}{}", job.job_id)]),
            ..StartRun::default()
        };
        let test = RerunTest {
            name: test.name,
            verdict: test.verdict,
            run_id: test.run_id,
            job_id: job.job_id,
            device: device.map(|device| device.name.clone()),
            build_id,
            build_name: build.and_then(|build| build.name).filter(|_| has_name),
            ..RerunTest::default()
        };

        Start { test, operation }
    }

    /// Adds the jobs that an earlier call has started with the same build.
    async fn find_earlier(&self, client: &ProjectClient, start: &mut Start) -> Result<(), Failure> {
        let filter = Fields::from_iter([("tags".to_owned(), json!(start.operation.additional_tags))]);
        let jobs: Vec<Job> = client.read_list::<ListJobs, _>(&filter).await?;

        let has_build = |job: &Job| match (&self.build, &job.build_id) {
            (Some(wanted), Some(build)) => wanted.eq_ignore_ascii_case(build),
            (wanted, _) => wanted.is_none(),
        };
        start.test.job_ids = jobs.into_iter().filter(has_build).map(|job| job.job_id).collect();
        start.test.already_started = !start.test.job_ids.is_empty();

        Ok(())
    }

    /// Removes the starts beyond those that one call makes, or to which a user has agreed.
    ///
    /// # Errors
    /// `confirmation_required` for many starts to which no user has agreed. The detail `agreement` has the argument that
    /// states the number.
    fn limit(
        &self,
        caller: &Caller,
        starts: &mut Vec<Start>,
        left_out: &mut BTreeMap<String, usize>,
    ) -> Result<(), Failure> {
        let new = starts.iter().filter(|start| !start.test.already_started).count();
        let wanted = new.min(MAX_STARTS);
        let agreed = self.max_starts.filter(|_| self.is_confirmed);
        if wanted > MOST_UNASKED && agreed.is_none() && !self.is_dry_run {
            let question = || format!("rerun_results starts {wanted} runs without retries; each is billed");
            let hint = format!(
                "nothing was sent: a person must agree; then call again with `argument:confirm: true` and \
                 `argument:max_starts: {wanted}`"
            );
            caller
                .require_agreement(false, question)
                .map_err(|failure| failure.hint(hint).detail(AGREEMENT, json!({"max_starts": wanted})))?;
        }

        let asks = caller.require_agreement(false, String::new).is_err() && !self.is_dry_run;
        let most = if asks { wanted.min(agreed.unwrap_or(MOST_UNASKED)) } else { wanted };
        if new > most {
            left_out
                .insert(format!("not started yet, because this call starts {most}: repeat it"), new - most);
        }
        let mut count = 0;
        starts.retain(|start| {
            count += usize::from(!start.test.already_started);
            start.test.already_started || count <= most
        });

        Ok(())
    }

    /// Starts a test, unless an earlier call has or the time limit of the call is near.
    async fn start(
        &self,
        client: &ProjectClient,
        start: Start,
        deadline: Option<Duration>,
    ) -> (RerunTest, Option<Failure>) {
        let Start { mut test, operation } = start;
        if test.already_started {
            return (test, None);
        }
        if !self.is_dry_run && deadline.is_some_and(|deadline| client.caller.clock().now() >= deadline) {
            test.error = Some("the time limit of the call has passed: repeat the call".to_owned());
            return (test, None);
        }

        let outcome = if self.is_dry_run {
            client.preview(&operation).await.map(|request| test.request = Some(request))
        } else {
            client.call(&operation).await.map(|reply| test.job_ids = reply.view::<StartRun>().job_ids)
        };
        test.error = outcome.as_ref().err().map(ToString::to_string);

        (test, outcome.err())
    }
}

impl Rerun {
    /// Adds the outcomes of the starts.
    fn finish(
        mut self,
        outcomes: Vec<(RerunTest, Option<Failure>)>,
        is_dry_run: bool,
    ) -> Result<Self, Failure> {
        let has_success = outcomes.iter().any(|(test, _)| test.error.is_none());
        let (tests, failures): (Vec<_>, Vec<_>) = outcomes.into_iter().unzip();
        if let Some(failure) = failures.into_iter().flatten().next().filter(|_| !has_success) {
            return Err(failure);
        }

        self.job_ids = tests.iter().flat_map(|test| test.job_ids.iter().cloned()).collect();
        self.status = if tests.is_empty() {
            "nothing_to_start"
        } else if is_dry_run {
            DRY_RUN
        } else if tests.iter().any(|test| test.error.is_some()) {
            "incomplete"
        } else {
            "started"
        };
        self.next = (!self.job_ids.is_empty()).then(|| {
            "wait until the jobs in `job_ids` have finished[[ with `tool:wait_for_completion`]]".into()
        });
        self.tests = tests;

        Ok(self)
    }
}

/// Returns the failure of tests whose deployment config cannot be found.
fn unknown_devices(tests: &[String], devices: &[DeploymentConfig]) -> Failure {
    let message = format!(
        "rerun_results: the deployment config of {} of the tests is not known: a run names its device only",
        tests.len()
    );
    let shown = devices.iter().map(|device| json!({"id": device.id, "name": device.name}));

    Failure::new(Code::InvalidArguments, message)
        .hint("nothing was started: call again with `argument:deployment_config_id`[[, from `tool:list_deployment_configs`]]")
        .detail("tests", json!(tests))
        .detail("devices", shown.collect::<Vec<_>>())
}
