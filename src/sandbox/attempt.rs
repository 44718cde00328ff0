//! One attempt of a job: a run, with the steps of its players. A pure function like the timeline it is a part of.

use super::{
    clock::{Millis, Moment},
    ids,
    jobs::Job,
    script::{Ending, Finding, Outcome},
    tests::Player,
};

/// How long an attempt takes to get going.
pub(super) const STARTING: Millis = 5_000;

/// One attempt of a job: a run.
#[derive(Debug)]
pub(super) struct Attempt {
    /// Run id.
    pub(super) id: String,
    pub(super) created: Moment,
    /// `None`: it was stopped before it got going.
    pub(super) started: Option<Moment>,
    pub(super) ended: Moment,
    pub(super) ending: Ending,
    /// What the agent says where the attempt does not pass.
    pub(super) report: String,
    /// The steps of each player.
    pub(super) players: Vec<Vec<StepSpan>>,
    findings: Vec<(Finding, Moment)>,
}

/// When a step is carried out, and how it ends. A step that is never reached has no times.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepSpan {
    pub(super) start: Option<Moment>,
    pub(super) end: Option<Moment>,
    pub(super) ending: Option<Ending>,
}

/// Progress of a run, a player or a step (supplement 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Initializing,
    Running,
    Completed,
}

impl Progress {
    /// The service's word.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Initializing => "INITIALIZING",
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
        }
    }

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

impl StepSpan {
    const NEVER: Self = Self { start: None, end: None, ending: None };

    /// How far the step is.
    pub(super) fn progress(&self, now: Moment) -> Progress {
        Progress::between(self.start, self.end, now)
    }
}

impl Attempt {
    /// Attempt number `number` (from 0) of a job, made at `created`, unless it is stopped before its end.
    pub(super) fn of(job: &Job, number: usize, created: Moment, stop: Option<Moment>) -> Self {
        let started = created + STARTING;
        let none = Outcome::passed();
        let outcome = job.test.outcome(number).unwrap_or(&none);
        let (ended, ending) = match (stop, natural_end(&job.test.players, outcome, started)) {
            (Some(stop), end) if stop < end => (stop, Ending::Stopped),
            (_, end) => (end, outcome.ending),
        };
        let cut = ending.is_cut_off().then_some((ended, ending));
        let spans =
            |(index, player): (usize, &Player)| spans(player, verdict_of(outcome, index), started, cut);
        let players: Vec<_> = job.test.players.iter().enumerate().map(spans).collect();
        let seen = |finding: &Finding| {
            let span = players.get(finding.player)?.get(finding.step)?;
            let lasts = job.test.players.get(finding.player)?.steps.get(finding.step)?.lasts;
            let at = span.start? + lasts / 2;
            (at < ended).then(|| (finding.clone(), at))
        };

        let report = if ending == outcome.ending { outcome.report.as_str() } else { "The run was stopped." };

        Self {
            id: if number == 0 { job.first_run.clone() } else { ids::later_run(&job.first_run, number) },
            created,
            started: (started < ended).then_some(started),
            ended,
            ending,
            report: report.to_owned(),
            findings: outcome.findings.iter().filter_map(seen).collect(),
            players,
        }
    }

    /// How far the run is.
    pub(super) fn progress(&self, now: Moment) -> Progress {
        Progress::between(self.started, Some(self.ended), now)
    }

    /// The bugs that have been detected by now, and when.
    pub(super) fn findings(&self, now: Moment) -> impl Iterator<Item = &(Finding, Moment)> {
        self.findings.iter().filter(move |(_, at)| *at <= now)
    }

    /// How a player ends.
    pub(super) fn ending_of(&self, steps: &[StepSpan]) -> Ending {
        let passed = |span: &StepSpan| span.ending == Some(Ending::Success);
        let first = steps.iter().find(|span| !passed(span));
        first.map_or(Ending::Success, |span| span.ending.unwrap_or(self.ending))
    }
}

/// When the attempt ends if nobody stops it.
fn natural_end(players: &[Player], outcome: &Outcome, started: Moment) -> Moment {
    let until = |player: &Player, last: Option<usize>| -> Moment {
        let steps = last.map_or(player.steps.len(), |last| last + 1);
        player.steps.iter().take(steps).fold(started, |at, step| at + step.lasts)
    };
    if outcome.ending.is_cut_off() {
        return players.get(outcome.player).map_or(started, |player| until(player, Some(outcome.step)));
    }

    let ends = players.iter().enumerate();
    let ends = ends.map(|(index, player)| until(player, verdict_of(outcome, index).map(|(step, _)| step)));

    ends.max().unwrap_or(started)
}

/// The step at which a player gets a verdict other than success, and the verdict.
fn verdict_of(outcome: &Outcome, player: usize) -> Option<(usize, Ending)> {
    let verdict = !outcome.ending.is_cut_off() && outcome.ending != Ending::Success;
    (verdict && player == outcome.player).then_some((outcome.step, outcome.ending))
}

fn spans(
    player: &Player,
    verdict: Option<(usize, Ending)>,
    started: Moment,
    cut: Option<(Moment, Ending)>,
) -> Vec<StepSpan> {
    let mut at = started;
    let mut spans = Vec::with_capacity(player.steps.len());

    for (index, step) in player.steps.iter().enumerate() {
        let start = at;
        let end = start + step.lasts;
        spans.push(match (cut, verdict) {
            (Some((cut, _)), _) if start >= cut => StepSpan::NEVER,
            (_, Some((last, _))) if index > last => {
                StepSpan { start: None, end: Some(start), ending: Some(Ending::Skipped) }
            }
            (Some((cut, ending)), _) if end >= cut => {
                StepSpan { start: Some(start), end: Some(cut), ending: Some(ending) }
            }
            (_, Some((last, verdict))) if index == last => {
                StepSpan { start: Some(start), end: Some(end), ending: Some(verdict) }
            }
            _ => StepSpan { start: Some(start), end: Some(end), ending: Some(Ending::Success) },
        });

        let skipped = verdict.is_some_and(|(last, _)| index > last);
        at = if skipped { at } else { end };
    }

    spans
}
