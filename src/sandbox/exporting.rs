//! Export to the test-management system (specification, POST runs/export; supplement 2.7).

use http::StatusCode;

use super::{
    Answer, Answered, Caller, Fault, World,
    attempt::{Attempt, Progress},
    clock::Moment,
    executions,
    jobs::Job,
    project::{Project, find},
    remote::Batch,
    timeline::Timeline,
};
use crate::service::api::exports::{ExportResult, ExportTmsysRun};

/// Text of the service while an export of the same execution is in progress (supplement 1.5).
const IN_PROGRESS: &str = "an export for this test plan is already in progress";

/// The three sources of an export.
enum Source {
    Run(String),
    Runs(Vec<String>),
    Execution(String),
}

impl Source {
    fn of(asked: &ExportTmsysRun) -> Option<Self> {
        let run = asked.multiplayer_run_id.as_ref().map(|id| Self::Run(id.0.clone()));
        let runs = asked.multiplayer_run_ids.as_ref();
        let runs = runs.map(|ids| Self::Runs(ids.iter().map(|id| id.0.clone()).collect()));
        let execution = asked.test_plan_execution_id.as_ref();
        run.or(runs).or(execution.map(|id| Self::Execution(id.0.to_ascii_lowercase())))
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Run(_) => "single_run",
            Self::Runs(_) => "multiple_runs",
            Self::Execution(_) => "test_plan",
        }
    }

    fn execution(&self) -> Option<String> {
        match self {
            Self::Execution(id) => Some(id.clone()),
            Self::Run(_) | Self::Runs(_) => None,
        }
    }

    /// The completed runs of this source.
    fn runs<'a>(&self, project: &'a Project, now: Moment) -> Result<Vec<(&'a Job, Attempt)>, Fault> {
        let ids = match self {
            Self::Run(id) => std::slice::from_ref(id),
            Self::Runs(ids) => ids.as_slice(),
            Self::Execution(id) => return last_completed(project, id, now),
        };
        let runs: Vec<_> = ids.iter().map(|id| project.run(id, now)).collect::<Result<_, _>>()?;

        match runs.iter().find(|(_, run)| run.progress(now) != Progress::Completed) {
            Some((_, run)) => Err(Fault::invalid(format!("run is not completed: {}", run.id))),
            None => Ok(runs),
        }
    }
}

/// The last completed run of each job of an execution.
fn last_completed<'a>(
    project: &'a Project,
    execution: &str,
    now: Moment,
) -> Result<Vec<(&'a Job, Attempt)>, Fault> {
    if find(&project.executions, execution).is_none() {
        return Err(Fault::not_found(executions::NOT_FOUND));
    }

    let done = |job: &Job| {
        let attempts = Timeline::of(job).into_attempts(now);
        attempts.filter(|run| run.progress(now) == Progress::Completed).last()
    };
    Ok(project.jobs_of(execution).filter_map(|job| Some((job, done(job)?))).collect())
}

impl Answer<ExportTmsysRun> for World {
    fn answer(&mut self, asked: ExportTmsysRun, caller: &Caller) -> Result<Answered<ExportResult>, Fault> {
        let project = self.project(caller)?;
        if !project.integration {
            return Err(Fault::forbidden("integration is not enabled"));
        }

        let source = Source::of(&asked).ok_or_else(|| Fault::invalid("no source"))?;
        let runs = source.runs(project, self.now)?;
        let name = asked.custom_run_name.map(|name| name.trim().to_owned());
        let mut batch = Batch::new(source.name(), source.execution(), name);

        for (job, run) in &runs {
            batch.add(job, run);
        }

        if let Some(execution) = &batch.execution {
            if self.remote.is_busy_with(execution) {
                return Err(Fault::new(StatusCode::CONFLICT, IN_PROGRESS));
            }
            let earlier = self.remote.earlier(execution).filter(|_| asked.force_new_run == Some(false));
            if let Some(earlier) = earlier {
                return Ok(earlier.into());
            }
        }

        Ok(self.remote.submit(batch).into())
    }
}
