//! Jobs, and the executions of plans to which they belong (service.md 3, 5). The timeline of a job is a pure function of the job and the
//! scripted outcomes of its test.
//!
//! A timeline covers the time from the creation to the completion of the job, including the future. Answers contain the
//! part before `now`. An attempt is a run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::fields::Fields;
use crate::sandbox::model::builds::{Device, DeviceConfig, StoredBuild};
use crate::sandbox::model::records::later_run_id;
use crate::sandbox::model::saved_test::{BugFinding, RunResult, SavedTest, ScriptedOutcome, ScriptedPlayer};
use crate::sandbox::model::time::{Millis, Moment};
use crate::service::api::Open;
use crate::service::api::runs::Initiator;

/// `queue_rejection_reason` of a job without a working device.
pub(crate) const NO_DEVICE: &str = "no_device_available";

/// A job as it was requested, and whether it was stopped. The timeline of the job follows from these facts.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedJob {
    pub(crate) id: String,
    /// Id of the run of the first attempt.
    pub(crate) first_run: String,
    /// The test as it was when the job was created.
    pub(crate) test: Arc<SavedTest>,
    pub(crate) created: Moment,
    pub(crate) stopped: Option<JobStop>,
    pub(crate) retries: u8,
    pub(crate) tags: Vec<String>,
    /// What each player plays on.
    pub(crate) player_devices: Vec<PlayerDevice>,
    pub(crate) execution: Option<String>,
    pub(crate) started_by: Starter,
    /// `None`: templates are not rendered.
    pub(crate) template_data: Option<Open>,
    /// Why the job never leaves the queue.
    pub(crate) rejection: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobStop {
    pub(crate) at: Moment,
    pub(crate) key: String,
}

#[derive(Clone, Debug)]
pub(crate) struct PlayerDevice {
    pub(crate) config: Arc<DeviceConfig>,
    /// `None`: the config has no working device.
    pub(crate) device: Option<Device>,
    pub(crate) build: Option<Arc<StoredBuild>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Starter {
    /// An API key, by its id.
    Key(String),
    /// A user, by name.
    Person(String),
}

impl Starter {
    pub(crate) fn to_initiator(&self) -> Initiator {
        let (kind, name, value) = match self {
            Self::Key(id) => ("api", "key_id", id),
            Self::Person(person) => ("user", "name", person),
        };

        Initiator { r#type: kind.to_owned(), value: Fields::from_iter([(name.to_owned(), json!(value))]) }
    }
}

impl SimulatedJob {
    pub(crate) fn build(&self) -> Option<&Arc<StoredBuild>> {
        self.player_devices.first()?.build.as_ref()
    }

    /// Returns whether an attempt of this job has, or may still get, the run id `run`.
    pub(super) fn may_have_run(&self, run: &str) -> bool {
        let is_later_run = |attempt| later_run_id(&self.first_run, attempt) == run;
        self.first_run == run || (1..=usize::from(self.retries)).any(is_later_run)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Execution {
    pub(crate) id: String,
    pub(crate) plan: String,
    pub(crate) plan_name: String,
    pub(crate) build: Option<Arc<StoredBuild>>,
    pub(crate) created: Moment,
    pub(crate) started_by: Starter,
}

/// Time that a job waits for a device.
const QUEUED: Millis = 10_000;

/// Time between the creation and the start of an attempt.
const STARTING: Millis = 5_000;

/// Time that a stopped job has the status `STOPPING`.
const STOPPING: Millis = 2_000;

/// Time between the last attempt and the completion of a job.
const CLEANING_UP: Millis = 5_000;

/// Everything that happens to a job.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// When the job leaves the queue, unless it is stopped before.
    dequeued: Moment,
    /// Every attempt, first to last.
    pub(super) attempts: Vec<RunAttempt>,
    /// End of the last attempt, or of the time in the queue if there is no attempt.
    ended: Moment,
    /// Whether a stop ended the job.
    stopped: bool,
    /// When the job is completed.
    pub(crate) completed: Moment,
}

/// States of a job (service.md 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum JobStatus {
    Queued,
    Starting,
    Running,
    Stopping,
    CleaningUp,
    Completed,
}

impl Timeline {
    pub(crate) fn from_job(job: &SimulatedJob) -> Self {
        let stop = job.stopped.as_ref().map(|stop| stop.at);
        let dequeued = job.created + QUEUED;
        let mut attempts = Vec::new();
        let mut next = job.rejection.is_none().then_some(dequeued);

        while let Some(created) = next.filter(|at| stop.is_none_or(|stop| stop > *at)) {
            let attempt = RunAttempt::from_job(job, attempts.len(), created, stop);
            // Only execution failures are retried, never verdicts (service.md 2.3).
            let is_retried = attempt.result.is_cut_off() && attempts.len() < usize::from(job.retries);
            next = is_retried.then_some(attempt.ended);
            attempts.push(attempt);
        }

        let left_queue = stop.map_or(dequeued, |stop| stop.min(dequeued));
        let ended = attempts.last().map_or(left_queue, |attempt| attempt.ended);
        let stopped = stop == Some(ended);
        let stopping = if stopped { STOPPING } else { 0 };
        let cleaning_up = if attempts.is_empty() { 0 } else { CLEANING_UP };

        Self { dequeued, attempts, ended, stopped, completed: ended + stopping + cleaning_up }
    }

