//! Creating and changing saved tests (supplement 6.3, 6.4).

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Answer, Answered, Caller, Fault, World, content,
    folders::{ROOT, normal},
    ids,
    merge::patched,
    project::{Project, find},
    script::{Ending, Outcome},
    tests::{Kind, NOT_FOUND, Player, Test},
};
use crate::{
    api::{
        Open,
        test_writing::{CreateTest, UnknownCollections, UpdateTest},
        tests::{TestCase, TestContent},
    },
    arguments::is_uuid,
};

impl Answer<CreateTest> for World {
    fn answer(&mut self, asked: CreateTest, caller: &Caller) -> Result<Answered<TestCase>, Fault> {
        let id = self.ids.uuid();
        let project = self.project_mut(caller)?;
        let folder = match asked.folder_id {
            Some(id) => known_folder(project, &id)?,
            None => folder_at(project, asked.folder_path.as_deref())?,
        };
        let case = new_case(project, id, asked.test)?;
        let draft = Draft { case, folder, unknown: asked.shared_collection_steps_mode, before: None };
        let test = draft.finished(project)?;
        let shown = content::shown(project, &test, asked.include_shared_collection_steps.unwrap_or(true));
        project.save_test(test);
        Ok(Answered::created(shown))
    }
}

/// The record of a new test, as far as it is given.
fn new_case(project: &Project, id: String, given: Open) -> Result<TestCase, Fault> {
    let empty = TestCase {
        id,
        project_id: project.id.clone(),
        name: String::new(),
        version: 0,
        tags: Vec::new(),
        test_type: Kind::Verification.name().to_owned(),
        content: TestContent { source: Some("repository".to_owned()), ..TestContent::default() },
    };
    let case = patched(&empty, given)?;
    if !is_uuid(&case.id) || find(&project.tests, &case.id).is_some() {
        return Err(Fault::invalid("invalid request: test.id: must be a UUID that no other test has"));
    }
    Ok(TestCase { id: case.id.to_ascii_lowercase(), project_id: empty.project_id, version: 0, ..case })
}

impl Answer<UpdateTest> for World {
    fn answer(&mut self, asked: UpdateTest, caller: &Caller) -> Result<Answered<TestCase>, Fault> {
        let project = self.project_mut(caller)?;
        let before = find(&project.tests, &asked.test_id.0).ok_or_else(|| Fault::not_found(NOT_FOUND))?;
        Fault::unless_latest(asked.expected_version, before.version)?;
        let folder = match (asked.folder_id, asked.folder_path) {
            (Some(id), _) => known_folder(project, &id)?,
            (None, Some(path)) => folder_at(project, path.as_deref())?,
            (None, None) => before.folder.clone(),
        };
        let case = changed_case(project, before, asked.patch)?;
        let unknown = asked.shared_collection_steps_mode;
        let test = Draft { case, folder, unknown, before: Some(before) }.finished(project)?;
        let shown = content::shown(project, &test, asked.include_shared_collection_steps.unwrap_or(true));
        project.save_test(test);
        Ok(shown.into())
    }
}

/// The record after a patch. Another kind of test has the time budget of its kind, unless one is given.
fn changed_case(project: &Project, before: &Test, patch: Open) -> Result<TestCase, Fault> {
    let mut content = before.content.clone();
    if patch.get("test_type").is_some_and(|kind| kind != before.kind.name()) {
        (content.min_seconds, content.max_seconds) = (None, None);
    }
    let present = content::case(project, before, content);
    let case = patched(&present, patch)?;
    Ok(TestCase { id: present.id, project_id: present.project_id, version: before.version + 1, ..case })
}

fn known_folder(project: &Project, id: &str) -> Result<Option<String>, Fault> {
    let folder =
        find(&project.folders, id).ok_or_else(|| Fault::invalid(format!("folder not found: {id}")))?;
    Ok(Some(folder.id.clone()))
}

fn folder_at(project: &Project, path: Option<&str>) -> Result<Option<String>, Fault> {
    let path = normal(path.unwrap_or(ROOT));
    if path == ROOT {
        return Ok(None);
    }
    let folder =
        project.folder_at(path).ok_or_else(|| Fault::invalid(format!("folder not found: {path}")))?;
    Ok(Some(folder.id.clone()))
}

/// A test that is about to be saved.
struct Draft<'a> {
    case: TestCase,
    folder: Option<String>,
    unknown: Option<UnknownCollections>,
    before: Option<&'a Test>,
}

