//! The steps of a run, for the text of a failure.

use serde_json::Value;

use super::outcome::Outcome;
use crate::tools::waiting::record::{array_field, string_field};

/// A step of a player.
pub(super) struct Step {
    player: u64,
    number: u64,
    result: String,
    goal: String,
    pub(super) report: String,
    /// The expected results, each with its status.
    items: Vec<String>,
}

impl Step {
    /// Returns whether the step is a cause of `outcome`. Steps after a failed step are skipped as a consequence, so that a
    /// skipped step is a cause only if the whole run was skipped.
    pub(super) fn is_cause(&self, outcome: Outcome) -> bool {
        let is_skipped = self.result.eq_ignore_ascii_case("SKIPPED");
        let has_passed = self.result.eq_ignore_ascii_case("SUCCESS");

        !self.result.is_empty() && !has_passed && (!is_skipped || outcome == Outcome::Skipped)
    }

    /// Returns the text of the step: its goal, its report and its expected results.
    pub(super) fn render(&self) -> String {
        let Self { player, number, result, goal, report, items } = self;
        let mut text = format!("Player {player}, step {number}: {goal}\n{result}: {report}\n");
        text.extend(items.iter().map(|item| format!("- {item}\n")));
        text
    }
}

/// Returns the steps of all players of `run`.
pub(super) fn steps_of_run(run: &Value) -> Vec<Step> {
    let mut steps = Vec::new();
    for player in array_field(run, "players") {
        let number = player.get("player_number").and_then(Value::as_u64).unwrap_or(1);
        steps.extend(array_field(player, "steps").iter().map(|step| read_step(number, step)));
    }
    steps
}

fn read_step(player: u64, step: &Value) -> Step {
    let goal = step.pointer("/test/goal").and_then(Value::as_str);

    Step {
        player,
        number: step.get("step_number").and_then(Value::as_u64).unwrap_or_default(),
        result: string_field(step, "run_result").unwrap_or_default(),
        goal: goal.unwrap_or_default().to_owned(),
        report: string_field(step, "report").unwrap_or_default(),
        items: array_field(step, "items").iter().map(render_item).collect(),
    }
}

/// Returns the text of an expected result: its status, the expectation and the comment.
fn render_item(item: &Value) -> String {
    let field = |name: &str| string_field(item, name).unwrap_or_default();
    let comment = string_field(item, "comment").map(|comment| format!(" ({comment})")).unwrap_or_default();

    format!("{}: {}{comment}", field("status"), field("expected"))
}
