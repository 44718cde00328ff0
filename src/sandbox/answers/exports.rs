//! Export to the test-management system (service.md 2.7).

use super::{jobs::EXECUTION_NOT_FOUND, prelude::*, runs::find_run};
use crate::sandbox::model::test_management::ExportBatch;
use crate::service::api::Id;
use crate::service::api::exports::{ExportResult, ExportTmsysRun};

/// Returns the runs with these ids, which must be completed.
fn completed_runs(
    project: &Project,
    ids: impl IntoIterator<Item = Id>,
    now: Moment,
) -> Result<Vec<(&SimulatedJob, RunAttempt)>, ApiError> {
    let completed = |id: Id| {
        let found = find_run(project, &id.0, now)?;
        match found.1.progress(now) {
            RunProgress::Completed => Ok(found),
            _ => Err(ApiError::invalid(format!("run is not completed: {}", id.0))),
        }
    };
    ids.into_iter().map(completed).collect()
}

fn last_completed<'a>(
    project: &'a Project,
    execution: &str,
    now: Moment,
) -> Result<Vec<(&'a SimulatedJob, RunAttempt)>, ApiError> {
    existing(&project.executions, execution, EXECUTION_NOT_FOUND)?;

    // A retried job has several runs. Only the last one counts.
    let done = |job: &SimulatedJob| {
        let attempts = Timeline::from_job(job).into_attempts(now);
        attempts.filter(|run| run.progress(now) == RunProgress::Completed).last()
    };
    Ok(project.jobs_of(execution).filter_map(|job| Some((job, done(job)?))).collect())
}

impl Answer<ExportTmsysRun> for World {
    fn answer(&mut self, request: ExportTmsysRun, caller: &Caller) -> AnswerResult<ExportResult> {
        let project = self.project(caller)?;
        if !project.integration {
            return Err(ApiError::forbidden("integration is not enabled"));
        }

        // A rule of the operation has checked that a request has one source.
        let execution = request.test_plan_execution_id.map(|id| id.0.to_ascii_lowercase());
        let (kind, runs) = if let Some(id) = &execution {
            ("test_plan", last_completed(project, id, self.now)?)
        } else if let Some(ids) = request.multiplayer_run_ids {
            ("multiple_runs", completed_runs(project, ids, self.now)?)
        } else {
            ("single_run", completed_runs(project, request.multiplayer_run_id, self.now)?)
        };

        // Exports of runs always create a new entry (service.md 2.7).
        if let (Some(execution), Some(false)) = (&execution, request.force_new_run)
            && let Some(earlier) = self.test_management.latest_export(execution)
        {
            return Ok(earlier.into());
        }

        let name = request.custom_run_name.map(|name| name.trim().to_owned());
        let mut batch = ExportBatch::new(kind, execution, name);
        for (job, run) in &runs {
            batch.add(job, run);
        }

        Ok(self.test_management.submit(batch).into())
    }
}
