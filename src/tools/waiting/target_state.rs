//! The target of a wait, as it was last read.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, future::join_all, stream};

use super::item::{MOST_NAMES, ResultItem, is_completed};
use crate::{
    call::{
        Caller, Reply,
        paging::{MAX_CONCURRENT_REQUESTS, MAX_PAGES, Omission, deduplicate, is_list_missing},
    },
    failure::Failure,
    fields::Fields,
    service::{
        api::{
            Id,
            executions::{GetTestPlanExecution, TestPlanExecution},
            jobs::{GetJob, Job, ListJobs},
            runs::{GetRun, RunDetail},
        },
        lenient::view,
        record_kind::{ResultId, ResultKind, ResultTarget},
    },
    text::filled,
    tools::{
        names::{self, BuildName},
        project_client::ProjectClient,
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
    /// The record of the target as the service wrote it, if the target is a single record.
    resource: Option<Fields>,
    run: Option<ResultItem>,
    execution: Option<TestPlanExecution>,
    /// The builds of the target. Those of jobs have names once the jobs are finished.
    builds: Vec<BuildName>,
    /// The jobs in the list of the execution.
    listed_jobs: Vec<ResultItem>,
    /// Whether the execution has more jobs than are read.
    is_list_longer: bool,
    /// The ids of the jobs that are waited for, each once.
    job_ids: Vec<String>,
    /// The last record of each of these jobs, by the id in lower case: ids are UUIDs.
    jobs: BTreeMap<String, Job>,
    /// The requested job that could not be read in the last poll that failed.
    failed_job: Option<String>,
    /// How far the players of running runs are, by the id of the run.
    steps: BTreeMap<String, String>,
}

impl TargetState {
    /// Creates the state of a target that has not been read yet.
    pub(super) fn new(target: ResultTarget, caller: Caller, project: Option<String>) -> Self {
        let ids = match &target {
            ResultTarget::Single(ResultId { kind: ResultKind::Job, id }) => vec![id.clone()],
            ResultTarget::Jobs(ids) => ids.clone(),
            ResultTarget::Single(_) => Vec::new(),
        };
        let mut job_ids: Vec<String> = Vec::new();
        for id in ids {
            if !job_ids.iter().any(|known| known.eq_ignore_ascii_case(&id)) {
                job_ids.push(id);
            }
        }

        Self {
            target,
            client: ProjectClient { caller, project },
            resource: None,
            run: None,
            execution: None,
            builds: Vec::new(),
            listed_jobs: Vec::new(),
            is_list_longer: false,
            job_ids,
            jobs: BTreeMap::new(),
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
            ResultTarget::Single(_) | ResultTarget::Jobs(_) => self.read_requested_jobs().await,
        }
    }

    async fn read_run(&mut self, target: &ResultId) -> Result<(), Failure> {
        let reply = self.client.read_result(target).await?;
        let run = reply.view::<GetRun>();

        self.steps = describe_steps(&run)
            .map(|steps| (run.head.multiplayer_run_id.clone(), steps))
            .into_iter()
            .collect();
        let devices = names::devices(run.players.iter().map(|player| &player.player));
        self.run =
            Some(ResultItem { platform: filled(&devices.join(", ")), ..ResultItem::from_run(&run.head) });
        self.builds = run.head.build.and_then(BuildName::of_run).into_iter().collect();
        self.resource = fields_of(reply);

        Ok(())
    }

    async fn read_execution(&mut self, target: &ResultId) -> Result<(), Failure> {
        let reply = self.client.read_result(target).await?;

        // The jobs are read after the execution: when an execution is completed, all its jobs are.
        if let Some(list) = list_jobs(&self.client, target).await? {
            self.listed_jobs = list.jobs.iter().map(ResultItem::from_job).collect();
            self.is_list_longer = list.is_longer;
        }
        let execution = reply.view::<GetTestPlanExecution>();
        let build = execution.build_id.clone().map(|id| BuildName { id, name: execution.build_name.clone() });
        self.builds = build.into_iter().collect();
        self.execution = Some(execution);
        self.resource = fields_of(reply);

        Ok(())
    }

    /// Reads every job that is not finished.
    ///
    /// # Errors
    /// The first failure, after all jobs have been tried.
    async fn read_requested_jobs(&mut self) -> Result<(), Failure> {
        let mut missing = self.unfinished_ids();
        let mut failed = Vec::new();
        if self.jobs.is_empty() {
            // The answer about the first job decides the project.
            let others = missing.split_off(missing.len().min(1));
            failed = self.read_jobs(std::mem::replace(&mut missing, others)).await;
        }
        if failed.is_empty() {
            failed = self.read_jobs(missing).await;
        }

        let Some((id, failure)) = failed.into_iter().next() else { return Ok(()) };
        self.failed_job = Some(id.clone());

        Err(failure.detail("job_id", id))
    }

    /// Reads jobs one by one. Returns the jobs that failed, each with its failure.
    async fn read_jobs(&mut self, ids: Vec<String>) -> Vec<(String, Failure)> {
        let client = &self.client;
        let reads = ids.into_iter().map(|id| async move {
            let outcome = client.read_result(&ResultId::new(ResultKind::Job, id.as_str())).await;
            (id, outcome)
        });
        let outcomes: Vec<_> = stream::iter(reads).buffered(MAX_CONCURRENT_REQUESTS).collect().await;
        let mut failed = Vec::new();

        for (id, outcome) in outcomes {
            match outcome {
                Ok(reply) => self.keep_job(id, reply),
                Err(failure) => failed.push((id, failure)),
            }
        }

        failed
    }

    fn keep_job(&mut self, id: String, reply: Reply) {
        if self.client.project.is_none() {
            self.client.project = reply.project().map(str::to_owned);
        }

        self.jobs.insert(id, reply.view::<GetJob>());
        if self.job_ids.len() == 1 {
            self.resource = fields_of(reply);
        }
    }

    /// Returns the ids, in lower case, of the jobs that are not known to be finished.
    fn unfinished_ids(&self) -> Vec<String> {
        let is_finished = |id: &String| self.jobs.get(id).is_some_and(|job| is_completed(Some(&job.status)));
        self.job_ids.iter().map(|id| id.to_ascii_lowercase()).filter(|id| !is_finished(id)).collect()
    }

    /// Reads how far the players of a few running runs are. A run that cannot be read is shown without it.
    pub(super) async fn read_steps(&mut self) {
        let running = self.items().into_iter().filter(ResultItem::is_running);
        let unread = running.filter_map(|item| item.run_id).filter(|_| self.run.is_none());
        let ids: Vec<_> = unread.take(MOST_NAMES).collect();
        if ids.is_empty() {
            return;
        }

        let client = &self.client;
        let reads = ids.into_iter().map(|id| async move {
            let run = client.call(&GetRun { run_id: Id(id.clone()) }).await.ok()?;
            Some((id, describe_steps(&run.view::<GetRun>())?))
        });
        self.steps = join_all(reads).await.into_iter().flatten().collect();
    }

    /// Reads the names of the first builds of the jobs. The record of a job has the id alone, and the key may not read
    /// builds.
    pub(super) async fn name_builds(&mut self) {
        let ids: BTreeSet<_> = self.jobs.values().filter_map(|job| job.build_id.clone()).collect();
        let client = &self.client;
        let reads = ids
            .into_iter()
            .take(MOST_BUILDS)
            .map(|id| async move { BuildName { name: client.build_name(&id).await, id } });
        let builds = join_all(reads).await;
        if !builds.is_empty() {
            self.builds = builds;
        }
    }

    pub(super) fn builds(&self) -> Vec<BuildName> {
        self.builds.clone()
    }

    /// Returns how far the players of running runs are, by the id of the run.
    pub(super) fn steps(&self) -> &BTreeMap<String, String> {
        &self.steps
    }

    pub(super) fn has_answer(&self) -> bool {
        self.resource.is_some() || self.items().iter().any(|item| item.status.is_some())
    }

    /// Returns whether the service has answered about the record that could not be read last, or with its id: it was started
    /// just now, or read before.
    pub(super) fn was_seen(&self) -> bool {
        let caller = &self.client.caller;
        match &self.target {
            ResultTarget::Single(id) if id.kind != ResultKind::Job => {
                self.resource.is_some() || caller.has_seen(id)
            }
            ResultTarget::Single(_) | ResultTarget::Jobs(_) => self.failed_job.as_ref().is_some_and(|id| {
                self.jobs.contains_key(id) || caller.has_seen(&ResultId::new(ResultKind::Job, id.as_str()))
            }),
        }
    }

    /// Returns the jobs, or the run. A running execution whose jobs are not listed is described by its own counts.
    pub(super) fn items(&self) -> Vec<ResultItem> {
        match self.target.kind() {
            Some(ResultKind::Run) => vec![self.run.clone().unwrap_or_else(|| ResultItem {
                run_id: self.target.id().map(str::to_owned),
                ..ResultItem::default()
            })],
            Some(ResultKind::Execution) => {
                let mut items = self.listed_jobs.clone();
                // Those that have not passed come first, because a long reply is cut at its end.
                if items.len() > FITTING_JOBS {
                    items.sort_by_key(ResultItem::has_passed);
                }
                items
            }
            None | Some(ResultKind::Job) => {
                let item = |id: &String| match self.jobs.get(&id.to_ascii_lowercase()) {
                    Some(job) => ResultItem::from_job(job),
                    None => ResultItem { job_id: Some(id.clone()), ..ResultItem::default() },
                };
                self.job_ids.iter().map(item).collect()
            }
        }
    }

    pub(super) fn is_fully_read(&self) -> bool {
        if self.target.kind() == Some(ResultKind::Execution) && self.listed_jobs.is_empty() {
            return self.execution.as_ref().is_some_and(|execution| execution.total_tests.is_some());
        }

        !self.is_list_longer
    }

    /// Returns what was not read, each with the reason.
    pub(super) fn omissions(&self) -> Vec<Omission> {
        let mut omissions = Vec::new();
        if self.is_list_longer {
            omissions.push(Omission {
                what: format!("jobs, page {MAX_PAGES} and after"),
                why: "a wait reads no more pages of a list".to_owned(),
            });
        }

        let missing = self.total_tests().saturating_sub(self.items().len());
        if missing > 0 && !self.is_list_longer {
            omissions.push(Omission {
                what: format!("{missing} tests"),
                why: "they are not in the list of jobs".to_owned(),
            });
        }

        omissions
    }

    /// Returns whether the target is completed. Jobs and executions end by their status, runs by their state
    /// (service.md 3.3).
    pub(super) fn is_finished(&self) -> bool {
        match self.target.kind() {
            Some(ResultKind::Execution) => {
                self.execution.as_ref().is_some_and(|execution| is_completed(Some(&execution.status)))
            }
            _ => self.items().iter().all(ResultItem::is_finished),
        }
    }

    /// Returns the status or state as the service writes it; of several jobs, that of the first unfinished one.
    pub(super) fn last_status(&self) -> Option<String> {
        if self.target.kind() == Some(ResultKind::Execution) {
            let status = self.execution.as_ref().map(|execution| execution.status.clone());
            return status.filter(|status| !status.is_empty());
        }

        let items = self.items();
        let unfinished = items.iter().find(|item| !item.is_finished());
        unfinished.or(items.first()).and_then(|item| item.status.clone())
    }

    /// Returns the record of the target if the target is a single record.
    pub(super) fn resource(&self) -> Option<&Fields> {
        self.resource.as_ref()
    }

    pub(super) fn plan_name(&self) -> Option<String> {
        self.execution.as_ref().and_then(|execution| execution.test_plan_name.clone())
    }

    /// Returns the number of finished tests and the number of all tests.
    pub(super) fn progress(&self) -> (usize, usize) {
        let items = self.items();
        if !items.is_empty() {
            let finished = items.iter().filter(|item| item.is_finished()).count();
            return (finished, items.len().max(self.total_tests()));
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

/// The jobs of an execution.
struct JobList {
    /// In a fixed order.
    jobs: Vec<Job>,
    /// Whether the list has more pages than are read.
    is_longer: bool,
}

/// Reads the jobs of `execution`. Returns `None` if the service does not have the list.
async fn list_jobs(client: &ProjectClient, execution: &ResultId) -> Result<Option<JobList>, Failure> {
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

    Ok(Some(JobList { jobs, is_longer: listed.has_more_pages }))
}

fn fields_of(reply: Reply) -> Option<Fields> {
    match reply.into_value() {
        serde_json::Value::Object(fields) => Some(fields),
        _ => None,
    }
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
