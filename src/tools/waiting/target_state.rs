//! The target of a wait, as it was last read.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, future::join_all, stream};

use super::item::{MOST_NAMES, ResultItem, is_completed};
use crate::{
    call::{
        Caller, Reply,
        paging::{MAX_CONCURRENT_REQUESTS, MAX_PAGES, deduplicate, is_list_missing},
    },
    failure::Failure,
    service::{
        api::{
            Id,
            jobs::{GetJob, GetTestPlanExecution, Job, ListJobs, TestPlanExecution},
            runs::{GetRun, RunDetail},
        },
        lenient::view,
        record_kind::{ResultId, ResultKind, ResultTarget},
    },
    text::filled,
    tools::{
        names::{self, BuildName},
        project_client::ProjectClient,
        unread::{Missing, Unread},
    },
};

/// Number of jobs that fit into one reply.
const FITTING_JOBS: usize = 50;

/// Largest number of builds whose names are looked up.
const MOST_BUILDS: usize = 3;

/// Largest number of players whose progress is shown.
const MOST_PLAYERS: usize = 8;

/// The target of a wait, as it was last read.
#[derive(Debug)]
pub(super) struct TargetState {
    pub(super) target: ResultTarget,
    client: ProjectClient,
    /// The run; the requested jobs, each once; or the jobs in the list of the execution. One that is not read has no status.
    pub(super) items: Vec<ResultItem>,
    /// Whether the execution has more jobs than are read.
    is_list_longer: bool,
    execution: Option<TestPlanExecution>,
    /// The builds of the target. Those of jobs have names once the jobs are finished.
    pub(super) builds: Vec<BuildName>,
    /// The ids of the builds of the requested jobs.
    build_ids: BTreeSet<String>,
    /// The requested job that could not be read in the last poll that failed.
    failed_job: Option<String>,
    /// How far the players of running runs are, by the id of the run.
    pub(super) steps: BTreeMap<String, String>,
}

impl TargetState {
    /// Creates the state of a target that has not been read yet.
    pub(super) fn new(target: ResultTarget, caller: Caller, project: Option<String>) -> Self {
        let job = |id: &String| ResultItem { job_id: Some(id.clone()), ..ResultItem::default() };
        let run = |id: &String| ResultItem { run_id: Some(id.clone()), ..ResultItem::default() };
        let items = match &target {
            ResultTarget::Single(ResultId { kind: ResultKind::Run, id }) => vec![run(id)],
            ResultTarget::Single(ResultId { kind: ResultKind::Job, id }) => vec![job(id)],
            ResultTarget::Single(_) => Vec::new(),
            ResultTarget::Jobs(ids) => {
                // The ids are UUIDs, in either letter case.
                let mut known = BTreeSet::new();
                ids.iter().filter(|id| known.insert(id.to_ascii_lowercase())).map(job).collect()
            }
        };

        Self {
            target,
            client: ProjectClient { caller, project },
            items,
            is_list_longer: false,
            execution: None,
            builds: Vec::new(),
            build_ids: BTreeSet::new(),
            failed_job: None,
            steps: BTreeMap::new(),
        }
    }

    /// Reads the target once. Records that were read before a failure are kept.
    pub(super) async fn poll_once(&mut self) -> Result<(), Failure> {
        match self.target.clone() {
            ResultTarget::Single(run) if run.kind == ResultKind::Run => self.read_run(&run).await,
            ResultTarget::Single(execution) if execution.kind == ResultKind::Execution => {
                self.read_execution(&execution).await
            }
            ResultTarget::Single(_) | ResultTarget::Jobs(_) => self.read_unfinished_jobs().await,
        }
    }

    async fn read_run(&mut self, target: &ResultId) -> Result<(), Failure> {
        let reply = self.client.read_result(target).await?;
        let run = reply.view::<GetRun>();

        let steps = describe_steps(&run).map(|steps| (run.head.multiplayer_run_id.clone(), steps));
        self.steps = steps.into_iter().collect();
        let devices = names::devices(run.players.iter().map(|player| &player.player));
        let item = ResultItem { platform: filled(&devices.join(", ")), ..ResultItem::from_run(&run.head) };
        self.items = vec![item];
        self.builds = run.head.build.and_then(BuildName::of_run).into_iter().collect();

        Ok(())
    }

