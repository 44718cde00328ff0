//! Runs: attempts of jobs, as lists and details show them (supplement 2.2 to 2.4).

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    attempt::{Attempt, Progress, StepSpan},
    builds::Build,
    clock::{Moment, duration_ms},
    jobs::{Job, Seat},
    lists::{self, carries, passes},
    project::{Dialect, Project},
    script::Ending,
    tests::{Kind, Step},
    timeline::Timeline,
};
use crate::{
    fields::Fields,
    service::api::{
        ListPage,
        runs::{
            BugInfo, BuildRef, GetRun, ListRuns, Run, RunDetail, RunHead, RunPlayer, RunPlayerDetail,
            RunStateFilter, TestRef,
        },
    },
};

/// The text of the service for a run that it does not know.
pub(super) const NOT_FOUND: &str = "run not found";

/// An attempt, with what it belongs to, at a moment.
pub(super) struct Seen<'a> {
    pub(super) project: &'a Project,
    pub(super) job: &'a Job,
    pub(super) attempt: &'a Attempt,
    pub(super) now: Moment,
}

impl Project {
    /// Every run that there is by now, with its job; oldest job first.
    pub(super) fn runs(&self, now: Moment) -> Vec<(&Job, Attempt)> {
        self.jobs
            .values()
            .flat_map(|job| Timeline::of(job).into_attempts(now).map(move |run| (job, run)))
            .collect()
    }

    /// The run of that id, if there is one by now.
    pub(super) fn run(&self, id: &str, now: Moment) -> Result<(&Job, Attempt), Fault> {
        let jobs = self.jobs.values().filter(|job| job.may_have_run(id));
        let mut runs = jobs.flat_map(|job| Timeline::of(job).into_attempts(now).map(move |run| (job, run)));
        runs.find(|(_, run)| run.id == id).ok_or_else(|| Fault::not_found(NOT_FOUND))
    }
}

impl Answer<ListRuns> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(&mut self, asked: ListRuns, caller: &Caller) -> Result<Answered<ListPage<Run>>, Fault> {
        let (project, now) = (self.project(caller)?, self.now);
        let runs = project.runs(now);
        let wanted = runs.iter().filter(|(job, attempt)| wants(&asked, job, attempt, now));
        let runs = lists::newest_first(wanted, |(_, attempt)| attempt.created);

        Ok(lists::page(runs, asked.page, asked.page_size, |(job, attempt)| {
            let seen = Seen { project, job, attempt, now };
            Run { head: seen.head(), players: seen.players(|player, _, _| player) }
        })
        .into())
    }
}

impl Answer<GetRun> for World {
    const INVALID: Invalid = Invalid::NotFound(NOT_FOUND);

    fn answer(&mut self, asked: GetRun, caller: &Caller) -> Result<Answered<RunDetail>, Fault> {
        let (project, now) = (self.project(caller)?, self.now);
        let (job, attempt) = project.run(&asked.run_id.0, now)?;
        let seen = Seen { project, job, attempt: &attempt, now };

        Ok(RunDetail {
            head: seen.head(),
            players: seen.players(|player, steps, spans| RunPlayerDetail {
                artifacts: seen.artifacts(&player, steps, spans, &self.knowledge_url),
                steps: seen.steps(steps, spans),
                player,
            }),
            templating_enabled: job.template_data.is_some(),
            template_data: job.template_data.clone(),
        }
        .into())
    }
}

fn wants(asked: &ListRuns, job: &Job, attempt: &Attempt, now: Moment) -> bool {
    let progress = attempt.progress(now);
    let state = match asked.state {
        Some(RunStateFilter::Running) => progress == Progress::Running,
        Some(RunStateFilter::Completed) => progress == Progress::Completed,
        Some(RunStateFilter::All) | None => true,
    };

    state
        && passes(asked.multiplayer_test_id.as_ref().map(|id| id.0.as_str()), Some(&job.test.id))
        && passes(asked.job_id.as_ref().map(|id| id.0.as_str()), Some(&job.id))
        && passes(asked.test_plan_execution_id.as_ref().map(|id| id.0.as_str()), job.execution.as_deref())
        && passes(asked.test_type.as_deref(), Some(job.test.kind.name()))
        && carries(&job.tags, asked.tags.as_deref())
        && (asked.bugs != Some(true) || attempt.findings(now).next().is_some())
}

