//! Runs, which are attempts of jobs, their records at one moment, and stops of jobs (service.md 2.2 to 2.4, 2.6).

use axum::http::StatusCode;
use indexmap::IndexSet;
use serde_json::{Value, json};

use super::prelude::*;
use crate::fields::Fields;
use crate::sandbox::model::job::{JobStop, PlayerDevice, StepSpan};
use crate::sandbox::model::saved_test::{ScriptedStep, TestKind};
use crate::sandbox::model::test_content::finish_condition;
use crate::sandbox::model::time::duration_ms;
use crate::service::api::runs::{
    BugInfo, BuildRef, GetRun, ListRuns, Run, RunDetail, RunHead, RunPlayer, RunPlayerDetail, RunStateFilter,
    RunStep, RunStepItem, RunStepTest, StopResult, StopRuns, StopRunsResponse, TestRef,
};

impl Answer<ListRuns> for World {
    fn answer(&mut self, request: ListRuns, caller: &Caller) -> AnswerResult<ListPage<Run>> {
        let (project, now) = (self.project(caller)?, self.now);
        let runs = project.runs(now);
        let matching = runs.iter().filter(|(job, attempt)| matches(&request, job, attempt, now));
        let runs = newest_first(matching, |(_, attempt)| attempt.created);

        Ok(page(runs, request.page, request.page_size, |(job, attempt)| {
            let view = RunView { project, job, attempt, now };
            Run { head: view.head(), players: view.map_players(|player, _, _| player), ..Run::default() }
        })
        .into())
    }
}

impl Answer<GetRun> for World {
    fn answer(&mut self, request: GetRun, caller: &Caller) -> AnswerResult<RunDetail> {
        let (project, now) = (self.project(caller)?, self.now);
        let (job, attempt) = find_run(project, &request.run_id.0, now)?;
        let view = RunView { project, job, attempt: &attempt, now };

        Ok(RunDetail {
            head: view.head(),
            players: view.map_players(|player, steps, spans| RunPlayerDetail {
                artifacts: Some(view.artifact_refs(&player, steps, spans, &self.knowledge_url)),
                steps: view.step_records(steps, spans),
                player,
            }),
            templating_enabled: job.template_data.is_some(),
            template_data: job.template_data.clone(),
        }
        .into())
    }
}

fn matches(request: &ListRuns, job: &SimulatedJob, attempt: &RunAttempt, now: Moment) -> bool {
    let progress = attempt.progress(now);
    let state = match request.state {
        Some(RunStateFilter::Running) => progress == RunProgress::Running,
        Some(RunStateFilter::Completed) => progress == RunProgress::Completed,
        Some(RunStateFilter::All) | None => true,
    };

    state
        && matches_id(request.multiplayer_test_id.as_ref().map(|id| id.0.as_str()), Some(&job.test.id))
        && matches_id(request.job_id.as_ref().map(|id| id.0.as_str()), Some(&job.id))
        && matches_id(
            request.test_plan_execution_id.as_ref().map(|id| id.0.as_str()),
            job.execution.as_deref(),
        )
        && matches_id(request.test_type.as_deref(), Some(&wire_name(job.test.kind)))
        && has_all_tags(&job.tags, request.tags.as_deref())
        // The effect of `bugs: false` is uncertain (service.md 2.2). The sandbox does not filter.
        && (request.bugs != Some(true) || attempt.findings(now).next().is_some())
}

impl Answer<StopRuns> for World {
    fn answer(&mut self, request: StopRuns, caller: &Caller) -> AnswerResult<StopRunsResponse> {
        let now = self.now;
        let project = self.project_mut(caller)?;
        // An id that is given twice is stopped once.
        let ids: IndexSet<_> = request.job_ids.iter().map(|id| id.0.to_ascii_lowercase()).collect();
        if !ids.iter().any(|id| project.jobs.contains_key(id)) {
            let message = Some("No matching jobs".to_owned());
            let (received_count, results) = (ids.len(), Vec::new());
            let body = StopRunsResponse { ok: false, message, received_count, stopped_count: 0, results };
            return Ok(Answered::json(StatusCode::NOT_FOUND, body));
        }

        let results: Vec<_> = ids.into_iter().map(|id| stop(project, id, caller, now)).collect();
        let stopped = results.iter().filter(|result| result.ok).count();
        let ok = stopped == results.len();
        let body = StopRunsResponse {
            ok,
            message: Some(format!("Stopped {stopped}/{} job(s)", results.len())),
            received_count: results.len(),
            stopped_count: stopped,
            results,
        };

        Ok(Answered::json(if ok { StatusCode::OK } else { StatusCode::MULTI_STATUS }, body))
    }
}

