//! Export to the test-management system (service.md 2.7).

use super::{executions, prelude::*, run_view::find_run};
use crate::sandbox::model::test_management::ExportBatch;
use crate::service::api::exports::{ExportResult, ExportTmsysRun};

enum ExportSource {
    Run(String),
    Runs(Vec<String>),
    Execution(String),
}

impl ExportSource {
    fn from_request(request: &ExportTmsysRun) -> Option<Self> {
        let run = request.multiplayer_run_id.as_ref().map(|id| Self::Run(id.0.clone()));
        let runs = request.multiplayer_run_ids.as_ref();
        let runs = runs.map(|ids| Self::Runs(ids.iter().map(|id| id.0.clone()).collect()));
        let execution = request.test_plan_execution_id.as_ref();
        run.or(runs).or(execution.map(|id| Self::Execution(id.0.to_ascii_lowercase())))
    }

    fn kind(&self) -> (&'static str, Option<String>) {
        match self {
            Self::Run(_) => ("single_run", None),
            Self::Runs(_) => ("multiple_runs", None),
            Self::Execution(id) => ("test_plan", Some(id.clone())),
        }
    }

    fn runs<'a>(
        &self,
        project: &'a Project,
        now: Moment,
    ) -> Result<Vec<(&'a SimulatedJob, RunAttempt)>, ApiError> {
        let ids = match self {
            Self::Run(id) => std::slice::from_ref(id),
            Self::Runs(ids) => ids.as_slice(),
            Self::Execution(id) => return last_completed(project, id, now),
        };
        let runs: Vec<_> = ids.iter().map(|id| find_run(project, id, now)).collect::<Result<_, _>>()?;

        match runs.iter().find(|(_, run)| run.progress(now) != RunProgress::Completed) {
            Some((_, run)) => Err(ApiError::invalid(format!("run is not completed: {}", run.id))),
            None => Ok(runs),
        }
    }
}

/// Returns the last completed run of each job of an execution.
fn last_completed<'a>(
    project: &'a Project,
    execution: &str,
    now: Moment,
) -> Result<Vec<(&'a SimulatedJob, RunAttempt)>, ApiError> {
    existing(&project.executions, execution, executions::NOT_FOUND)?;

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

        // The rule of the operation has already refused a request without a source.
        let source = ExportSource::from_request(&request).ok_or_else(|| ApiError::invalid("no source"))?;
        let runs = source.runs(project, self.now)?;
        let name = request.custom_run_name.map(|name| name.trim().to_owned());
        let (kind, execution) = source.kind();
        let mut batch = ExportBatch::new(kind, execution, name);

        for (job, run) in &runs {
            batch.add(job, run);
        }

        // Exports of runs always create a new entry (service.md 2.7).
        if let Some(execution) = &batch.execution {
            let earlier = self
                .test_management
                .latest_export(execution)
                .filter(|_| request.force_new_run == Some(false));
            if let Some(earlier) = earlier {
                return Ok(earlier.into());
            }
        }

        Ok(self.test_management.submit(batch).into())
    }
}
