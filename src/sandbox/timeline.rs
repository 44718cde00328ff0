//! What happens to a job, from its start to its end: a pure function of the job and the script of its test.
//!
//! A timeline is whole from the beginning. What is visible at a moment follows from it.

use super::{
    clock::{Millis, Moment},
    ids,
    jobs::Job,
    tests::{Ending, Finding, Outcome, Player},
};

/// How long a job waits for a device.
const QUEUED: Millis = 10_000;

/// How long an attempt takes to get going.
const STARTING: Millis = 5_000;

/// How long a stopped job shows that it is being stopped.
const STOPPING: Millis = 2_000;

/// How long a job cleans up after its last attempt.
const CLEANING_UP: Millis = 5_000;

/// Everything that happens to a job.
#[derive(Debug)]
pub(super) struct Timeline {
    begins: Moment,
    attempts: Vec<Attempt>,
    /// End of the last attempt, or of the waiting when there is none.
    over: Moment,
    stopped: bool,
    /// When the job is completed.
    pub(super) completed: Moment,
}

/// States of a job (supplement 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Queued,
    Starting,
    Running,
    Stopping,
    CleaningUp,
    Completed,
}

impl Status {
    /// The service's word.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Queued => "QUEUED",
            Self::Starting => "STARTING",
            Self::Running => "RUNNING",
            Self::Stopping => "STOPPING",
            Self::CleaningUp => "CLEANING_UP",
            Self::Completed => "COMPLETED",
        }
    }
}

impl Timeline {
    /// The timeline of `job`.
    pub(super) fn of(job: &Job) -> Self {
        let stop = job.stopped.as_ref().map(|stop| stop.at);
        let begins = job.created + QUEUED;
        let mut attempts = Vec::new();
        let mut next = job.rejection.is_none().then_some(begins);
        while let Some(created) = next.filter(|at| stop.is_none_or(|stop| stop > *at)) {
            let attempt = Attempt::of(job, attempts.len(), created, stop);
            let again = attempt.ending.is_cut_off() && attempts.len() < usize::from(job.retries);
            next = again.then_some(attempt.ended);
            attempts.push(attempt);
        }
        let waited = stop.map_or(begins, |stop| stop.min(begins));
        let over = attempts.last().map_or(waited, |attempt| attempt.ended);
        let stopped = stop == Some(over);
        let stopping = if stopped { STOPPING } else { 0 };
        let cleaning_up = if attempts.is_empty() { 0 } else { CLEANING_UP };
        Self { begins, attempts, over, stopped, completed: over + stopping + cleaning_up }
    }

    /// State of the job.
    pub(super) fn status(&self, now: Moment) -> Status {
        if now >= self.completed {
            Status::Completed
        } else if now >= self.over {
            if self.stopped && now < self.over + STOPPING { Status::Stopping } else { Status::CleaningUp }
        } else if now < self.begins {
            Status::Queued
        } else if now < self.begins + STARTING {
            Status::Starting
        } else {
            Status::Running
        }
    }

    /// The attempts that there are by now, first to last.
    pub(super) fn attempts(&self, now: Moment) -> impl DoubleEndedIterator<Item = &Attempt> {
        self.attempts.iter().filter(move |attempt| attempt.created <= now)
    }

    /// [`Self::attempts`], to keep.
    pub(super) fn into_attempts(self, now: Moment) -> impl Iterator<Item = Attempt> {
        self.attempts.into_iter().filter(move |attempt| attempt.created <= now)
    }
}

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
    fn of(job: &Job, number: usize, created: Moment, stop: Option<Moment>) -> Self {
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
