//! Steps of a run, with the verdict on each expected result (supplement 2.4).

use super::{
    attempt::{Progress, StepSpan},
    clock::duration_ms,
    runs::Seen,
    script::Ending,
    tests::{Kind, Step},
};
use crate::service::api::runs::{RunStep, RunStepItem, RunStepTest};

impl Seen<'_> {
    /// The steps of a player, from the test and from what became of them.
    pub(super) fn steps(&self, steps: &[Step], spans: &[StepSpan]) -> Vec<RunStep> {
        let steps = steps.iter().zip(spans).enumerate();
        steps.map(|(index, (step, span))| self.step(index + 1, step, *span)).collect()
    }

    fn step(&self, number: usize, step: &Step, span: StepSpan) -> RunStep {
        let progress = span.progress(self.now);
        let end = span.end.filter(|_| progress == Progress::Completed);
        let start = span.start.filter(|at| *at <= self.now);
        let ending = span.ending.filter(|_| progress == Progress::Completed);

        RunStep {
            step_number: number,
            start_time: start.map(|at| at.to_string()),
            end_time: end.filter(|_| start.is_some()).map(|at| at.to_string()),
            duration_ms: end.zip(start).map(|(end, start)| duration_ms(end - start)),
            run_state: progress.name().to_owned(),
            run_result: ending.map(|ending| ending.name().to_owned()),
            report: ending.map(|ending| self.report(step, ending)),
            items: self.items(number, step, ending),
            test: RunStepTest {
                test_step_id: step.id.clone(),
                goal: Some(step.goal.clone()),
                finish_condition: finish_condition(&step.expected),
                test_type: self.job.test.kind.name().to_owned(),
            },
        }
    }

    fn report(&self, step: &Step, ending: Ending) -> String {
        match ending {
            Ending::Success => step.report.clone(),
            Ending::Skipped if ending != self.attempt.ending => {
                "Not carried out: an earlier step did not pass.".to_owned()
            }
            _ => self.attempt.report.clone(),
        }
    }

    /// Null until the step is over: an open list would read as a step without expected results.
    fn items(&self, number: usize, step: &Step, ending: Option<Ending>) -> Option<Vec<RunStepItem>> {
        let cut = Some(self.attempt.ending).filter(|ending| self.is_done() && ending.is_cut_off());
        let ending = ending.or(cut).filter(|_| self.job.test.kind == Kind::Verification)?;
        let last = step.expected.len().saturating_sub(1);
        let item = |(index, (letter, expected)): (usize, (char, &String))| {
            // What comes before the failed expectation was met.
            let ending = if ending == Ending::Failed && index < last { Ending::Success } else { ending };
            RunStepItem {
                id: format!("{number}{letter}"),
                expected: expected.clone(),
                status: item_status(ending).to_owned(),
                comment: matches!(ending, Ending::Failed | Ending::Blocked)
                    .then(|| self.attempt.report.clone()),
            }
        };

        Some(('a'..='z').zip(&step.expected).enumerate().map(item).collect())
    }
}

/// What used to be said instead of expected results, derived from them.
pub(super) fn finish_condition(expected: &[String]) -> Option<String> {
    match expected {
        [] => None,
        [only] => Some(only.clone()),
        several => {
            let numbered = several.iter().enumerate().map(|(index, one)| format!("{}. {one}", index + 1));
            Some(numbered.collect::<Vec<_>>().join("\n"))
        }
    }
}

const fn item_status(ending: Ending) -> &'static str {
    match ending {
        Ending::Success => "passed",
        Ending::Failed => "failed",
        Ending::Blocked => "blocked",
        Ending::Skipped => "skipped",
        Ending::Timeout => "timeout",
        Ending::Error => "error",
        Ending::Stopped => "stopped",
    }
}