fn stop(project: &mut Project, id: String, caller: &Caller, now: Moment) -> StopResult {
    let refused = |job_id, status: StatusCode, error: &str| StopResult {
        job_id,
        ok: false,
        status: status.as_u16(),
        message: None,
        error: Some(error.to_owned()),
    };

    let Some(job) = project.jobs.get_mut(&id) else {
        return refused(id, StatusCode::NOT_FOUND, "Job not found");
    };
    if Timeline::from_job(job).status(now) == JobStatus::Completed {
        return refused(id, StatusCode::INTERNAL_SERVER_ERROR, "Job already completed");
    }

    // A job that is already stopped keeps the time and the key of its first stop.
    job.stopped.get_or_insert_with(|| JobStop { at: now, key: caller.key_id.to_owned() });
    let message = Some("Job stopped".to_owned());

    StopResult { job_id: id, ok: true, status: StatusCode::OK.as_u16(), message, error: None }
}

pub(super) const RUN_NOT_FOUND: &str = "run not found";

/// A run with its job and project, as records show them at `now`.
pub(super) struct RunView<'a> {
    pub(super) project: &'a Project,
    pub(super) job: &'a SimulatedJob,
    pub(super) attempt: &'a RunAttempt,
    pub(super) now: Moment,
}

/// Returns the run with `id`, which must exist at `now`, and its job.
pub(super) fn find_run<'a>(
    project: &'a Project,
    id: &str,
    now: Moment,
) -> Result<(&'a SimulatedJob, RunAttempt), ApiError> {
    project.run_by_id(id, now).ok_or_else(|| ApiError::not_found(RUN_NOT_FOUND))
}

impl RunView<'_> {
    pub(super) fn progress(&self) -> RunProgress {
        self.attempt.progress(self.now)
    }

    pub(super) fn is_completed(&self) -> bool {
        self.progress() == RunProgress::Completed
    }

    pub(super) fn head(&self) -> RunHead {
        let (job, attempt) = (self.job, self.attempt);
        let started = attempt.started.filter(|at| *at <= self.now);

        RunHead {
            job_id: job.id.clone(),
            multiplayer_run_id: attempt.id.clone(),
            project_id: self.project.id.clone(),
            state: wire_name(self.progress()),
            result: self.is_completed().then(|| wire_name(attempt.result)),
            bug_info: self.bug_info(),
            test: TestRef {
                id: job.test.id.clone(),
                name: job.test.name.clone(),
                r#type: wire_name(job.test.kind),
            },
            build: job.build().map(|build| BuildRef { id: build.id.clone(), name: Some(build.name.clone()) }),
            created_at: attempt.created.to_string(),
            started_at: started.map(|at| at.to_string()),
            completed_at: self.is_completed().then(|| attempt.ended.to_string()),
            duration_ms: started.filter(|_| self.is_completed()).map(|at| duration_ms(attempt.ended - at)),
            initiator: Some(job.started_by.to_initiator()),
            tags: job.tags.clone(),
        }
    }

    /// Returns the number of detected bugs, for completed verification runs only.
    fn bug_info(&self) -> Option<BugInfo> {
        let count = self.attempt.findings(self.now).count();
        let label = if count == 0 { "no_bugs" } else { "bugs_found" };
        (self.job.test.kind == TestKind::Verification && self.is_completed())
            .then(|| BugInfo { bug_label: label.to_owned(), bug_count: Some(count) })
    }

    pub(super) fn map_players<T>(
        &self,
        to_record: impl Fn(RunPlayer, &[ScriptedStep], &[StepSpan]) -> T,
    ) -> Vec<T> {
        let players = self.job.test.players.iter().zip(&self.attempt.players).enumerate();
        players
            .map(|(index, (player, spans))| to_record(self.player(index, spans), &player.steps, spans))
            .collect()
    }

    /// Returns the record of the player at `index`, with the number of its completed steps by result.
    fn player(&self, index: usize, spans: &[StepSpan]) -> RunPlayer {
        let number = index + 1;
        let device = self.job.player_devices.get(index);
        let results = spans
            .iter()
            .filter(|span| span.progress(self.now) == RunProgress::Completed)
            .filter_map(|span| span.result);
        let mut summary = Fields::new();

        for name in results.map(wire_name) {
            let count = summary.get(&name).and_then(Value::as_u64).unwrap_or(0);
            summary.insert(name, json!(count + 1));
        }

        // The number of completed steps counts only steps that passed (service.md 2.2).
        let passed = summary.get("SUCCESS").and_then(Value::as_u64).unwrap_or(0);

        RunPlayer {
            id: format!("{}-{number}", self.attempt.id),
            state: wire_name(self.progress()),
            result: self.is_completed().then(|| wire_name(self.attempt.player_result(spans))),
            player_number: Some(number),
            test_name: Some(self.job.test.name.clone()),
            composite_test_id: Some(format!("{}-{number}", self.job.test.id)),
            step_count: Some(spans.len()),
            completed_step_count: usize::try_from(passed).ok(),
            step_result_summary: Some(summary),
            platform: device.and_then(platform),
        }
    }
}

