//! The steps of a run, with the result of each expectation (service.md 2.4).

use crate::{
    sandbox::{
        answers::run_view::RunView,
        model::{
            moment::duration_ms,
            outcome::RunResult,
            progress::RunProgress,
            saved_test::{ScriptedStep, TestKind},
            step_span::StepSpan,
            test_content::finish_condition,
        },
    },
    service::api::runs::{RunStep, RunStepItem, RunStepTest},
};

impl RunView<'_> {
    /// Returns the records of a player's steps.
    pub(super) fn step_records(&self, steps: &[ScriptedStep], spans: &[StepSpan]) -> Vec<RunStep> {
        let steps = steps.iter().zip(spans).enumerate();
        steps.map(|(index, (step, span))| self.step_record(index + 1, step, *span)).collect()
    }

    fn step_record(&self, number: usize, step: &ScriptedStep, span: StepSpan) -> RunStep {
        let progress = span.progress(self.now);
        let end = span.end.filter(|_| progress == RunProgress::Completed);
        let start = span.start.filter(|at| *at <= self.now);
        let result = span.result.filter(|_| progress == RunProgress::Completed);

        RunStep {
            step_number: Some(number),
            start_time: start.map(|at| at.to_string()),
            end_time: end.filter(|_| start.is_some()).map(|at| at.to_string()),
            duration_ms: end.zip(start).map(|(end, start)| duration_ms(end - start)),
            run_state: progress.name().to_owned(),
            run_result: result.map(|result| result.name().to_owned()),
            report: result.map(|result| self.report(step, result)),
            items: self.items(number, step, result),
            test: RunStepTest {
                test_step_id: step.id.clone(),
                goal: Some(step.goal.clone()),
                finish_condition: finish_condition(&step.expected),
                test_type: self.job.test.kind.name().to_owned(),
            },
        }
    }

    /// Returns what the agent reports about a step.
    fn report(&self, step: &ScriptedStep, result: RunResult) -> String {
        match result {
            RunResult::Success => step.report.clone(),
            RunResult::Skipped if result != self.attempt.result => {
                "Not carried out: an earlier step did not pass.".to_owned()
            }
            _ => self.attempt.report.clone(),
        }
    }

    /// Returns the results of the expectations. Returns `None` until the step ends, because an empty list would mean
    /// that the step has no expectations.
    fn items(
        &self,
        number: usize,
        step: &ScriptedStep,
        result: Option<RunResult>,
    ) -> Option<Vec<RunStepItem>> {
        // A step that was not reached has no result. Its items show the result of the run, if the run was cut off.
        let cut = Some(self.attempt.result).filter(|result| self.is_completed() && result.is_cut_off());
        let result = result.or(cut).filter(|_| self.job.test.kind == TestKind::Verification)?;
        let last = step.expected.len().saturating_sub(1);
        let item = |(index, (letter, expected)): (usize, (char, &String))| {
            // A failed step fails at its last expectation, so that the report fits one item.
            let result =
                if result == RunResult::Failed && index < last { RunResult::Success } else { result };
            RunStepItem {
                id: format!("{number}{letter}"),
                expected: expected.clone(),
                status: item_status(result).to_owned(),
                comment: matches!(result, RunResult::Failed | RunResult::Blocked)
                    .then(|| self.attempt.report.clone()),
            }
        };

        Some(('a'..='z').zip(&step.expected).enumerate().map(item).collect())
    }
}

const fn item_status(result: RunResult) -> &'static str {
    match result {
        RunResult::Success => "passed",
        RunResult::Failed => "failed",
        RunResult::Blocked => "blocked",
        RunResult::Skipped => "skipped",
        RunResult::Timeout => "timeout",
        RunResult::Error => "error",
        RunResult::Stopped => "stopped",
    }
}
