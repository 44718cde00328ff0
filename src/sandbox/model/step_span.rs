//! When the steps of a player are carried out, and how they end.

use crate::sandbox::model::{
    moment::Moment, outcome::RunResult, progress::RunProgress, saved_test::ScriptedPlayer,
};

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

    const fn skipped(at: Moment) -> Self {
        Self { start: None, end: Some(at), result: Some(RunResult::Skipped) }
    }

    pub(crate) fn progress(&self, now: Moment) -> RunProgress {
        RunProgress::between(self.start, self.end, now)
    }
}

/// Returns the spans of a player's steps.
///
/// `verdict` is the step with a verdict other than success: the steps after it are skipped. `cut_off` is the moment at
/// which the attempt is cut off: the step in progress ends there, and later steps are never reached.
pub(super) fn step_spans(
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
            _ if is_skipped => StepSpan::skipped(start),
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