    async fn read_execution(&mut self, target: &ResultId) -> Result<(), Failure> {
        let reply = self.client.read_result(target).await?;

        // The jobs are read after the execution: when an execution is completed, all its jobs are.
        if let Some((jobs, is_longer)) = list_jobs(&self.client, target).await? {
            self.items = jobs.iter().map(ResultItem::from_job).collect();
            self.is_list_longer = is_longer;
            // Those that have not passed come first, because a long reply is cut at its end.
            if self.items.len() > FITTING_JOBS {
                self.items.sort_by_key(ResultItem::has_passed);
            }
        }
        let execution = reply.view::<GetTestPlanExecution>();
        let build = execution.build_id.clone().map(|id| BuildName { id, name: execution.build_name.clone() });
        self.builds = build.into_iter().collect();
        self.execution = Some(execution);

        Ok(())
    }

    /// Reads every requested job that is not finished.
    ///
    /// # Errors
    /// The first failure, after all jobs have been tried.
    async fn read_unfinished_jobs(&mut self) -> Result<(), Failure> {
        let unfinished = (0..).zip(&self.items).filter(|(_, item)| !item.is_finished());
        let mut jobs: Vec<_> =
            unfinished.filter_map(|(place, item)| Some((place, item.job_id.clone()?))).collect();
        if !self.has_answer() {
            // The answer about the first job decides the project.
            let others = jobs.split_off(jobs.len().min(1));
            self.read_jobs(std::mem::replace(&mut jobs, others)).await?;
        }

        self.read_jobs(jobs).await
    }

    /// Reads the jobs with these ids, each for its place among the items.
    async fn read_jobs(&mut self, jobs: Vec<(usize, String)>) -> Result<(), Failure> {
        let client = &self.client;
        let reads = jobs.into_iter().map(|(place, id)| async move {
            let reply = client.read_result(&ResultId::new(ResultKind::Job, &id)).await;
            (place, id, reply)
        });
        let replies: Vec<_> = stream::iter(reads).buffered(MAX_CONCURRENT_REQUESTS).collect().await;

        let mut result = Ok(());
        for (place, id, reply) in replies {
            match reply {
                Ok(reply) => self.keep_job(place, id, &reply),
                Err(failure) if result.is_ok() => {
                    result = Err(failure.detail("job_id", &*id));
                    self.failed_job = Some(id);
                }
                Err(_) => {}
            }
        }
        result
    }

    fn keep_job(&mut self, place: usize, id: String, reply: &Reply) {
        if self.client.project.is_none() {
            self.client.project = reply.project().map(str::to_owned);
        }

        let job = reply.view::<GetJob>();
        let read = ResultItem::from_job(&job);
        if let Some(item) = self.items.get_mut(place) {
            *item = ResultItem { job_id: read.job_id.or(Some(id)), ..read };
        }
        self.build_ids.extend(job.build_id);
    }

    /// Reads how far the players of a few running runs are. A run that cannot be read is shown without it.
    pub(super) async fn read_steps(&mut self) {
        // The record of a run that is waited for has them.
        if self.target.kind() == Some(ResultKind::Run) {
            return;
        }

        let client = &self.client;
        let running = self.items.iter().filter(|item| item.is_running());
        let reads = running.filter_map(|item| item.run_id.clone()).take(MOST_NAMES).map(|id| async move {
            let run = client.call(&GetRun { run_id: Id(id.clone()) }).await.ok()?;
            Some((id, describe_steps(&run.view::<GetRun>())?))
        });
        self.steps = join_all(reads).await.into_iter().flatten().collect();
    }

    /// Reads the names of the first builds of the jobs. The record of a job has the id alone, and the key may not read
    /// builds.
    pub(super) async fn name_builds(&mut self) {
        let client = &self.client;
        let ids = self.build_ids.iter().take(MOST_BUILDS);
        let reads =
            ids.map(|id| async move { BuildName { id: id.clone(), name: client.build_name(id).await } });
        let builds = join_all(reads).await;
        if !builds.is_empty() {
            self.builds = builds;
        }
    }

    pub(super) fn has_answer(&self) -> bool {
        self.execution.is_some() || self.items.iter().any(|item| item.status.is_some())
    }

    /// Returns whether the service has answered about the record that could not be read last, or with its id: it was started
    /// just now, or read before.
    pub(super) fn was_seen(&self) -> bool {
        let caller = &self.client.caller;
        match (&self.target, &self.failed_job) {
            (ResultTarget::Single(id), _) => self.has_answer() || caller.scope.has_seen(id),
            (ResultTarget::Jobs(_), Some(id)) => {
                let is_read = |item: &ResultItem| item.job_id.as_ref() == Some(id) && item.status.is_some();
                self.items.iter().any(is_read)
                    || caller.scope.has_seen(&ResultId::new(ResultKind::Job, id.as_str()))
            }
            (ResultTarget::Jobs(_), None) => false,
        }
    }

