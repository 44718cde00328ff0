//! Starts again what did not pass: the tests of a run, a job or an execution of a test plan.
//!
//! Each start has a tag that names the job that it repeats. A repeated call finds the jobs with this tag, so that it starts
//! nothing twice.

use std::{collections::BTreeMap, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with::skip_serializing_none;

use super::{call_options::CallOptions, project_client::ProjectClient, summary::TestResult};
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
        lenient::view,
        result_kind::{ResultId, ResultKind},
        tool::DRY_RUN,
    },
    text::guidance::Guidance,
};

/// Beginning of the tag of a start. The id of the repeated job follows.
const TAG_PREFIX: &str = "rerun-of:";

/// Largest number of starts of one call. A wait takes as many jobs.
const MAX_STARTS: usize = 50;

/// Largest number of starts without a question to the user.
const MOST_UNASKED: usize = 10;

/// Number of requests at the same time.
const PARALLEL_REQUESTS: usize = 4;

/// Time that is left for the last starts before the time limit of the call.
const RESERVE: Duration = Duration::from_secs(10);

/// Build source of the devices that take a build (service.md 11).
const BUILD_STORAGE: &str = "build-storage";

/// Largest number of devices that a failure lists.
const MAX_LISTED: usize = 10;

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
    /// Whether a user has agreed to any number of starts.
    pub(crate) is_confirmed: bool,
}

