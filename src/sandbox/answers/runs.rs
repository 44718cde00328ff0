//! Runs, which are attempts of jobs (supplement 2.2 to 2.4).

use crate::{
    sandbox::{
        answers::{
            answer::{Answer, InvalidRequestPolicy},
            answered::Answered,
            api_error::ApiError,
            caller::Caller,
            filters::{has_all_tags, matches_id},
            pages,
            run_view::{RUN_NOT_FOUND, RunView, find_run},
        },
        model::{attempt::RunAttempt, job::Job, moment::Moment, progress::RunProgress, world::World},
    },
    service::api::{
        ListPage,
        runs::{GetRun, ListRuns, Run, RunDetail, RunPlayerDetail, RunStateFilter},
    },
};

impl Answer<ListRuns> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::Ignore;

    fn answer(&mut self, request: ListRuns, caller: &Caller) -> Result<Answered<ListPage<Run>>, ApiError> {
        let (project, now) = (self.project(caller)?, self.now);
        let runs = project.runs(now);
        let matching = runs.iter().filter(|(job, attempt)| matches(&request, job, attempt, now));
        let runs = pages::newest_first(matching, |(_, attempt)| attempt.created);

        Ok(pages::page(runs, request.page, request.page_size, |(job, attempt)| {
            let view = RunView { project, job, attempt, now };
            Run { head: view.head(), players: view.map_players(|player, _, _| player) }
        })
        .into())
    }
}

impl Answer<GetRun> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::NotFound(RUN_NOT_FOUND);

    fn answer(&mut self, request: GetRun, caller: &Caller) -> Result<Answered<RunDetail>, ApiError> {
        let (project, now) = (self.project(caller)?, self.now);
        let (job, attempt) = find_run(project, &request.run_id.0, now)?;
        let view = RunView { project, job, attempt: &attempt, now };

        Ok(RunDetail {
            head: view.head(),
            players: view.map_players(|player, steps, spans| RunPlayerDetail {
                artifacts: view.artifact_refs(&player, steps, spans, &self.knowledge_url),
                steps: view.step_records(steps, spans),
                player,
            }),
            templating_enabled: job.template_data.is_some(),
            template_data: job.template_data.clone(),
        }
        .into())
    }
}

/// Returns whether a run passes every filter of the request.
fn matches(request: &ListRuns, job: &Job, attempt: &RunAttempt, now: Moment) -> bool {
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
        && matches_id(request.test_type.as_deref(), Some(job.test.kind.name()))
        && has_all_tags(&job.tags, request.tags.as_deref())
        && (request.bugs != Some(true) || attempt.findings(now).next().is_some())
}
