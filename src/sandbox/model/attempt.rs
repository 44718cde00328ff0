//! One attempt of a job: a run, with the steps of its players. A pure function like the timeline it is a part of.

use crate::sandbox::model::{
    ids,
    job::Job,
    moment::{Millis, Moment},
    outcome::{BugFinding, RunResult, ScriptedOutcome},
    progress::RunProgress,
    saved_test::ScriptedPlayer,
    step_span::{StepSpan, spans},
};

/// How long an attempt takes to get going.
pub(crate) const STARTING: Millis = 5_000;

/// One attempt of a job: a run.
#[derive(Debug)]
pub(crate) struct RunAttempt {
    /// Run id.
    pub(crate) id: String,
    pub(crate) created: Moment,
    /// `None`: it was stopped before it got going.
    pub(crate) started: Option<Moment>,
    pub(crate) ended: Moment,
    pub(crate) result: RunResult,
    /// What the agent says where the attempt does not pass.
    pub(crate) report: String,
    /// The steps of each player.
    pub(crate) players: Vec<Vec<StepSpan>>,
    findings: Vec<(BugFinding, Moment)>,
}

impl RunAttempt {
    /// Attempt number `number` (from 0) of a job, made at `created`, unless it is stopped before its end.
    pub(crate) fn from_job(job: &Job, number: usize, created: Moment, stop: Option<Moment>) -> Self {
        let started = created + STARTING;
        let none = ScriptedOutcome::passed();
        let outcome = job.test.outcome(number).unwrap_or(&none);
        let (ended, result) = match (stop, natural_end(&job.test.players, outcome, started)) {
            (Some(stop), end) if stop < end => (stop, RunResult::Stopped),
            (_, end) => (end, outcome.result),
        };
        let cut = result.is_cut_off().then_some((ended, result));
        let spans = |(index, player): (usize, &ScriptedPlayer)| {
            spans(player, verdict_of(outcome, index), started, cut)
        };
        let players: Vec<_> = job.test.players.iter().enumerate().map(spans).collect();
        let seen = |finding: &BugFinding| {
            let span = players.get(finding.player)?.get(finding.step)?;
            let duration = job.test.players.get(finding.player)?.steps.get(finding.step)?.duration;
            let at = span.start? + duration / 2;
            (at < ended).then(|| (finding.clone(), at))
        };

        let report = if result == outcome.result { outcome.report.as_str() } else { "The run was stopped." };

        Self {
            id: if number == 0 { job.first_run.clone() } else { ids::later_run(&job.first_run, number) },
            created,
            started: (started < ended).then_some(started),
            ended,
            result,
            report: report.to_owned(),
            findings: outcome.findings.iter().filter_map(seen).collect(),
            players,
        }
    }

    /// How far the run is.
    pub(crate) fn progress(&self, now: Moment) -> RunProgress {
        RunProgress::between(self.started, Some(self.ended), now)
    }

    /// The bugs that have been detected by now, and when.
    pub(crate) fn findings(&self, now: Moment) -> impl Iterator<Item = &(BugFinding, Moment)> {
        self.findings.iter().filter(move |(_, at)| *at <= now)
    }

    /// How a player ends.
    pub(crate) fn player_result(&self, steps: &[StepSpan]) -> RunResult {
        let passed = |span: &StepSpan| span.result == Some(RunResult::Success);
        let first = steps.iter().find(|span| !passed(span));
        first.map_or(RunResult::Success, |span| span.result.unwrap_or(self.result))
    }
}

/// When the attempt ends if nobody stops it.
fn natural_end(players: &[ScriptedPlayer], outcome: &ScriptedOutcome, started: Moment) -> Moment {
    let until = |player: &ScriptedPlayer, last: Option<usize>| -> Moment {
        let steps = last.map_or(player.steps.len(), |last| last + 1);
        player.steps.iter().take(steps).fold(started, |at, step| at + step.duration)
    };
    if outcome.result.is_cut_off() {
        return players.get(outcome.player).map_or(started, |player| until(player, Some(outcome.step)));
    }

    let ends = players.iter().enumerate();
    let ends = ends.map(|(index, player)| until(player, verdict_of(outcome, index).map(|(step, _)| step)));

    ends.max().unwrap_or(started)
}

/// The step at which a player gets a verdict other than success, and the verdict.
fn verdict_of(outcome: &ScriptedOutcome, player: usize) -> Option<(usize, RunResult)> {
    let verdict = !outcome.result.is_cut_off() && outcome.result != RunResult::Success;
    (verdict && player == outcome.player).then_some((outcome.step, outcome.result))
}