/// Returns the platform of a player in one of the shapes that the service may use (service.md 2.2).
fn platform(player_device: &PlayerDevice) -> Option<Fields> {
    let device = player_device.device.as_ref()?;
    let kind = &player_device.config.kind;
    let device = json!({"name": device.label, "os_version": device.os_version});

    json!({"kind": format!("{kind}-native"), "config": {"device": device}}).as_object().cloned()
}

impl RunView<'_> {
    pub(super) fn step_records(&self, steps: &[ScriptedStep], spans: &[StepSpan]) -> Vec<RunStep> {
        let steps = steps.iter().zip(spans).enumerate();
        steps.map(|(index, (step, span))| self.step_record(index + 1, step, *span)).collect()
    }

    fn step_record(&self, number: usize, step: &ScriptedStep, span: StepSpan) -> RunStep {
        let progress = span.progress(self.now);
        let end = span.end.filter(|_| progress == RunProgress::Completed);
        let start = span.start.filter(|at| *at <= self.now);
        let result = span.result.filter(|_| progress == RunProgress::Completed);

        RunStep {
            step_number: Some(number),
            start_time: start.map(|at| at.to_string()),
            end_time: end.filter(|_| start.is_some()).map(|at| at.to_string()),
            duration_ms: end.zip(start).map(|(end, start)| duration_ms(end - start)),
            run_state: wire_name(progress),
            run_result: result.map(wire_name),
            report: result.map(|result| self.report(step, result)),
            items: self.items(number, step, result),
            test: RunStepTest {
                test_step_id: step.id.clone(),
                goal: Some(step.goal.clone()),
                finish_condition: finish_condition(&step.expected),
                test_type: wire_name(self.job.test.kind),
            },
        }
    }

    fn report(&self, step: &ScriptedStep, result: RunResult) -> String {
        match result {
            RunResult::Success => step.report.clone(),
            RunResult::Skipped if result != self.attempt.result => {
                "Not carried out: an earlier step did not pass.".to_owned()
            }
            _ => self.attempt.report.clone(),
        }
    }

    /// Returns the results of the expectations. Returns `None` until the step ends, because an empty list would mean
    /// that the step has no expectations.
    fn items(
        &self,
        number: usize,
        step: &ScriptedStep,
        result: Option<RunResult>,
    ) -> Option<Vec<RunStepItem>> {
        // A step that was not reached has no result. Its items show the result of the run, if the run was cut off.
        let cut = Some(self.attempt.result).filter(|result| self.is_completed() && result.is_cut_off());
        let result = result.or(cut).filter(|_| self.job.test.kind == TestKind::Verification)?;
        let last = step.expected.len().saturating_sub(1);
        let item = |(index, (letter, expected)): (usize, (char, &String))| {
            // A failed step fails at its last expectation, so that the report fits one item.
            let result =
                if result == RunResult::Failed && index < last { RunResult::Success } else { result };
            RunStepItem {
                id: format!("{number}{letter}"),
                expected: expected.clone(),
                status: item_status(result),
                comment: matches!(result, RunResult::Failed | RunResult::Blocked)
                    .then(|| self.attempt.report.clone()),
            }
        };

        Some(('a'..='z').zip(&step.expected).enumerate().map(item).collect())
    }
}

fn item_status(result: RunResult) -> String {
    if result == RunResult::Success { "passed".to_owned() } else { wire_name(result).to_lowercase() }
}
