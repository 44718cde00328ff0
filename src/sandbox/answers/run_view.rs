//! A run at one moment, from which its records are created (service.md 2.2, 2.3).

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    fields::Fields,
    sandbox::{
        answers::api_error::ApiError,
        model::{
            attempt::RunAttempt,
            build::StoredBuild,
            dialect::Dialect,
            job::{PlayerDevice, SimulatedJob},
            moment::{Moment, duration_ms},
            outcome::RunResult,
            progress::RunProgress,
            project::Project,
            saved_test::{ScriptedStep, TestKind},
            step_span::StepSpan,
        },
    },
    service::api::runs::{BugInfo, BuildRef, RunHead, RunPlayer, TestRef},
};

/// Error text of the service for an unknown run.
pub(super) const RUN_NOT_FOUND: &str = "run not found";

/// A run with its job and project, as records show them at `now`.
pub(super) struct RunView<'a> {
    pub(super) project: &'a Project,
    pub(super) job: &'a SimulatedJob,
    pub(super) attempt: &'a RunAttempt,
    pub(super) now: Moment,
}

/// Returns the run with `id` and its job.
///
/// # Errors
///
/// Returns a 404 if the run does not exist at `now`.
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

    /// Returns the fields that lists and details share.
    pub(super) fn head(&self) -> RunHead {
        let (job, attempt) = (self.job, self.attempt);
        let started = attempt.started.filter(|at| *at <= self.now);

        RunHead {
            job_id: job.id.clone(),
            multiplayer_run_id: attempt.id.clone(),
            project_id: self.project.id.clone(),
            state: self.project.dialect.state(self.progress().name()),
            result: self.is_completed().then(|| attempt.result.name().to_owned()),
            bug_info: self.bug_info(),
            test: TestRef {
                id: job.test.id.clone(),
                name: job.test.name.clone(),
                r#type: job.test.kind.name().to_owned(),
            },
            build: job.build().map(build_ref),
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

    /// Passes each player with its steps to `to_record` and returns the records.
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
        let results = spans
            .iter()
            .filter(|span| span.progress(self.now) == RunProgress::Completed)
            .filter_map(|span| span.result);
        let mut summary = Fields::new();

        for name in results.map(RunResult::name) {
            let count = summary.get(name).and_then(Value::as_u64).unwrap_or(0);
            summary.insert(name.to_owned(), json!(count + 1));
        }

        // The number of completed steps counts only steps that passed (service.md 2.2).
        let passed = summary.get("SUCCESS").and_then(Value::as_u64).unwrap_or(0);

        RunPlayer {
            id: format!("{}-{number}", self.attempt.id),
            state: self.project.dialect.state(self.progress().name()),
            result: self.is_completed().then(|| self.attempt.player_result(spans).name().to_owned()),
            player_number: Some(number),
            test_name: Some(self.job.test.name.clone()),
            composite_test_id: Some(format!("{}-{number}", self.job.test.id)),
            step_count: Some(spans.len()),
            completed_step_count: usize::try_from(passed).ok(),
            step_result_summary: Some(summary),
            platform: self
                .job
                .player_devices
                .get(index)
                .and_then(|device| platform(device, self.project.dialect)),
        }
    }
}

fn build_ref(build: &Arc<StoredBuild>) -> BuildRef {
    BuildRef { id: build.id.clone(), name: Some(build.name.clone()) }
}

/// Returns the platform of a player in the shape of the dialect (service.md 2.2).
fn platform(player_device: &PlayerDevice, dialect: Dialect) -> Option<Fields> {
    let device = player_device.device.as_ref()?;
    let kind = &player_device.config.kind;
    let shape = match dialect {
        Dialect::Upper => {
            json!({"kind": format!("{kind}-native"), "config": {"device": {"name": device.label, "os_version": device.os_version}}})
        }
        Dialect::Lower => json!({"type": kind, "device": device.label}),
    };

    shape.as_object().cloned()
}
