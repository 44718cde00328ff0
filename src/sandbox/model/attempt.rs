//! One attempt of a job, which is a run. An attempt is computed from the job, like the timeline that contains it.

use crate::sandbox::model::{
    ids,
    job::SimulatedJob,
    moment::{Millis, Moment},
    outcome::{BugFinding, RunResult, ScriptedOutcome},
    progress::RunProgress,
    saved_test::ScriptedPlayer,
    step_span::{StepSpan, step_spans},
};

/// Time between the creation and the start of an attempt.
pub(super) const STARTING: Millis = 5_000;

/// One attempt of a job, which is a run.
#[derive(Debug)]
pub(crate) struct RunAttempt {
    /// Run id.
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
    pub(super) fn from_job(job: &SimulatedJob, number: usize, created: Moment, stop: Option<Moment>) -> Self {
        let players = &job.test.players;
        let started = created + STARTING;
        let passed = ScriptedOutcome::passed();
        let outcome = job.test.outcome(number).unwrap_or(&passed);

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
            id: if number == 0 { job.first_run.clone() } else { ids::later_run(&job.first_run, number) },
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

/// Returns when an attempt ends that is not stopped.
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
