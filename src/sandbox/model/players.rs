//! The players of a test, derived from its written content.

use std::collections::BTreeMap;

use crate::{
    sandbox::model::{
        ids,
        moment::Millis,
        project::Project,
        records::find,
        saved_test::{ScriptedPlayer, ScriptedStep},
        test_content::{expectations, is_collection},
    },
    service::api::{
        steps::StepBody,
        tests::{TestContent, TestPlayer},
    },
};

/// Duration of a step that is not in an earlier version of the test, in milliseconds.
const STEP_MS: Millis = 30_000;

impl Project {
    /// Returns the players of a written content. A step whose goal is in `before` keeps its duration and report.
    pub(crate) fn players(
        &self,
        name: &str,
        content: &TestContent,
        before: &[ScriptedPlayer],
    ) -> Vec<ScriptedPlayer> {
        let ordered = content.player_order.iter().filter_map(|key| content.players_by_key.get(key));
        let player = |player: &TestPlayer| ScriptedPlayer { steps: self.steps(name, player, before) };
        let players: Vec<_> = ordered.map(player).collect();
        // Every test that starts needs a player, also one that was written without any.
        if players.is_empty() { vec![player(&TestPlayer::default())] } else { players }
    }

    /// Returns the steps of a player. A player without known steps gets one step, whose goal is the name of the test.
    fn steps(&self, name: &str, player: &TestPlayer, before: &[ScriptedPlayer]) -> Vec<ScriptedStep> {
        let none = BTreeMap::new();
        let by_key = player.items_by_key.as_ref().unwrap_or(&none);
        let items = player.item_order.iter().flatten().filter_map(|key| by_key.get(key));
        let mut steps = Vec::new();

        for item in items {
            match item.collection_id.as_ref().filter(|_| is_collection(item)) {
                Some(id) => steps.extend(self.collection_steps(id, before)),
                None => steps.push(step(&item.step, None, before)),
            }
        }

        if steps.is_empty() {
            let goal = Some(name.to_owned());
            steps.push(step(&StepBody { goal, ..StepBody::default() }, None, before));
        }

        steps
    }

    fn collection_steps(&self, id: &str, before: &[ScriptedPlayer]) -> Vec<ScriptedStep> {
        let Some(collection) = find(&self.shared_steps, id) else { return Vec::new() };
        let ordered = collection.steps.step_order.iter();
        let bodies = ordered.filter_map(|key| collection.steps.steps_by_key.get(key));
        bodies.map(|body| step(body, Some(id), before)).collect()
    }
}

/// Returns the step that `body` describes.
fn step(body: &StepBody, shared: Option<&str>, before: &[ScriptedPlayer]) -> ScriptedStep {
    let goal = body.goal.clone().unwrap_or_default();
    let earlier = before.iter().flat_map(|player| &player.steps).find(|step| step.goal == goal);
    let mut expected = expectations(body);

    if expected.is_empty() {
        expected.extend(body.finish_condition.clone());
    }

    ScriptedStep {
        id: body.test_step_id.clone().unwrap_or_else(|| ids::step(&[&goal])),
        shared: shared.map(ToOwned::to_owned),
        goal,
        expected,
        duration: earlier.map_or(STEP_MS, |step| step.duration),
        report: earlier.map_or_else(|| "Done, nothing stood out.".to_owned(), |step| step.report.clone()),
    }
}
