//! Runs, which are attempts of jobs, and stops of jobs (service.md 2.2 to 2.4, 2.6).

use axum::http::StatusCode;
use indexmap::IndexSet;

use super::prelude::*;
use super::run_view::{RunView, find_run};
use crate::sandbox::model::job::JobStop;
use crate::service::api::runs::{
    GetRun, ListRuns, Run, RunDetail, RunPlayerDetail, RunStateFilter, StopResult, StopRuns, StopRunsResponse,
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