impl Seen<'_> {
    /// How far the run is.
    pub(super) fn progress(&self) -> Progress {
        self.attempt.progress(self.now)
    }

    /// Whether the run is completed.
    pub(super) fn is_done(&self) -> bool {
        self.progress() == Progress::Completed
    }

    fn head(&self) -> RunHead {
        let (job, attempt) = (self.job, self.attempt);
        let started = attempt.started.filter(|at| *at <= self.now);

        RunHead {
            job_id: job.id.clone(),
            multiplayer_run_id: attempt.id.clone(),
            project_id: self.project.id.clone(),
            state: self.project.dialect.state(self.progress().name()),
            result: self.is_done().then(|| attempt.ending.name().to_owned()),
            bug_info: self.bug_info(),
            test: TestRef {
                id: job.test.id.clone(),
                name: job.test.name.clone(),
                r#type: job.test.kind.name().to_owned(),
            },
            build: job.build().map(build_ref),
            created_at: attempt.created.to_string(),
            started_at: started.map(|at| at.to_string()),
            completed_at: self.is_done().then(|| attempt.ended.to_string()),
            duration_ms: started.filter(|_| self.is_done()).map(|at| duration_ms(attempt.ended - at)),
            initiator: Some(job.by.shown()),
            tags: job.tags.clone(),
        }
    }

    fn bug_info(&self) -> Option<BugInfo> {
        let count = self.attempt.findings(self.now).count();
        let label = if count == 0 { "no_bugs" } else { "bugs_found" };
        (self.job.test.kind == Kind::Verification && self.is_done())
            .then(|| BugInfo { bug_label: label.to_owned(), bug_count: count })
    }

    /// The players in the form that `form` gives them.
    pub(super) fn players<T>(&self, form: impl Fn(RunPlayer, &[Step], &[StepSpan]) -> T) -> Vec<T> {
        let players = self.job.test.players.iter().zip(&self.attempt.players).enumerate();
        players
            .map(|(index, (player, spans))| form(self.player(index, spans), &player.steps, spans))
            .collect()
    }

    fn player(&self, index: usize, spans: &[StepSpan]) -> RunPlayer {
        let number = index + 1;
        let results = spans
            .iter()
            .filter(|span| span.progress(self.now) == Progress::Completed)
            .filter_map(|span| span.ending);
        let mut summary = Fields::new();

        for name in results.map(Ending::name) {
            let count = summary.get(name).and_then(Value::as_u64).unwrap_or(0);
            summary.insert(name.to_owned(), json!(count + 1));
        }

        let passed = summary.get("SUCCESS").and_then(Value::as_u64).unwrap_or(0);

        RunPlayer {
            id: format!("{}-{number}", self.attempt.id),
            state: self.project.dialect.state(self.progress().name()),
            result: self.is_done().then(|| self.attempt.ending_of(spans).name().to_owned()),
            player_number: number,
            test_name: Some(self.job.test.name.clone()),
            composite_test_id: Some(format!("{}-{number}", self.job.test.id)),
            step_count: Some(spans.len()),
            completed_step_count: usize::try_from(passed).ok(),
            step_result_summary: Some(summary),
            platform: self.job.seats.get(index).and_then(|seat| platform(seat, self.project.dialect)),
        }
    }
}

fn build_ref(build: &Arc<Build>) -> BuildRef {
    BuildRef { id: build.id.clone(), name: Some(build.name.clone()) }
}

/// The two documented shapes of a player's platform (supplement 2.2).
fn platform(seat: &Seat, dialect: Dialect) -> Option<Fields> {
    let device = seat.device.as_ref()?;
    let kind = &seat.config.kind;
    let shape = match dialect {
        Dialect::Upper => {
            json!({"kind": format!("{kind}-native"), "config": {"device": {"name": device.label, "os_version": device.os_version}}})
        }
        Dialect::Lower => json!({"type": kind, "device": device.label}),
    };

    shape.as_object().cloned()
}
