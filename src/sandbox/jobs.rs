//! Jobs (supplement 3).

use std::sync::Arc;

use serde_json::json;

use super::{
    Answer, Answered, Caller, Fault, World,
    attempt::{Attempt, Progress},
    builds::Build,
    clock::Moment,
    configs::{Config, Device},
    lists::{self, carries, passes},
    project::{Dialect, Project, find},
    tests::Test,
    timeline::{Status, Timeline},
};
use crate::{
    fields::Fields,
    service::api::{
        ListPage, Open,
        jobs::{self, GetJob, JobRun, JobStatusFilter, ListJobs, Retries},
        runs::Initiator,
    },
};

/// What was asked for, and when. Everything else about a job follows from it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: String,
    /// Id of the run of the first attempt.
    pub(super) first_run: String,
    /// The test as it was when the job was made.
    pub(super) test: Arc<Test>,
    pub(super) created: Moment,
    pub(super) stopped: Option<Stop>,
    pub(super) retries: u8,
    pub(super) tags: Vec<String>,
    /// Where each player plays.
    pub(super) seats: Vec<Seat>,
    pub(super) execution: Option<String>,
    pub(super) by: Starter,
    /// `None`: templates are not rendered.
    pub(super) template_data: Option<Open>,
    /// Why it never leaves the queue.
    pub(super) rejection: Option<String>,
}

/// When a job was stopped, and with which key.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) at: Moment,
    pub(super) key: String,
}

/// What a player plays on.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) config: Arc<Config>,
    /// `None`: the config has no working one.
    pub(super) device: Option<Device>,
    pub(super) build: Option<Arc<Build>>,
}

/// Who started a job.
#[derive(Clone, Debug)]
pub(super) enum Starter {
    Key(String),
    Person(String),
}

impl Starter {
    /// As records show it.
    pub(super) fn shown(&self) -> Initiator {
        let (kind, name, value) = match self {
            Self::Key(id) => ("api", "key_id", id),
            Self::Person(person) => ("user", "name", person),
        };
        Initiator { r#type: kind.to_owned(), value: Fields::from_iter([(name.to_owned(), json!(value))]) }
    }
}

impl Job {
    /// The build of the first player.
    pub(super) fn build(&self) -> Option<&Arc<Build>> {
        self.seats.first()?.build.as_ref()
    }

    /// Whether one of its attempts has, or may get, this run id.
    pub(super) fn may_have_run(&self, run: &str) -> bool {
        let later = |attempt| super::ids::later_run(&self.first_run, attempt) == run;
        self.first_run == run || (1..=usize::from(self.retries)).any(later)
    }

    fn shown(&self, project: &Project, now: Moment) -> jobs::Job {
        let timeline = Timeline::of(self);
        let status = timeline.status(now);
        let runs: Vec<_> =
            timeline.attempts(now).map(|attempt| self.run(attempt, project.dialect, now)).collect();
        let used = u8::try_from(runs.len().saturating_sub(1)).unwrap_or(u8::MAX);
        let done = status == Status::Completed;

        jobs::Job {
            job_id: self.id.clone(),
            project_id: project.id.clone(),
            status: status.name().to_owned(),
            created_at: self.created.to_string(),
            completed_at: done.then(|| timeline.completed.to_string()),
            multiplayer_test_id: Some(self.test.id.clone()),
            test_name: Some(self.test.name.clone()),
            platform: self.platform(),
            build_id: self.build().map(|build| build.id.clone()),
            test_plan_execution_id: self.execution.clone(),
            queue_rejection_reason: self.rejection.clone().filter(|_| done),
            templating_enabled: self.template_data.is_some(),
            template_data: self.template_data.clone(),
            stopped_by: self.stopped.as_ref().map(|stop| Starter::Key(stop.key.clone()).shown().value),
            tags: self.tags.clone(),
            retries: Some(Retries { total: self.retries, remaining: self.retries.saturating_sub(used) }),
            runs,
        }
    }

    /// The kind of the first player's device; its label where the config has several.
    fn platform(&self) -> Option<String> {
        let seat = self.seats.first()?;
        let label = seat.device.as_ref().filter(|_| seat.config.multi_device).map(|device| &device.label);
        Some(label.unwrap_or(&seat.config.kind).clone())
    }

    fn run(&self, attempt: &Attempt, dialect: Dialect, now: Moment) -> JobRun {
        let progress = attempt.progress(now);
        let done = progress == Progress::Completed;

        JobRun {
            multiplayer_run_id: attempt.id.clone(),
            state: Some(dialect.state(progress.name())),
            result: done.then(|| attempt.ending.name().to_owned()),
            started_at: attempt.started.filter(|at| *at <= now).map(|at| at.to_string()),
            completed_at: done.then(|| attempt.ended.to_string()),
            players: Some(self.test.players.len()),
        }
    }
}

impl Answer<ListJobs> for World {
    fn answer(&mut self, asked: ListJobs, caller: &Caller) -> Result<Answered<ListPage<jobs::Job>>, Fault> {
        let project = self.project(caller)?;
        let wanted = |job: &&Job| {
            passes(asked.test_plan_execution_id.as_ref().map(|id| id.0.as_str()), job.execution.as_deref())
                && passes(asked.multiplayer_test_id.as_ref().map(|id| id.0.as_str()), Some(&job.test.id))
                && carries(&job.tags, asked.tags.as_deref())
                && has_status(job, asked.status.unwrap_or(JobStatusFilter::All), self.now)
        };

        let jobs = lists::newest_first(project.jobs.values().filter(wanted), |job| job.created);

        Ok(lists::page(jobs, asked.page, asked.page_size, |job| job.shown(project, self.now)).into())
    }
}

impl Answer<GetJob> for World {
    fn answer(&mut self, asked: GetJob, caller: &Caller) -> Result<Answered<jobs::Job>, Fault> {
        let project = self.project(caller)?;
        let job = find(&project.jobs, &asked.job_id.0).ok_or_else(|| Fault::not_found("job not found"))?;
        Ok(job.shown(project, self.now).into())
    }
}

fn has_status(job: &Job, filter: JobStatusFilter, now: Moment) -> bool {
    let status = || Timeline::of(job).status(now);
    match filter {
        JobStatusFilter::All => true,
        JobStatusFilter::Queued => status() == Status::Queued,
        JobStatusFilter::Completed => status() == Status::Completed,
        JobStatusFilter::Running => !matches!(status(), Status::Queued | Status::Completed),
    }
}