/// The tests that were started again.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Rerun {
    /// `started`; `incomplete`: see `tests[].error`; `nothing_to_start`; `dry_run`.
    pub status: &'static str,
    pub project_id: Option<String>,
    pub tests: Vec<RerunTest>,
    /// Also those of an earlier equal call.
    pub job_ids: Vec<String>,
    /// Number of other tests by verdict.
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
    /// Returns whether a test is started again. A test that is not finished has no verdict.
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
        let (selected, left_out) = self.select(jobs);
        rerun.left_out = left_out;

        let starts = self.plan(&client, selected).await?;
        let (starts, count) = self.find_new(&client, starts, &mut rerun.left_out).await?;
        self.ask(caller, count)?;

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

    /// Returns the jobs that are started again, and counts the others by their verdict.
    fn select(&self, jobs: Vec<Job>) -> (Vec<(Job, TestResult)>, BTreeMap<String, usize>) {
        let mut left_out = BTreeMap::new();
        let mut selected = Vec::new();
        let mut leave_out = |reason: &str| *left_out.entry(reason.to_owned()).or_default() += 1;

        for job in jobs {
            let test = TestResult::from_job(&job);
            if self.selection.includes(&test) {
                selected.push((job, test));
            } else {
                leave_out(test.verdict.as_deref().unwrap_or("running"));
            }
        }

        (selected, left_out)
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
        let (devices, runs): (_, Vec<Run>) = match self.device {
            // A start with a known device needs no permission to list the devices.
            Some(_) => (devices.unwrap_or_default(), Vec::new()),
            None => (devices?, client.read_list::<ListRuns, _>(&listed.to_arguments()).await?),
        };

        let mut unknown = Vec::new();
        let mut starts = Vec::new();
        for (job, test) in selected {
            let run = runs.iter().find(|run| Some(&run.head.multiplayer_run_id) == test.run_id.as_ref());
            let device = match &self.device {
                Some(id) => devices.iter().find(|device| device.id.eq_ignore_ascii_case(id)),
                None => run.and_then(|run| device_of(run, &devices)),
            };
            match (&self.device, device) {
                (None, None) => unknown.push(test.name.clone()),
                (given, device) => starts.push(self.start_of(job, test, given.as_deref(), device)),
            }
        }

        if unknown.is_empty() { Ok(starts) } else { Err(unknown_devices(&unknown, &devices)) }
    }

    /// Returns the start that repeats `job` on a device, which is given by its id, known by its record, or both.
    fn start_of(
        &self,
        job: Job,
        test: TestResult,
        given: Option<&str>,
        device: Option<&DeploymentConfig>,
    ) -> Start {
        let takes_build = device.is_none_or(|device| device.provider_type.as_deref() == Some(BUILD_STORAGE));
        let build_id = self.build.clone().or(job.build_id.filter(|_| takes_build));
        let config = given.map(str::to_owned).or_else(|| device.map(|device| device.id.clone()));

        let operation = StartRun {
            multiplayer_test_id: job.multiplayer_test_id.map(Uuid),
            deployment_config_id: config.map(Uuid),
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
            ..RerunTest::default()
        };

        Start { test, operation }
    }

    /// Looks for the jobs that earlier calls have started, until there are as many new starts as one call makes. Returns the
    /// starts, and how many of them are new.
    async fn find_new(
        &self,
        client: &ProjectClient,
        starts: Vec<Start>,
        left_out: &mut BTreeMap<String, usize>,
    ) -> Result<(Vec<Start>, usize), Failure> {
        let all = starts.len();
        let searches = stream::iter(starts).map(|start| self.find_earlier(client, start));
        let mut searches = searches.buffered(PARALLEL_REQUESTS);
        let (mut found, mut new) = (Vec::new(), 0);

        while new < MAX_STARTS
            && let Some(start) = searches.try_next().await?
        {
            new += usize::from(!start.test.already_started);
            found.push(start);
        }

        let remaining = all - found.len();
        if remaining > 0 {
            left_out
                .insert(format!("not started yet, because a call starts {MAX_STARTS}: repeat it"), remaining);
        }
        Ok((found, new))
    }

    /// Adds the jobs that an earlier call has started with the same build.
    async fn find_earlier(&self, client: &ProjectClient, mut start: Start) -> Result<Start, Failure> {
        let tags = &start.operation.additional_tags;
        let filter = Fields::from_iter([("tags".to_owned(), json!(tags))]);
        let jobs: Vec<Job> = client.read_list::<ListJobs, _>(&filter).await?;

        let has_build = |job: &Job| self.build.is_none() || job.build_id == self.build;
        start.test.job_ids = jobs.into_iter().filter(has_build).map(|job| job.job_id).collect();
        start.test.already_started = !start.test.job_ids.is_empty();

        Ok(start)
    }

    /// Refuses many starts to which no user has agreed.
    fn ask(&self, caller: &Caller, count: usize) -> Result<(), Failure> {
        if count <= MOST_UNASKED || self.is_dry_run {
            return Ok(());
        }
        caller.require_agreement(self.is_confirmed, || {
            format!("rerun_results starts {count} runs; each is billed")
        })
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
        if self.is_dry_run {
            let preview = client.preview(&operation).await;
            return record(test, preview, |test, request| test.request = Some(request));
        }
        if deadline.is_some_and(|deadline| client.caller.clock().now() >= deadline) {
            test.error = Some("the time limit of the call has passed: repeat the call".to_owned());
            return (test, None);
        }

        let reply = client.call(&operation).await.map(|reply| reply.view::<StartRun>());
        record(test, reply, |test, answer| test.job_ids = answer.job_ids)
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
        self.status = match () {
            () if tests.is_empty() => "nothing_to_start",
            () if is_dry_run => DRY_RUN,
            () if tests.iter().any(|test| test.error.is_some()) => "incomplete",
            () => "started",
        };
        self.next = (!self.job_ids.is_empty()).then(|| {
            "wait until the jobs in `job_ids` have finished[[ with `tool:wait_for_completion`]]".into()
        });
        self.tests = tests;

        Ok(self)
    }
}

/// Adds the outcome of a request to the entry of its test.
fn record<T>(
    mut test: RerunTest,
    outcome: Result<T, Failure>,
    add: impl FnOnce(&mut RerunTest, T),
) -> (RerunTest, Option<Failure>) {
    match outcome {
        Ok(answer) => {
            add(&mut test, answer);
            (test, None)
        }
        Err(failure) => {
            test.error = Some(failure.to_string());
            (test, Some(failure))
        }
    }
}

// The two forms of the platform of a player (service.md 2.3).
#[derive(Default, Deserialize)]
#[serde(default)]
struct Platform {
    kind: Option<String>,
    r#type: Option<String>,
    device: Option<String>,
    config: PlatformConfig,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlatformConfig {
    device: PlatformDevice,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlatformDevice {
    name: Option<String>,
}

/// Returns the device of all players of a run; `None` if it is not known or the players have several.
fn device_of<'a>(run: &Run, devices: &'a [DeploymentConfig]) -> Option<&'a DeploymentConfig> {
    let mut found = run.players.iter().map(|player| find_device(player.platform.as_ref()?, devices));
    let first = found.next()??;

    found.all(|other| other.is_some_and(|other| other.id == first.id)).then_some(first)
}

