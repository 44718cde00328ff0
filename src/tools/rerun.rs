//! Starts again what did not pass: the tests of a run, a job or an execution of a test plan.
//!
//! Each start has a tag that names the job that it repeats. A repeated call finds the jobs with this tag, so that it starts
//! nothing twice.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with::skip_serializing_none;

use super::{names::find_device, project_client::ProjectClient, summary::TestResult};
use crate::{
    call::{Caller, RequestPreview},
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
    /// Deployment config, build and agent config of every start.
    pub(crate) device: Option<String>,
    pub(crate) build: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) is_dry_run: bool,
    pub(crate) is_confirmed: bool,
    /// Largest number of starts. If the call is confirmed, a user has agreed to it.
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
    #[serde(skip)]
    test_id: Option<String>,
    /// Its result before.
    pub verdict: Option<String>,
    pub run_id: Option<String>,
    /// The job that is repeated.
    pub job_id: String,
    pub deployment_config_id: Option<String>,
    /// Name of the deployment config.
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
    pub(crate) async fn run(self, caller: &Caller) -> Result<Rerun, Failure> {
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

        let mut tests = self.plan(&client, selected).await?;
        let searches: Vec<_> = tests.iter_mut().map(|test| self.find_earlier(&client, test)).collect();
        let searches: Vec<_> = stream::iter(searches).buffered(PARALLEL_REQUESTS).collect().await;
        searches.into_iter().collect::<Result<(), Failure>>()?;
        self.limit(&client, &mut tests, &mut rerun.left_out)?;

        let starts: Vec<_> = tests.iter_mut().map(|test| self.start(&client, test)).collect();
        let outcomes: Vec<_> = stream::iter(starts).buffered(PARALLEL_REQUESTS).collect().await;
        if let Some(failure) = outcomes.into_iter().flatten().next()
            && tests.iter().all(|test| test.error.is_some())
        {
            return Err(failure);
        }

        Ok(Rerun { tests, ..rerun }.finish(self.is_dry_run))
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

    /// Returns the starts: a test with device and build for each job.
    async fn plan(
        &self,
        client: &ProjectClient,
        selected: Vec<(Job, TestResult)>,
    ) -> Result<Vec<RerunTest>, Failure> {
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
        let build_name = match &self.build {
            Some(id) => client.build_name(id).await,
            None => None,
        };

        let mut tests = Vec::new();
        for (job, test) in selected {
            let run = runs.iter().find(|run| Some(&run.head.multiplayer_run_id) == test.run_id.as_ref());
            let device = match &self.device {
                Some(id) => devices.iter().find(|device| device.id.eq_ignore_ascii_case(id)),
                None => run.and_then(|run| find_device(run, &devices)),
            };
            let takes_build =
                device.is_none_or(|device| device.provider_type.as_deref() == Some(BUILD_STORAGE));
            let own_build = run.and_then(|run| run.head.build.as_ref()?.name.clone());
            tests.push(RerunTest {
                name: test.name,
                test_id: job.multiplayer_test_id,
                verdict: test.verdict,
                run_id: test.run_id,
                job_id: job.job_id,
                deployment_config_id: self.device.clone().or(device.map(|device| device.id.clone())),
                device: device.map(|device| device.name.clone()),
                build_name: build_name.clone().or(own_build.filter(|_| self.build.is_none() && takes_build)),
                build_id: self.build.clone().or(job.build_id.filter(|_| takes_build)),
                ..RerunTest::default()
            });
        }

        let unknown: Vec<_> = tests.iter().filter(|test| test.deployment_config_id.is_none()).collect();
        if unknown.is_empty() { Ok(tests) } else { Err(unknown_devices(&unknown, &devices)) }
    }

    /// Adds the jobs that an earlier call has started with the same build.
    async fn find_earlier(&self, client: &ProjectClient, test: &mut RerunTest) -> Result<(), Failure> {
        let filter = Fields::from_iter([("tags".to_owned(), json!([tag(test)]))]);
        let jobs: Vec<Job> = client.read_list::<ListJobs, _>(&filter).await?;

        let has_build = |job: &Job| match (&self.build, &job.build_id) {
            (Some(wanted), Some(build)) => wanted.eq_ignore_ascii_case(build),
            (wanted, _) => wanted.is_none(),
        };
        test.job_ids = jobs.into_iter().filter(has_build).map(|job| job.job_id).collect();
        test.already_started = !test.job_ids.is_empty();

        Ok(())
    }

    /// Removes the starts beyond those that one call makes, or to which a user has agreed.
    ///
    /// # Errors
    /// `confirmation_required` for many starts to which no user has agreed.
    fn limit(
        &self,
        client: &ProjectClient,
        tests: &mut Vec<RerunTest>,
        left_out: &mut BTreeMap<String, usize>,
    ) -> Result<(), Failure> {
        let new = tests.iter().filter(|test| !test.already_started).count();
        let most = new.min(self.max_starts.unwrap_or(MAX_STARTS)).min(MAX_STARTS);
        let is_agreed = self.is_confirmed && self.max_starts.is_some();
        if most > MOST_UNASKED && !is_agreed && !self.is_dry_run {
            let question = format!("rerun_results starts {most} runs without retries; each is billed");
            client.require_agreement(question, "max_starts", most)?;
        }

        if new > most {
            let reason = format!("not started yet, because this call starts {most}: repeat it");
            left_out.insert(reason, new - most);
        }
        let mut count = 0;
        tests.retain(|test| {
            count += usize::from(!test.already_started);
            test.already_started || count <= most
        });

        Ok(())
    }

    /// Starts a test, unless an earlier call has.
    async fn start(&self, client: &ProjectClient, test: &mut RerunTest) -> Option<Failure> {
        if test.already_started {
            return None;
        }

        let operation = StartRun {
            multiplayer_test_id: test.test_id.clone().map(Uuid),
            deployment_config_id: test.deployment_config_id.clone().map(Uuid),
            build_id: test.build_id.clone().map(Uuid),
            agent_config_id: self.agent.clone().map(Uuid),
            additional_tags: Some(vec![tag(test)]),
            ..StartRun::default()
        };
        let outcome = if self.is_dry_run {
            client.preview(&operation).await.map(|request| test.request = Some(request))
        } else {
            client.call(&operation).await.map(|reply| test.job_ids = reply.view::<StartRun>().job_ids)
        };
        test.error = outcome.as_ref().err().map(ToString::to_string);

        outcome.err()
    }
}

