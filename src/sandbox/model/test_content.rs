//! The written content of tests: items, steps and links to cases.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    sandbox::model::saved_test::{CaseLink, ScriptedStep},
    service::api::{
        Open,
        steps::{ExpectedResult, StepBody},
        tests::{TestContent, TestItem},
    },
};

/// Type of an item that is a shared collection.
pub(crate) const COLLECTION: &str = "collection";

/// Returns the written form of a step.
pub(crate) fn body(step: &ScriptedStep) -> StepBody {
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

/// Adds the fields that the service derives when a step is read.
pub(crate) fn derive(step: &mut StepBody) {
    if step.finish_condition.is_none() {
        step.finish_condition = finish_condition(&expectations(step));
    }
}

/// Returns the texts of the expected results.
pub(super) fn expectations(step: &StepBody) -> Vec<String> {
    step.expected_results.iter().flatten().map(|result| result.expected.clone()).collect()
}

pub(crate) fn is_collection(item: &TestItem) -> bool {
    item.r#type == COLLECTION
}

/// Returns whether an item of the content refers to `collection`.
pub(crate) fn refers_to(content: &TestContent, collection: &str) -> bool {
    let players = content.players_by_key.values();
    let mut items = players.filter_map(|player| player.items_by_key.as_ref()).flat_map(BTreeMap::values);
    items.any(|item| is_collection(item) && item.collection_id.as_deref() == Some(collection))
}

/// Returns the linked cases. A case that does not exist according to `before` still does not exist.
pub(crate) fn linked_cases(content: &TestContent, before: &[CaseLink]) -> Vec<CaseLink> {
    let links = content.tmsys.as_ref().and_then(|links| links.get("cases")).and_then(Value::as_array);
    let link = |link: &Value| {
        let suite = link.get("suite_id")?.as_u64().and_then(|suite| u32::try_from(suite).ok())?;
        let case = link.get("case_id")?.as_u64()?;
        let is_deleted = before.iter().any(|link| link.case == case && !link.exists);
        Some(CaseLink { suite, case, exists: !is_deleted })
    };
    links.into_iter().flatten().filter_map(link).collect()
}

/// Returns the finish condition, an older field that the service derives from the expected results.
pub(crate) fn finish_condition(expected: &[String]) -> Option<String> {
    match expected {
        [] => None,
        [only] => Some(only.clone()),
        several => {
            let numbered = several.iter().enumerate().map(|(index, one)| format!("{}. {one}", index + 1));
            Some(numbered.collect::<Vec<_>>().join("\n"))
        }
    }
}