    pub(super) fn is_fully_read(&self) -> bool {
        if self.target.kind() == Some(ResultKind::Execution) && self.items.is_empty() {
            return self.execution.as_ref().is_some_and(|execution| execution.total_tests.is_some());
        }

        !self.is_list_longer
    }

    pub(super) fn missing(&self) -> Missing {
        let mut unread = Unread::default();
        let missing = self.total_tests().saturating_sub(self.items.len());
        if self.is_list_longer {
            unread.cut(&format!("jobs, page {MAX_PAGES} and after"), "a wait reads no more pages of a list");
        } else if missing > 0 {
            unread.omit(&format!("{missing} tests"), "", "they are not in the list of jobs");
        }

        unread.into()
    }

    /// Returns whether the target is completed. Jobs and executions end by their status, runs by their state
    /// (service.md 3.3).
    pub(super) fn is_finished(&self) -> bool {
        match self.target.kind() {
            Some(ResultKind::Execution) => {
                self.execution.as_ref().is_some_and(|execution| is_completed(Some(&execution.status)))
            }
            _ => self.items.iter().all(ResultItem::is_finished),
        }
    }

    /// Returns the status or state as the service writes it; of several jobs, that of the first unfinished one.
    pub(super) fn last_status(&self) -> Option<String> {
        if self.target.kind() == Some(ResultKind::Execution) {
            let status = self.execution.as_ref().map(|execution| execution.status.clone());
            return status.filter(|status| !status.is_empty());
        }

        let unfinished = self.items.iter().find(|item| !item.is_finished());
        unfinished.or(self.items.first()).and_then(|item| item.status.clone())
    }

    pub(super) fn plan_name(&self) -> Option<String> {
        self.execution.as_ref().and_then(|execution| execution.test_plan_name.clone())
    }

    /// Returns the number of finished tests and the number of all tests.
    pub(super) fn progress(&self) -> (usize, usize) {
        if !self.items.is_empty() {
            let finished = self.items.iter().filter(|item| item.is_finished()).count();
            return (finished, self.items.len().max(self.total_tests()));
        }

        let finished: usize = self.verdict_counts().into_iter().map(|(_, count)| count).sum();

        (finished, self.total_tests().max(finished))
    }

    /// Returns the number of finished tests for each verdict that occurs, according to the record of the execution
    /// (service.md 5.1).
    pub(super) fn verdict_counts(&self) -> Vec<(&'static str, usize)> {
        self.execution.as_ref().map(|execution| execution.test_status.verdict_counts()).unwrap_or_default()
    }

    fn total_tests(&self) -> usize {
        self.execution.as_ref().and_then(|execution| execution.total_tests).unwrap_or_default()
    }
}

/// Reads the jobs of `execution`, in a fixed order, and whether it has more. Returns `None` if the service does not have the
/// list.
async fn list_jobs(
    client: &ProjectClient,
    execution: &ResultId,
) -> Result<Option<(Vec<Job>, bool)>, Failure> {
    let listed = match client.list::<ListJobs>(&execution.to_arguments()).await {
        Ok(listed) => listed,
        Err(failure) if is_list_missing(failure.code) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    // An incomplete list could end the wait too early.
    if let Some((_, failure)) = listed.failed_pages.into_iter().next() {
        return Err(failure);
    }

    let records = deduplicate(listed.records, "job_id");
    let mut jobs: Vec<Job> = records.iter().map(view).collect();
    jobs.sort_by_cached_key(|job| (job.created_at.clone(), job.test_name.clone(), job.job_id.clone()));

    Ok(Some((jobs, listed.has_more_pages)))
}

/// Returns how far each player of a run is, for users; `None` if the service does not say so (service.md 2.2).
pub(super) fn describe_steps(run: &RunDetail) -> Option<String> {
    let players = run.players.iter().take(MOST_PLAYERS);
    let steps: Option<Vec<_>> = players
        .map(|player| {
            let player = &player.player;
            Some(format!("{} of {}", player.completed_step_count?, player.step_count?))
        })
        .collect();

    match steps?.as_slice() {
        [] => None,
        [only] => Some(format!("step {only}")),
        several => Some(format!("steps of the players: {}", several.join(", "))),
    }
}
