//! Starts again what did not pass: the tests of a run, a job or an execution of a test plan.
//!
//! Each start has a tag that names the job that it repeats. A repeated call finds the jobs with this tag, so that it starts
//! nothing twice.

use std::{collections::BTreeMap, future::ready};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with::skip_serializing_none;

use super::{
    names::{BuildName, find_device},
    project_client::ProjectClient,
    summary::TestResult,
};
use crate::{
    call::{RequestPreview, paging::MAX_CONCURRENT_REQUESTS},
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
};

/// Largest number of starts of one call. A wait takes as many jobs.
pub(crate) const MAX_STARTS: usize = 50;

/// Largest number of starts without a question to the user.
const MOST_UNASKED: usize = 10;

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
    pub(crate) client: ProjectClient,
    pub(crate) source: ResultId,
    pub(crate) selection: RerunSelection,
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
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
    pub deployment_config_id: String,
    /// Name of the deployment config.
    pub device: Option<String>,
    pub build: Option<BuildName>,
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
            // They say nothing about the tested app.
            Self::Infrastructure => {
                matches!(verdict, "ERROR" | "TIMEOUT" | "STOPPED" | "no_run" | "no_result")
            }
            Self::Failed => !matches!(verdict, "SUCCESS" | "SKIPPED"),
            Self::Flaky => test.passed_after_retry(),
            Self::All => true,
        }
    }
}

impl RerunRequest {
    /// Starts the selected tests again, unless an earlier call has.
    ///
    /// # Errors
    /// Those of the reading and of [`Self::limit`]; `invalid_arguments` with the devices if that of a test is not known; the
    /// failure of the first start if nothing could be started.
    pub(crate) async fn run(mut self) -> Result<Rerun, Failure> {
        let (selected, others): (Vec<_>, Vec<_>) =
            self.read_results().await?.into_iter().partition(|test| self.selection.includes(test));

        let mut tests = self.plan(selected).await?;
        let searches: Vec<_> = tests.iter_mut().map(|test| self.find_earlier(test)).collect();
        stream::iter(searches).buffered(MAX_CONCURRENT_REQUESTS).try_collect::<()>().await?;
        let (earlier, mut new): (Vec<_>, Vec<_>) = tests.into_iter().partition(|test| test.already_started);

        let most = self.limit(new.len())?;
        let mut left_out = BTreeMap::new();
        let reason = format!("not started yet, because this call starts {most}: repeat it");
        let later = new.drain(most..).map(|_| reason.as_str());
        for reason in others.iter().map(TestResult::word).chain(later) {
            *left_out.entry(reason.to_owned()).or_default() += 1;
        }

        let starts: Vec<_> = new.iter_mut().map(|test| self.start(test)).collect();
        let starts = stream::iter(starts).buffered(MAX_CONCURRENT_REQUESTS);
        let failures: Vec<_> = starts.filter_map(ready).collect().await;
        let tests = [earlier, new].concat();
        let all_failed = failures.len() == tests.len();
        let status = match failures.into_iter().next() {
            Some(failure) if all_failed => return Err(failure),
            _ if tests.is_empty() => "nothing_to_start",
            _ if self.is_dry_run => DRY_RUN,
            Some(_) => "incomplete",
            None => "started",
        };

        let job_ids = tests.iter().flat_map(|test| test.job_ids.iter().cloned()).collect();
        Ok(Rerun { status, project_id: self.client.project, tests, job_ids, left_out })
    }

    /// Reads the results. The job of a run takes its place, and later calls go to the project that has answered.
    async fn read_results(&mut self) -> Result<Vec<TestResult>, Failure> {
        let client = &mut self.client;
        let mut record = client.read_result(&self.source).await?;
        client.project = record.project().map(str::to_owned).or(client.project.take());
        if self.source.kind == ResultKind::Run {
            self.source = ResultId::new(ResultKind::Job, record.view::<GetRun>().head.job_id);
            record = client.read_result(&self.source).await?;
        }

        let jobs = match self.source.kind {
            ResultKind::Execution => client.read_list::<ListJobs, _>(&self.source.to_arguments()).await?,
            _ => vec![record.view::<GetJob>()],
        };
        Ok(jobs.iter().map(TestResult::from_job).collect())
    }

