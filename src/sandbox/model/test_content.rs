//! The written content of tests, and the script that follows from it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::sandbox::model::records::{find, step_id};
use crate::sandbox::model::saved_test::{CaseLink, SavedTest, ScriptedPlayer, ScriptedStep};
use crate::sandbox::model::time::Millis;
use crate::sandbox::model::world::Project;
use crate::service::api::Open;
use crate::service::api::shared_steps::{ExpectedResult, StepBody};
use crate::service::api::tests::{TestContent, TestItem, TestPlayer};

const COLLECTION: &str = "collection";

const STEP: &str = "step";

/// Duration of a step that is not in an earlier version of the test, in milliseconds.
const STEP_MS: Millis = 30_000;

pub(crate) fn body(step: &ScriptedStep) -> StepBody {
    let expected = |text: &String| ExpectedResult { expected: text.clone(), more: Open::new() };
    StepBody {
        test_step_id: Some(step.id.clone()),
        goal: Some(step.goal.clone()),
        expected_results: Some(step.expected.iter().map(expected).collect()),
        screenshots: Some(1),
        pause_game: Some(false),
        performance_monitoring: Some(false),
        hint_manual: Some(Vec::new()),
        ..StepBody::default()
    }
}

/// Adds the fields that the service derives when a step is read.
pub(crate) fn derive(step: &mut StepBody) {
    if step.finish_condition.is_none() {
        step.finish_condition = finish_condition(&expectations(step));
    }
}

fn expectations(step: &StepBody) -> Vec<String> {
    step.expected_results.iter().flatten().map(|result| result.expected.clone()).collect()
}

pub(crate) fn is_collection(item: &TestItem) -> bool {
    item.r#type == COLLECTION
}

pub(crate) fn refers_to(content: &TestContent, collection: &str) -> bool {
    let players = content.players_by_key.values();
    let mut items = players.filter_map(|player| player.items_by_key.as_ref()).flat_map(BTreeMap::values);
    items.any(|item| is_collection(item) && item.collection_id.as_deref() == Some(collection))
}

/// Returns the linked cases. A case that is deleted according to `before` stays deleted.
pub(crate) fn linked_cases(content: &TestContent, before: &[CaseLink]) -> Vec<CaseLink> {
    let links = content.tmsys.as_ref().and_then(|links| links.get("cases")).and_then(Value::as_array);
    let link = |link: &Value| {
        let suite = link.get("suite_id")?.as_u64().and_then(|suite| u32::try_from(suite).ok())?;
        let case = link.get("case_id")?.as_u64()?;
        let deleted = before.iter().any(|link| link.case == case && link.deleted);
        Some(CaseLink { suite, case, deleted })
    };
    links.into_iter().flatten().filter_map(link).collect()
}

/// Returns the finish condition, an older field that the service derives from the expected results.
pub(crate) fn finish_condition(expected: &[String]) -> Option<String> {
    let numbered = || (1..).zip(expected).map(|(number, one)| format!("{number}. {one}"));
    match expected {
        [] => None,
        [only] => Some(only.clone()),
        _ => Some(numbered().collect::<Vec<_>>().join("\n")),
    }
}

pub(crate) fn content_of(test: &SavedTest) -> TestContent {
    let (min_seconds, max_seconds) = test.kind.default_budget();
    let numbered = |index: usize| (index + 1).to_string();
    let players = test.players.iter().enumerate();

    TestContent {
        tmsys: (!test.cases.is_empty()).then(|| case_links(&test.cases)),
        source: Some("repository".to_owned()),
        min_seconds,
        max_seconds: Some(max_seconds),
        players_by_key: players.map(|(index, one)| (numbered(index), player(index, one))).collect(),
        player_order: (0..test.players.len()).map(numbered).collect(),
        ..TestContent::default()
    }
}

fn case_links(cases: &[CaseLink]) -> Open {
    let links = cases.iter().map(|link| json!({"suite_id": link.suite, "case_id": link.case}));
    Open::from_iter([("cases".to_owned(), links.collect())])
}

fn player(index: usize, player: &ScriptedPlayer) -> TestPlayer {
    let items = items(&player.steps);
    let keys: Vec<_> = (1..=items.len()).map(|number| number.to_string()).collect();
    TestPlayer {
        name: Some(format!("Player {}", index + 1)),
        items_by_key: Some(keys.iter().cloned().zip(items).collect()),
        item_order: Some(keys),
        ..TestPlayer::default()
    }
}

/// Returns the items of a player. Consecutive steps of the same collection are one item.
fn items(steps: &[ScriptedStep]) -> Vec<TestItem> {
    let groups = steps.chunk_by(|one, next| one.shared.is_some() && one.shared == next.shared);
    let item = |step: &ScriptedStep| TestItem {
        r#type: if step.shared.is_some() { COLLECTION } else { STEP }.to_owned(),
        collection_id: step.shared.clone(),
        steps_by_key: None,
        step_order: None,
        step: if step.shared.is_some() { StepBody::default() } else { body(step) },
    };

    groups.filter_map(<[_]>::first).map(item).collect()
}

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

fn step(body: &StepBody, shared: Option<&str>, before: &[ScriptedPlayer]) -> ScriptedStep {
    let goal = body.goal.clone().unwrap_or_default();
    let earlier = before.iter().flat_map(|player| &player.steps).find(|step| step.goal == goal);
    let mut expected = expectations(body);

    if expected.is_empty() {
        expected.extend(body.finish_condition.clone());
    }

    ScriptedStep {
        id: body.test_step_id.clone().unwrap_or_else(|| step_id(&[&goal])),
        shared: shared.map(ToOwned::to_owned),
        goal,
        expected,
        duration: earlier.map_or(STEP_MS, |step| step.duration),
        report: earlier.map_or_else(|| "Done, nothing stood out.".to_owned(), |step| step.report.clone()),
    }
}