    pub(crate) fn status(&self, now: Moment) -> JobStatus {
        if now >= self.completed {
            JobStatus::Completed
        } else if self.stopped && now >= self.ended && now < self.ended + STOPPING {
            JobStatus::Stopping
        } else if now >= self.ended {
            JobStatus::CleaningUp
        } else if now < self.dequeued {
            JobStatus::Queued
        } else if now < self.dequeued + STARTING {
            JobStatus::Starting
        } else {
            JobStatus::Running
        }
    }

    pub(crate) fn attempts(&self, now: Moment) -> impl DoubleEndedIterator<Item = &RunAttempt> {
        self.attempts.iter().filter(move |attempt| attempt.created <= now)
    }

    /// Returns the attempts that exist at `now` by value, first to last.
    pub(crate) fn into_attempts(self, now: Moment) -> impl Iterator<Item = RunAttempt> {
        self.attempts.into_iter().filter(move |attempt| attempt.created <= now)
    }
}

/// One attempt of a job, which is a run.
#[derive(Debug)]
pub(crate) struct RunAttempt {
    pub(crate) id: String,
    pub(crate) created: Moment,
    /// `None`: the attempt was stopped before it started.
    pub(crate) started: Option<Moment>,
    pub(crate) ended: Moment,
    pub(crate) result: RunResult,
    /// What the agent reports if the attempt does not pass.
    pub(crate) report: String,
    /// The step spans of each player.
    pub(crate) players: Vec<Vec<StepSpan>>,
    findings: Vec<(BugFinding, Moment)>,
}

impl RunAttempt {
    /// Creates attempt `number` (from 0) of a job. `stop` is the moment at which the job is stopped.
    fn from_job(job: &SimulatedJob, number: usize, created: Moment, stop: Option<Moment>) -> Self {
        let players = &job.test.players;
        let started = created + STARTING;
        let passed = ScriptedOutcome::passed();
        let outcomes = &job.test.outcomes;
        let outcome = outcomes.get(number).or(outcomes.last()).unwrap_or(&passed);

        let (ended, result) = match (stop, natural_end(players, outcome, started)) {
            (Some(stop), end) if stop < end => (stop, RunResult::Stopped),
            (_, end) => (end, outcome.result),
        };
        let cut_off = result.is_cut_off().then_some((ended, result));
        let spans: Vec<_> = players
            .iter()
            .enumerate()
            .map(|(index, player)| step_spans(player, verdict_of(outcome, index), started, cut_off))
            .collect();
        let report = if result == outcome.result { outcome.report.as_str() } else { "The run was stopped." };

        Self {
            id: if number == 0 { job.first_run.clone() } else { later_run_id(&job.first_run, number) },
            created,
            started: (started < ended).then_some(started),
            ended,
            result,
            report: report.to_owned(),
            findings: detected_findings(players, outcome, &spans, ended),
            players: spans,
        }
    }

    pub(crate) fn progress(&self, now: Moment) -> RunProgress {
        RunProgress::between(self.started, Some(self.ended), now)
    }

    /// Returns the bugs that are detected by `now`, and when they were detected.
    pub(crate) fn findings(&self, now: Moment) -> impl Iterator<Item = &(BugFinding, Moment)> {
        self.findings.iter().filter(move |(_, at)| *at <= now)
    }

