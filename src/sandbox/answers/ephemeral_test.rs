//! Ephemeral tests, which a start with instructions creates.

use std::sync::Arc;

use crate::{
    sandbox::model::{
        ids,
        outcome::ScriptedOutcome,
        saved_test::{SavedTest, ScriptedPlayer, ScriptedStep, TestKind},
    },
    service::api::{runs::EPHEMERAL_NAME, tests::TestContent},
};

/// First tag of every ephemeral run (service.md 2.1).
pub(super) const EPHEMERAL_TAG: &str = "api";

/// Duration of an ephemeral test, in milliseconds.
const EPHEMERAL_MS: i64 = 45_000;

/// Creates the test of a start with instructions. The test has one player and one step, which passes.
pub(super) fn ephemeral_test(id: String, name: Option<String>, instructions: String) -> Arc<SavedTest> {
    let step = ScriptedStep {
        id: ids::step(&[&id]),
        goal: instructions,
        shared: None,
        expected: Vec::new(),
        duration: EPHEMERAL_MS,
        report: "Carried out as instructed.".to_owned(),
    };

    Arc::new(SavedTest {
        id,
        name: name.unwrap_or_else(|| EPHEMERAL_NAME.to_owned()),
        kind: TestKind::Task,
        folder: None,
        version: 1,
        tags: Vec::new(),
        players: vec![ScriptedPlayer { steps: vec![step] }],
        outcomes: vec![ScriptedOutcome::passed()],
        cases: Vec::new(),
        content: TestContent::default(),
    })
}
