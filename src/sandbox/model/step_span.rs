//! model/step_span.

use crate::sandbox::model::{
    moment::Moment, outcome::RunResult, progress::RunProgress, saved_test::ScriptedPlayer,
};

/// When a step is carried out, and how it ends. A step that is never reached has no times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepSpan {
    pub(crate) start: Option<Moment>,
    pub(crate) end: Option<Moment>,
    pub(crate) result: Option<RunResult>,
}

impl StepSpan {
    pub(crate) const NEVER: Self = Self { start: None, end: None, result: None };

    /// How far the step is.
    pub(crate) fn progress(&self, now: Moment) -> RunProgress {
        RunProgress::between(self.start, self.end, now)
    }
}

/// Returns when each step of a player is carried out, and how the step ends.
pub(crate) fn spans(
    player: &ScriptedPlayer,
    verdict: Option<(usize, RunResult)>,
    started: Moment,
    cut: Option<(Moment, RunResult)>,
) -> Vec<StepSpan> {
    let mut at = started;
    let mut spans = Vec::with_capacity(player.steps.len());

    for (index, step) in player.steps.iter().enumerate() {
        let start = at;
        let end = start + step.duration;
        spans.push(match (cut, verdict) {
            (Some((cut, _)), _) if start >= cut => StepSpan::NEVER,
            (_, Some((last, _))) if index > last => {
                StepSpan { start: None, end: Some(start), result: Some(RunResult::Skipped) }
            }
            (Some((cut, result)), _) if end >= cut => {
                StepSpan { start: Some(start), end: Some(cut), result: Some(result) }
            }
            (_, Some((last, verdict))) if index == last => {
                StepSpan { start: Some(start), end: Some(end), result: Some(verdict) }
            }
            _ => StepSpan { start: Some(start), end: Some(end), result: Some(RunResult::Success) },
        });

        let skipped = verdict.is_some_and(|(last, _)| index > last);
        at = if skipped { at } else { end };
    }

    spans
}
