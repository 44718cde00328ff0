//! Records of tests in answers.

use std::collections::BTreeMap;

use crate::{
    sandbox::{
        answers::shared_steps,
        model::{
            project::Project,
            records::find,
            saved_test::SavedTest,
            test_content::{COLLECTION, derive},
        },
    },
    service::api::tests::{TestCase, TestContent},
};

/// Returns the record of a test, with or without the steps of its collections.
pub(super) fn to_record(project: &Project, test: &SavedTest, with_collections: bool) -> TestCase {
    let mut content = test.content.clone();
    let items = content.players_by_key.values_mut().filter_map(|player| player.items_by_key.as_mut());

    for item in items.flat_map(BTreeMap::values_mut) {
        derive(&mut item.step);
        let collection =
            item.collection_id.as_deref().filter(|_| with_collections && item.r#type == COLLECTION);
        if let Some(collection) = collection.and_then(|id| find(&project.shared_steps, id)) {
            let steps = shared_steps::to_record(collection).steps;
            (item.steps_by_key, item.step_order) = (Some(steps.steps_by_key), Some(steps.step_order));
        }
    }

    with_content(project, test, content)
}

/// Returns the record of a test with `content`.
pub(super) fn with_content(project: &Project, test: &SavedTest, content: TestContent) -> TestCase {
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