impl Rerun {
    /// Says what became of the tests.
    fn finish(mut self, is_dry_run: bool) -> Self {
        self.job_ids = self.tests.iter().flat_map(|test| test.job_ids.iter().cloned()).collect();
        self.status = if self.tests.is_empty() {
            "nothing_to_start"
        } else if is_dry_run {
            DRY_RUN
        } else if self.tests.iter().any(|test| test.error.is_some()) {
            "incomplete"
        } else {
            "started"
        };
        self.next = (!self.job_ids.is_empty()).then(|| {
            "wait until the jobs in `job_ids` have finished[[ with `tool:wait_for_completion`]]".into()
        });

        self
    }
}

fn tag(test: &RerunTest) -> String {
    format!("{TAG_PREFIX}{}", test.job_id)
}

/// Returns the failure of tests whose deployment config cannot be found.
fn unknown_devices(tests: &[&RerunTest], devices: &[DeploymentConfig]) -> Failure {
    let message = format!(
        "rerun_results: the deployment config of {} of the tests is not known: a run names its device only",
        tests.len()
    );
    let names: Vec<_> = tests.iter().map(|test| &test.name).collect();
    let shown: Vec<_> = devices.iter().map(|device| json!({"id": device.id, "name": device.name})).collect();

    Failure::new(Code::InvalidArguments, message)
        .hint("nothing was started: call again with `argument:deployment_config_id`[[, from `tool:list_deployment_configs`]]")
        .detail("tests", json!(names))
        .detail("devices", shown)
}