    /// Returns the result of a player, which is that of its first step that did not pass.
    pub(crate) fn player_result(&self, spans: &[StepSpan]) -> RunResult {
        let unpassed = spans.iter().find(|span| span.result != Some(RunResult::Success));
        unpassed.map_or(RunResult::Success, |span| span.result.unwrap_or(self.result))
    }
}

/// Returns the findings of an outcome that are detected before the attempt ends.
fn detected_findings(
    players: &[ScriptedPlayer],
    outcome: &ScriptedOutcome,
    spans: &[Vec<StepSpan>],
    ended: Moment,
) -> Vec<(BugFinding, Moment)> {
    let detected = |finding: &BugFinding| {
        let step = players.get(finding.player)?.steps.get(finding.step)?;
        let span = spans.get(finding.player)?.get(finding.step)?;
        // A bug is detected in the middle of its step.
        let at = span.start? + step.duration / 2;
        (at < ended).then(|| (finding.clone(), at))
    };

    outcome.findings.iter().filter_map(detected).collect()
}

fn natural_end(players: &[ScriptedPlayer], outcome: &ScriptedOutcome, started: Moment) -> Moment {
    let end_of_step = |player: &ScriptedPlayer, last: Option<usize>| -> Moment {
        let steps = last.map_or(player.steps.len(), |last| last + 1);
        player.steps.iter().take(steps).fold(started, |at, step| at + step.duration)
    };

    // A timeout or an error ends the attempt at the step of the outcome, for all players.
    if outcome.result.is_cut_off() {
        let player = players.get(outcome.player);
        return player.map_or(started, |player| end_of_step(player, Some(outcome.step)));
    }

    let ends = players.iter().enumerate().map(|(index, player)| {
        let verdict = verdict_of(outcome, index);
        end_of_step(player, verdict.map(|(step, _)| step))
    });

    ends.max().unwrap_or(started)
}

/// Returns the step at which a player gets a verdict other than success, and the verdict.
fn verdict_of(outcome: &ScriptedOutcome, player: usize) -> Option<(usize, RunResult)> {
    let is_verdict = !outcome.result.is_cut_off() && outcome.result != RunResult::Success;
    (is_verdict && player == outcome.player).then_some((outcome.step, outcome.result))
}

/// When a step is carried out, and how it ends. A step that is not reached has no times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepSpan {
    pub(crate) start: Option<Moment>,
    pub(crate) end: Option<Moment>,
    pub(crate) result: Option<RunResult>,
}

impl StepSpan {
    const NOT_REACHED: Self = Self { start: None, end: None, result: None };

    const fn completed(start: Moment, end: Moment, result: RunResult) -> Self {
        Self { start: Some(start), end: Some(end), result: Some(result) }
    }

    pub(crate) fn progress(&self, now: Moment) -> RunProgress {
        RunProgress::between(self.start, self.end, now)
    }
}

/// Returns the spans of a player's steps.
///
/// `verdict` is the step with a verdict other than success: the steps after it are skipped. `cut_off` is the moment at
/// which the attempt is cut off: the step in progress ends there, and later steps are never reached.
fn step_spans(
    player: &ScriptedPlayer,
    verdict: Option<(usize, RunResult)>,
    started: Moment,
    cut_off: Option<(Moment, RunResult)>,
) -> Vec<StepSpan> {
    let mut start = started;
    let mut spans = Vec::with_capacity(player.steps.len());

    for (index, step) in player.steps.iter().enumerate() {
        let end = start + step.duration;
        let is_skipped = verdict.is_some_and(|(last, _)| index > last);

        spans.push(match (cut_off, verdict) {
            (Some((cut_off, _)), _) if start >= cut_off => StepSpan::NOT_REACHED,
            _ if is_skipped => StepSpan { start: None, end: Some(start), result: Some(RunResult::Skipped) },
            (Some((cut_off, result)), _) if end >= cut_off => StepSpan::completed(start, cut_off, result),
            (_, Some((last, result))) if index == last => StepSpan::completed(start, end, result),
            _ => StepSpan::completed(start, end, RunResult::Success),
        });

        // A skipped step takes no time.
        if !is_skipped {
            start = end;
        }
    }

    spans
}

/// Progress of a run, a player or a step (service.md 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum RunProgress {
    Initializing,
    Running,
    Completed,
}

impl RunProgress {
    /// Returns the progress at `now` of a run or step that lasts from `start` to `end`. `None` means never.
    fn between(start: Option<Moment>, end: Option<Moment>, now: Moment) -> Self {
        if end.is_some_and(|end| end <= now) {
            Self::Completed
        } else if start.is_some_and(|start| start <= now) {
            Self::Running
        } else {
            Self::Initializing
        }
    }
}
