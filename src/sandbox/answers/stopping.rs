//! Stopping jobs (supplement 2.6).

use http::StatusCode;
use indexmap::IndexSet;

use crate::{
    sandbox::{
        answers::{
            answer::{Answer, InvalidRequestPolicy},
            answered::Answered,
            api_error::ApiError,
            caller::Caller,
        },
        model::{
            job::{Job, JobStop},
            moment::Moment,
            project::Project,
            timeline::{JobStatus, Timeline},
            world::World,
        },
    },
    service::api::runs::{StopResult, StopRuns, StopRunsResponse},
};

impl Answer<StopRuns> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::NotFound("no matching jobs");

    fn answer(&mut self, request: StopRuns, caller: &Caller) -> Result<Answered<StopRunsResponse>, ApiError> {
        let now = self.now;
        let project = self.project_mut(caller)?;
        let ids: IndexSet<_> = request.job_ids.iter().map(|id| id.0.to_ascii_lowercase()).collect();
        if !ids.iter().any(|id| project.jobs.contains_key(id)) {
            return Ok(Answered::json(StatusCode::NOT_FOUND, no_match(ids.len())));
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

fn no_match(received_count: usize) -> StopRunsResponse {
    let message = Some("No matching jobs".to_owned());
    StopRunsResponse { ok: false, message, received_count, stopped_count: 0, results: Vec::new() }
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

    mark(job, caller, now);
    let message = Some("Job stopped".to_owned());

    StopResult { job_id: id, ok: true, status: StatusCode::OK.as_u16(), message, error: None }
}

/// Marks a job as stopped. A job that is already stopped keeps its first mark.
fn mark(job: &mut Job, caller: &Caller, now: Moment) {
    job.stopped.get_or_insert_with(|| JobStop { at: now, key: caller.key_id.to_owned() });
}
