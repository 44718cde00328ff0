//! The written content of a test that is described by its steps.

use serde_json::json;

use crate::{
    sandbox::model::{
        saved_test::{CaseLink, SavedTest, ScriptedPlayer, ScriptedStep},
        test_content::{COLLECTION, body},
    },
    service::api::{
        Open,
        steps::StepBody,
        tests::{TestContent, TestItem, TestPlayer},
    },
};

/// Type of an item that is a single step.
const STEP: &str = "step";

/// Returns the content that describes the players of `test`.
pub(crate) fn content_of(test: &SavedTest) -> TestContent {
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