    /// Returns the starts: each result with device and build.
    async fn plan(&self, results: Vec<TestResult>) -> Result<Vec<RerunTest>, Failure> {
        if results.is_empty() {
            return Ok(Vec::new());
        }
        let runs = self.client.read_list::<ListRuns, Run>(&self.source.to_arguments()).await?;
        let devices = self.client.read_list::<ListDeploymentConfigs, DeploymentConfig>(&Fields::new()).await;
        // A start on a known device needs no permission to list the devices.
        let devices = if self.device.is_some() { devices.unwrap_or_default() } else { devices? };
        let build = match &self.build {
            Some(id) => Some(BuildName { id: id.clone(), name: self.client.build_name(id).await }),
            None => None,
        };

        let mut tests = Vec::new();
        for result in results {
            let run = runs.iter().find(|run| Some(&run.head.multiplayer_run_id) == result.run_id.as_ref());
            let device = match &self.device {
                Some(id) => devices.iter().find(|device| device.id.eq_ignore_ascii_case(id)),
                None => run.and_then(|run| find_device(run, &devices)),
            };
            let config = self.device.clone().or(device.map(|device| device.id.clone()));
            let config = config.ok_or_else(|| unknown_device(&devices))?;
            let own_build = run.and_then(|run| BuildName::of_run(run.head.build.clone()?)).or(result.build);
            // Other devices refuse a build; if this is not known, it is tried (service.md 11).
            let provider = device.and_then(|device| device.provider_type.as_deref());
            let takes_build = provider.is_none_or(|provider| provider == "build-storage");
            tests.push(RerunTest {
                name: result.name,
                test_id: result.test_id,
                verdict: result.verdict,
                run_id: result.run_id,
                job_id: result.job_id.unwrap_or_default(),
                deployment_config_id: config,
                device: device.map(|device| device.name.clone()),
                build: build.clone().or(own_build.filter(|_| takes_build)),
                ..RerunTest::default()
            });
        }

        Ok(tests)
    }

    /// Adds the jobs that an earlier call has started with the same build.
    async fn find_earlier(&self, test: &mut RerunTest) -> Result<(), Failure> {
        let filter = Fields::from_iter([("tags".to_owned(), json!([tag(test)]))]);
        let mut jobs: Vec<Job> = self.client.read_list::<ListJobs, _>(&filter).await?;
        if let Some(wanted) = &self.build {
            jobs.retain(|job| job.build_id.as_ref().is_some_and(|build| build.eq_ignore_ascii_case(wanted)));
        }
        test.already_started = !jobs.is_empty();
        test.job_ids = jobs.into_iter().map(|job| job.job_id).collect();

        Ok(())
    }

    /// Returns how many of `new` tests this call starts.
    ///
    /// # Errors
    /// `confirmation_required` for many starts to which no person has agreed.
    fn limit(&self, new: usize) -> Result<usize, Failure> {
        let most = new.min(self.max_starts.unwrap_or(MAX_STARTS)).min(MAX_STARTS);
        let is_agreed = self.is_confirmed && self.max_starts.is_some();
        if most > MOST_UNASKED && !is_agreed && !self.is_dry_run {
            let question = format!("rerun_results starts {most} runs without retries; each is billed");
            self.client.require_agreement(question, "max_starts", most)?;
        }

        Ok(most)
    }

    async fn start(&self, test: &mut RerunTest) -> Option<Failure> {
        let operation = StartRun {
            multiplayer_test_id: test.test_id.clone().map(Uuid),
            deployment_config_id: Some(Uuid(test.deployment_config_id.clone())),
            build_id: test.build.clone().map(|build| Uuid(build.id)),
            agent_config_id: self.agent.clone().map(Uuid),
            additional_tags: Some(vec![tag(test)]),
            ..StartRun::default()
        };
        let outcome = if self.is_dry_run {
            self.client.preview(&operation).await.map(|request| test.request = Some(request))
        } else {
            self.client.call(&operation).await.map(|reply| test.job_ids = reply.view::<StartRun>().job_ids)
        };
        test.error = outcome.as_ref().err().map(ToString::to_string);

        outcome.err()
    }
}

fn tag(test: &RerunTest) -> String {
    format!("rerun-of:{}", test.job_id)
}

fn unknown_device(devices: &[DeploymentConfig]) -> Failure {
    let message = "rerun_results: the deployment config of a test is not known: a run names its device only";
    Failure::new(Code::InvalidArguments, message)
        .hint("nothing was started: call again with `argument:deployment_config_id`[[, from `tool:list_deployment_configs`]]")
        .detail("devices", json!(devices))
}