/// Returns the device with the name in the platform of a player, or else the only one of its kind. A run does not name
/// its deployment config.
fn find_device<'a>(platform: &Open, devices: &'a [DeploymentConfig]) -> Option<&'a DeploymentConfig> {
    let platform: Platform = view(platform);
    let name = platform.config.device.name.or(platform.device);
    let kind = platform.kind.or(platform.r#type)?;
    let family = kind.split('-').next().unwrap_or_default();

    let has_name =
        |device: &&DeploymentConfig| name.as_ref().is_some_and(|name| device.name.eq_ignore_ascii_case(name));
    let is_of_kind = |device: &&DeploymentConfig| {
        device.kind.as_ref().is_some_and(|kind| kind.eq_ignore_ascii_case(family))
    };

    only(devices.iter().filter(has_name)).or_else(|| only(devices.iter().filter(is_of_kind)))
}

/// Returns the only item.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// Returns the failure of tests whose deployment config cannot be found.
fn unknown_devices(tests: &[String], devices: &[DeploymentConfig]) -> Failure {
    let message = format!(
        "rerun_results: the deployment config of {} of the tests is not known: a run names its device only",
        tests.len()
    );
    let shown: Vec<_> = devices.iter().take(MAX_LISTED).collect();
    let shown: Vec<_> = shown.iter().map(|device| json!({"id": device.id, "name": device.name})).collect();

    Failure::new(Code::InvalidArguments, message)
        .hint("nothing was started: call again with `deployment_config_id`[[, from `tool:list_deployment_configs`]]")
        .detail("tests", json!(tests.iter().take(MAX_LISTED).collect::<Vec<_>>()))
        .detail("devices", shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::api::jobs::JobRun;

    #[test]
    fn a_device_is_known_by_its_name_or_if_it_is_the_only_one_of_its_kind() {
        let device = |id: &str, name: &str, kind: &str| DeploymentConfig {
            id: id.to_owned(),
            name: name.to_owned(),
            kind: Some(kind.to_owned()),
            ..DeploymentConfig::default()
        };
        let devices = [
            device("a", "Pixel 8", "android"),
            device("b", "Lab B", "android"),
            device("c", "Tower", "windows"),
        ];

        for (platform, expected) in [
            (json!({"kind": "android-native", "config": {"device": {"name": "pixel 8"}}}), Some("a")),
            (json!({"kind": "android-native", "config": {"device": {"name": "Pixel 9"}}}), None),
            (json!({"type": "windows", "device": "PC 4"}), Some("c")),
            (json!({"type": "windows"}), Some("c")),
            (json!({"type": "linux", "device": {"name": "x"}}), None),
            (json!({}), None),
        ] {
            let found = find_device(platform.as_object().expect("an object"), &devices);
            assert_eq!(found.map(|device| device.id.as_str()), expected, "{platform}");
        }
    }

    #[test]
    fn a_selection_includes_tests_by_their_verdict_and_nothing_that_runs() {
        use RerunSelection::{All, Failed, Flaky, Infrastructure};

        let run = |(place, result): (usize, &&str)| JobRun {
            multiplayer_run_id: place.to_string(),
            state: Some("COMPLETED".to_owned()),
            result: Some((*result).to_owned()),
            started_at: Some(format!("2026-03-01T05:0{place}:00Z")),
            ..JobRun::default()
        };
        for (status, results, expected) in [
            ("COMPLETED", &["TIMEOUT"][..], &[Infrastructure, Failed, All][..]),
            ("COMPLETED", &[], &[Infrastructure, Failed, All]),
            ("COMPLETED", &["BLOCKED"], &[Failed, All]),
            ("COMPLETED", &["ERROR", "MAX_STEPS"], &[Failed, All]),
            ("COMPLETED", &["SKIPPED"], &[All]),
            ("COMPLETED", &["SUCCESS"], &[All]),
            ("COMPLETED", &["ERROR", "SUCCESS"], &[Flaky, All]),
            ("RUNNING", &["ERROR"], &[]),
        ] {
            let runs = results.iter().enumerate().map(run).collect();
            let test = TestResult::from_job(&Job { status: status.to_owned(), runs, ..Job::default() });
            let including = [Infrastructure, Failed, Flaky, All].into_iter();
            let including: Vec<_> = including.filter(|selection| selection.includes(&test)).collect();

            assert_eq!(including, expected, "{status} {results:?}");
        }
    }
}