impl Draft<'_> {
    /// The test, when everything about it is right.
    fn finished(self, project: &Project) -> Result<Test, Fault> {
        let TestCase { id, name, version, tags, test_type, mut content, .. } = self.case;
        let kind = Kind::named(&test_type)
            .ok_or_else(|| Fault::invalid(format!("invalid request: test_type: {test_type}")))?;
        check_budget(kind, &mut content)?;
        check_collections(project, self.unknown.unwrap_or_default(), &mut content)?;
        check_orders(&content)?;
        name_steps(&id, version, &mut content);
        let before = self.before;
        let players = project.players(&name, &content, before.map_or(&[], |test| &test.players));
        Ok(Test {
            script: before.map_or_else(|| vec![Outcome::passed()], |test| fitting(&test.script, &players)),
            cases: content::linked_cases(&content, before.map_or(&[], |test| &test.cases)),
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

/// Fills in the time budget of the kind of test, and checks it (supplement 6.2).
fn check_budget(kind: Kind, content: &mut TestContent) -> Result<(), Fault> {
    let (least, most) = kind.default_budget();
    if least.is_none() && content.min_seconds.is_some() {
        return Err(Fault::invalid("min_seconds is not allowed for verification tests"));
    }
    content.min_seconds = content.min_seconds.or(least);
    content.max_seconds = content.max_seconds.or(Some(most));
    if content.min_seconds > content.max_seconds {
        return Err(Fault::invalid("min_seconds must not be above max_seconds"));
    }
    Ok(())
}

/// Refuses collections that are not there, or leaves them out. Their steps are not the test's own.
fn check_collections(
    project: &Project,
    mode: UnknownCollections,
    content: &mut TestContent,
) -> Result<(), Fault> {
    for player in content.players_by_key.values_mut() {
        let Some(items) = &mut player.items_by_key else { continue };
        let mut unknown = Vec::new();
        for (key, item) in items.iter_mut().filter(|(_, item)| content::is_collection(item)) {
            (item.steps_by_key, item.step_order) = (None, None);
            let id = item.collection_id.as_deref().unwrap_or_default();
            if !project.shared_steps.contains_key(id) {
                unknown.push((key.clone(), id.to_owned()));
            }
        }
        if let (UnknownCollections::Error, Some((_, id))) = (mode, unknown.first()) {
            return Err(Fault::invalid(format!("unknown shared step: {id}")));
        }
        for (key, _) in unknown {
            items.remove(&key);
            player.item_order.iter_mut().for_each(|order| order.retain(|one| *one != key));
        }
    }
    Ok(())
}

/// Every key of an order has to be there.
fn check_orders(content: &TestContent) -> Result<(), Fault> {
    let unknown = |what: &str, key: &str| Fault::invalid(format!("unknown key in {what}: {key}"));
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

/// Gives ids to the steps that have none yet.
fn name_steps(test: &str, version: u32, content: &mut TestContent) {
    let version = version.to_string();
    for (player, one) in &mut content.players_by_key {
        for (key, item) in one.items_by_key.iter_mut().flatten() {
            if !content::is_collection(item) {
                let id = || ids::step(&[test, player, key, &version]);
                item.step.test_step_id.get_or_insert_with(id);
            }
        }
    }
}

/// The script, as far as its steps are still there.
fn fitting(script: &[Outcome], players: &[Player]) -> Vec<Outcome> {
    let is_there = |outcome: &Outcome| {
        players.get(outcome.player).is_some_and(|player| outcome.step < player.steps.len())
    };
    let fit = |outcome: &Outcome| {
        let fits = outcome.ending == Ending::Success || is_there(outcome);
        if fits { outcome.clone() } else { Outcome::passed() }
    };
    script.iter().map(fit).collect()
}

impl Project {
    /// Saves a version of a test.
    fn save_test(&mut self, test: Test) {
        let test = Arc::new(test);
        self.test_versions.entry(test.id.clone()).or_default().push(Arc::clone(&test));
        self.tests.insert(test.id.clone(), test);
    }

    /// Lets the tests that refer to a collection follow its change. Their versions stay.
    pub(super) fn follow(&mut self, collection: &str) {
        let tests = self.tests.values().filter(|test| content::refers_to(&test.content, collection));
        let changed = |test: &Arc<Test>| {
            let players = self.players(&test.name, &test.content, &test.players);
            Arc::new(Test { script: fitting(&test.script, &players), players, ..Test::clone(test) })
        };
        for test in tests.map(changed).collect::<Vec<_>>() {
            self.tests.insert(test.id.clone(), test);
        }
    }
}
