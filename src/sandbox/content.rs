//! What tests consist of, as people write it and as `get_test` shows it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    project::{Project, find},
    steps::finish_condition,
    tests::{CaseLink, Kind, Player, Step, Test},
};
use crate::service::api::{
    Open,
    steps::{ExpectedResult, StepBody},
    tests::{TestCase, TestContent, TestItem, TestPlayer},
};

/// Word for an item that is a collection.
const COLLECTION: &str = "collection";

/// Word for an item that is a step of its own.
const STEP: &str = "step";

impl Kind {
    /// Least and most seconds when nothing is said (supplement 6.2).
    pub(super) const fn default_budget(self) -> (Option<i64>, i64) {
        match self {
            Self::Verification => (None, 19_800),
            Self::Discovery => (Some(3_600), 10_800),
            Self::Task => (Some(0), 19_800),
        }
    }
}

/// What somebody wrote who made this test.
pub(super) fn written(test: &Test) -> TestContent {
    let (min_seconds, max_seconds) = test.kind.default_budget();
    let numbered = |index: usize| (index + 1).to_string();
    let players = test.players.iter().enumerate();

    TestContent {
        tmsys: case_links(&test.cases),
        source: Some("repository".to_owned()),
        min_seconds,
        max_seconds: Some(max_seconds),
        players_by_key: players.map(|(index, one)| (numbered(index), player(index, one))).collect(),
        player_order: (0..test.players.len()).map(numbered).collect(),
        ..TestContent::default()
    }
}

fn case_links(cases: &[CaseLink]) -> Option<Open> {
    let links: Vec<_> =
        cases.iter().map(|link| json!({"suite_id": link.suite, "case_id": link.case})).collect();
    (!links.is_empty()).then(|| Open::from_iter([("cases".to_owned(), json!(links))]))
}

fn player(index: usize, player: &Player) -> TestPlayer {
    let items = items(&player.steps);
    let keys: Vec<_> = (1..=items.len()).map(|number| number.to_string()).collect();
    TestPlayer {
        name: Some(format!("Player {}", index + 1)),
        items_by_key: Some(keys.iter().cloned().zip(items).collect()),
        item_order: Some(keys),
        ..TestPlayer::default()
    }
}

/// Steps of the same collection, one after the other, are one item.
fn items(steps: &[Step]) -> Vec<TestItem> {
    let mut items: Vec<TestItem> = Vec::new();
    for step in steps {
        let last = items.last().and_then(|item| item.collection_id.as_ref());
        if step.shared.is_some() && step.shared.as_ref() == last {
            continue;
        }

        let kind = if step.shared.is_some() { COLLECTION } else { STEP };
        items.push(TestItem {
            r#type: kind.to_owned(),
            collection_id: step.shared.clone(),
            steps_by_key: None,
            step_order: None,
            step: if step.shared.is_some() { StepBody::default() } else { body(step) },
        });
    }

    items
}

/// The step as somebody writes it.
pub(super) fn body(step: &Step) -> StepBody {
    let expected = |text: &String| ExpectedResult { expected: text.clone(), more: Open::new() };
    StepBody {
        test_step_id: Some(step.id.clone()),
        goal: Some(step.goal.clone()),
        expected_results: Some(step.expected.iter().map(expected).collect()),
        finish_condition: None,
        screenshots: Some(1),
        pause_game: Some(false),
        performance_monitoring: Some(false),
        hint_manual: Some(Vec::new()),
        more: Open::new(),
    }
}

/// Adds what the service derives when a step is read.
pub(super) fn derive(step: &mut StepBody) {
    if step.finish_condition.is_none() {
        step.finish_condition = finish_condition(&expectations(step));
    }
}

/// The texts of the expected results.
pub(super) fn expectations(step: &StepBody) -> Vec<String> {
    step.expected_results.iter().flatten().map(|result| result.expected.clone()).collect()
}

/// The test as readers see it, with or without the steps of its collections.
pub(super) fn shown(project: &Project, test: &Test, with_collections: bool) -> TestCase {
    let mut content = test.content.clone();
    let items = content.players_by_key.values_mut().filter_map(|player| player.items_by_key.as_mut());

    for item in items.flat_map(BTreeMap::values_mut) {
        derive(&mut item.step);
        let collection =
            item.collection_id.as_deref().filter(|_| with_collections && item.r#type == COLLECTION);
        if let Some(collection) = collection.and_then(|id| find(&project.shared_steps, id)) {
            let steps = super::shared_steps::shown(collection).steps;
            (item.steps_by_key, item.step_order) = (Some(steps.steps_by_key), Some(steps.step_order));
        }
    }

    case(project, test, content)
}

/// The record of a test with this content.
pub(super) fn case(project: &Project, test: &Test, content: TestContent) -> TestCase {
    TestCase {
        id: test.id.clone(),
        project_id: project.id.clone(),
        name: test.name.clone(),
        version: test.version,
        tags: test.tags.clone(),
        test_type: test.kind.name().to_owned(),
        content,
    }
}

/// Whether an item is a collection.
pub(super) fn is_collection(item: &TestItem) -> bool {
    item.r#type == COLLECTION
}

/// Whether an item refers to that collection.
pub(super) fn refers_to(content: &TestContent, collection: &str) -> bool {
    let players = content.players_by_key.values();
    let mut items = players.filter_map(|player| player.items_by_key.as_ref()).flat_map(BTreeMap::values);
    items.any(|item| is_collection(item) && item.collection_id.as_deref() == Some(collection))
}

/// The cases that are linked; those that were found lost `before` still are.
pub(super) fn linked_cases(content: &TestContent, before: &[CaseLink]) -> Vec<CaseLink> {
    let links = content.tmsys.as_ref().and_then(|links| links.get("cases")).and_then(Value::as_array);
    let link = |link: &Value| {
        let suite = link.get("suite_id")?.as_u64().and_then(|suite| u32::try_from(suite).ok())?;
        let case = link.get("case_id")?.as_u64()?;
        let lost = before.iter().any(|link| link.case == case && !link.exists);
        Some(CaseLink { suite, case, exists: !lost })
    };
    links.into_iter().flatten().filter_map(link).collect()
}
