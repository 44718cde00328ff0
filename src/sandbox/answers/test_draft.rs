//! Checks a test before it is saved and fills in defaults (service.md 6.2 to 6.4).

use std::{collections::BTreeMap, sync::Arc};

use serde_json::json;

use super::prelude::*;
use crate::sandbox::model::records::step_id;
use crate::sandbox::model::saved_test::{ScriptedOutcome, ScriptedPlayer, TestKind};
use crate::sandbox::model::test_content;
use crate::service::api::tests::{TestCase, TestContent, UnknownCollections};

pub(super) struct TestDraft<'a> {
    pub(super) case: TestCase,
    pub(super) folder: Option<String>,
    pub(super) unknown: Option<UnknownCollections>,
    pub(super) before: Option<&'a SavedTest>,
}

impl TestDraft<'_> {
    /// Returns the test to save, or a 400 for the first rule that it breaks.
    pub(super) fn finish(self, project: &Project) -> Result<SavedTest, ApiError> {
        let TestCase { id, name, version, tags, test_type, mut content, .. } = self.case;
        let kind = serde_json::from_value(json!(test_type))
            .map_err(|_| ApiError::invalid(format!("invalid request: test_type: {test_type}")))?;
        check_budget(kind, &mut content)?;
        // Unknown collections are removed before the orders are checked, because their keys are removed too.
        check_collections(project, self.unknown.unwrap_or_default(), &mut content)?;
        check_orders(&content)?;
        assign_step_ids(&id, version, &mut content);

        let before = self.before;
        let players = project.players(&name, &content, before.map_or(&[], |test| &test.players));

        Ok(SavedTest {
            outcomes: before.map_or_else(
                || vec![ScriptedOutcome::passed()],
                |test| adapt_outcomes(&test.outcomes, &players),
            ),
            cases: test_content::linked_cases(&content, before.map_or(&[], |test| &test.cases)),
            folder: self.folder,
            id,
            name,
            kind,
            version,
            tags,
            players,
            content,
        })
    }
}

/// Fills in the time budget of the kind of test, and checks it (service.md 6.2).
fn check_budget(kind: TestKind, content: &mut TestContent) -> Result<(), ApiError> {
    let (least, most) = kind.default_budget();
    if least.is_none() && content.min_seconds.is_some() {
        return Err(ApiError::invalid("min_seconds is not allowed for verification tests"));
    }

    content.min_seconds = content.min_seconds.or(least);
    content.max_seconds = content.max_seconds.or(Some(most));
    if content.min_seconds > content.max_seconds {
        return Err(ApiError::invalid("min_seconds must not be above max_seconds"));
    }

    Ok(())
}

/// Refuses or removes unknown collections, depending on `mode`. Steps of collections are not stored in the test.
fn check_collections(
    project: &Project,
    mode: UnknownCollections,
    content: &mut TestContent,
) -> Result<(), ApiError> {
    for player in content.players_by_key.values_mut() {
        let Some(items) = &mut player.items_by_key else { continue };
        let mut unknown = Vec::new();

        for (key, item) in items.iter_mut().filter(|(_, item)| test_content::is_collection(item)) {
            // A reader may send back the steps that `get_test` has shown. The collection defines them.
            (item.steps_by_key, item.step_order) = (None, None);
            let id = item.collection_id.as_deref().unwrap_or_default();
            if !project.shared_steps.contains_key(id) {
                unknown.push((key.clone(), id.to_owned()));
            }
        }

        if let (UnknownCollections::Error, Some((_, id))) = (mode, unknown.first()) {
            return Err(ApiError::invalid(format!("unknown shared step: {id}")));
        }

        for (key, _) in unknown {
            items.remove(&key);
            player.item_order.iter_mut().for_each(|order| order.retain(|one| *one != key));
        }
    }

    Ok(())
}

fn check_orders(content: &TestContent) -> Result<(), ApiError> {
    let unknown = |what: &str, key: &str| ApiError::invalid(format!("unknown key in {what}: {key}"));
    if let Some(key) = content.player_order.iter().find(|key| !content.players_by_key.contains_key(*key)) {
        return Err(unknown("player_order", key));
    }

    let none = BTreeMap::new();
    for player in content.players_by_key.values() {
        let items = player.items_by_key.as_ref().unwrap_or(&none);
        if let Some(key) = player.item_order.iter().flatten().find(|key| !items.contains_key(*key)) {
            return Err(unknown("item_order", key));
        }
    }

    Ok(())
}

fn assign_step_ids(test: &str, version: u32, content: &mut TestContent) {
    let version = version.to_string();
    for (player, one) in &mut content.players_by_key {
        for (key, item) in one.items_by_key.iter_mut().flatten() {
            if !test_content::is_collection(item) {
                let id = || step_id(&[test, player, key, &version]);
                item.step.test_step_id.get_or_insert_with(id);
            }
        }
    }
}

/// Returns the outcomes. An outcome at a step that no longer exists becomes a pass.
fn adapt_outcomes(outcomes: &[ScriptedOutcome], players: &[ScriptedPlayer]) -> Vec<ScriptedOutcome> {
    let step_exists = |outcome: &ScriptedOutcome| {
        players.get(outcome.player).is_some_and(|player| outcome.step < player.steps.len())
    };
    let adapt = |outcome: &ScriptedOutcome| {
        let fits = outcome.result == RunResult::Success || step_exists(outcome);
        if fits { outcome.clone() } else { ScriptedOutcome::passed() }
    };
    outcomes.iter().map(adapt).collect()
}

impl Project {
    /// Updates the tests that refer to a changed collection. Their versions do not change.
    pub(super) fn update_tests_of_collection(&mut self, collection: &str) {
        let tests = self.tests.values().filter(|test| test_content::refers_to(&test.content, collection));
        let changed = |test: &Arc<SavedTest>| {
            let players = self.players(&test.name, &test.content, &test.players);
            Arc::new(SavedTest {
                outcomes: adapt_outcomes(&test.outcomes, &players),
                players,
                ..SavedTest::clone(test)
            })
        };

        for test in tests.map(changed).collect::<Vec<_>>() {
            self.tests.insert(test.id.clone(), test);
        }
    }
}
