//! Builders of seed records.

use std::sync::Arc;

use crate::{
    sandbox::model::{
        device_config::{Device, DeviceConfig},
        folder::Folder,
        ids,
        moment::{Millis, Moment},
        outcome::{BugFinding, RunResult, ScriptedOutcome},
        project::Project,
        saved_test::{CaseLink, SavedTest, ScriptedPlayer, ScriptedStep, TestKind},
        test_content, written_content,
    },
    service::api::{
        Open,
        configs::{AgentConfig, CredentialKind},
        shared_steps::SharedStep,
        steps::StepList,
        tests::TestContent,
    },
};

/// Returns the time that is `minutes` before the start of the simulated clock.
pub(super) fn minutes_ago(minutes: Millis) -> Moment {
    Moment::START - minutes * 60_000
}

/// Creates a step that passes with the report `report`.
pub(super) fn step(goal: &str, expected: &[&str], duration: Millis, report: &str) -> ScriptedStep {
    ScriptedStep {
        id: String::new(),
        shared: None,
        goal: goal.to_owned(),
        expected: owned(expected),
        duration,
        report: report.to_owned(),
    }
}

impl ScriptedStep {
    /// Makes the step part of a shared collection.
    pub(super) fn in_collection(self, collection: &str) -> Self {
        Self { shared: Some(collection.to_owned()), ..self }
    }
}

/// Creates an outcome other than success, at step number `step` (from 1) of the first player.
pub(super) fn ends(result: RunResult, step: usize, report: &str) -> ScriptedOutcome {
    ScriptedOutcome {
        result,
        player: 0,
        step: step.saturating_sub(1),
        report: report.to_owned(),
        findings: Vec::new(),
    }
}

impl ScriptedOutcome {
    /// Moves the outcome to player number `player` (from 1).
    pub(super) fn for_player(self, player: usize) -> Self {
        Self { player: player.saturating_sub(1), ..self }
    }

    /// Adds a bug that is found at step number `step` (from 1) of the same player.
    pub(super) fn finds(mut self, bug: &str, step: usize, turn: usize) -> Self {
        let (player, step) = (self.player, step.saturating_sub(1));
        self.findings.push(BugFinding { bug: bug.to_owned(), player, step, turn });
        self
    }
}

/// Creates a test that passes.
pub(super) fn test(
    id: &str,
    name: &str,
    kind: TestKind,
    folder: Option<&str>,
    steps: Vec<ScriptedStep>,
) -> SavedTest {
    SavedTest {
        id: id.to_owned(),
        name: name.to_owned(),
        kind,
        folder: folder.map(ToOwned::to_owned),
        version: 3,
        tags: Vec::new(),
        players: vec![ScriptedPlayer { steps }],
        outcomes: vec![ScriptedOutcome::passed()],
        cases: Vec::new(),
        content: TestContent::default(),
    }
}

impl SavedTest {
    pub(super) fn tagged(self, tags: &[&str]) -> Self {
        Self { tags: owned(tags), ..self }
    }

    /// Sets how the attempts of the test end.
    pub(super) fn with_outcomes(self, outcomes: Vec<ScriptedOutcome>) -> Self {
        Self { outcomes, ..self }
    }

    pub(super) fn with_player(mut self, steps: Vec<ScriptedStep>) -> Self {
        self.players.push(ScriptedPlayer { steps });
        self
    }

    /// Links the test to a case of a suite.
    pub(super) fn linked(mut self, suite: u32, case: u64) -> Self {
        self.cases.push(CaseLink { suite, case, exists: true });
        self
    }

    /// Links the test to a case that was deleted.
    pub(super) fn linked_to_deleted(mut self, suite: u32, case: u64) -> Self {
        self.cases.push(CaseLink { suite, case, exists: false });
        self
    }
}

/// Creates a config. `devices` lists the label and the OS version of each device.
pub(super) fn config(
    id: &str,
    name: &str,
    kind: &str,
    provider: Option<&str>,
    devices: &[(&str, &str)],
) -> DeviceConfig {
    let device = |(label, os_version): &(&str, &str)| Device {
        label: (*label).to_owned(),
        os_version: (*os_version).to_owned(),
        works: true,
    };

    DeviceConfig {
        id: id.to_owned(),
        name: name.to_owned(),
        description: None,
        kind: kind.to_owned(),
        pinned: false,
        provider: provider.map(ToOwned::to_owned),
        devices: devices.iter().map(device).collect(),
        private: false,
        multi_device: devices.len() > 1,
    }
}

impl DeviceConfig {
    pub(super) fn described(self, description: &str) -> Self {
        Self { description: Some(description.to_owned()), ..self }
    }

    pub(super) fn pinned(self) -> Self {
        Self { pinned: true, ..self }
    }

    pub(super) fn private(self) -> Self {
        Self { private: true, ..self }
    }

    /// Marks the devices with these labels as broken.
    pub(super) fn broken(mut self, labels: &[&str]) -> Self {
        for device in self.devices.iter_mut().filter(|device| labels.contains(&device.label.as_str())) {
            device.works = false;
        }
        self
    }
}

impl Project {
    pub(super) fn add_folder(&mut self, id: &str, path: &str) {
        let parent = path.rsplit_once('/').map(|(parent, _)| parent);
        let parent = self.folders.values().find(|folder| Some(folder.path.as_str()) == parent);
        let folder = Folder {
            id: id.to_owned(),
            path: path.to_owned(),
            parent: parent.map(|folder| folder.id.clone()),
            description: None,
            tags: Vec::new(),
            created: minutes_ago(120 * 1_440),
            created_by: "Dana Reyes".to_owned(),
        };
        self.folders.insert(id.to_owned(), Arc::new(folder));
    }

    /// Adds a test with all versions up to its own. The versions have equal content.
    pub(super) fn add_test(&mut self, mut test: SavedTest) {
        for (number, player) in (1..).zip(&mut test.players) {
            name_steps(&test.id, number, player);
        }

        test.content = written_content::content_of(&test);
        let saved = |version| Arc::new(SavedTest { version, ..test.clone() });
        self.test_versions.insert(test.id.clone(), (0..=test.version).map(saved).collect());
        self.tests.insert(test.id.clone(), Arc::new(test));
    }

    /// Adds a shared step collection with all versions up to `version`. The versions have equal content.
    pub(super) fn add_shared_step(&mut self, id: &str, name: &str, version: u32, steps: Vec<ScriptedStep>) {
        let mut player =
            ScriptedPlayer { steps: steps.into_iter().map(|step| step.in_collection(id)).collect() };
        name_steps(id, 1, &mut player);

        let keys = (1..=player.steps.len()).map(|number| number.to_string());
        let collection = SharedStep {
            id: id.to_owned(),
            project_id: self.id.clone(),
            name: name.to_owned(),
            version,
            is_shared: true,
            created_at: Some(minutes_ago(60 * 1_440).to_string()),
            created_by: Some("Ilir Hoxha".to_owned()),
            steps: StepList {
                step_order: keys.clone().collect(),
                steps_by_key: keys.zip(player.steps.iter().map(test_content::body)).collect(),
            },
            more: Open::new(),
        };

        let saved = |version| Arc::new(SharedStep { version, ..collection.clone() });
        self.shared_step_versions.insert(id.to_owned(), (0..=version).map(saved).collect());
        self.shared_steps.insert(id.to_owned(), Arc::new(collection));
    }

    pub(super) fn add_agent_config(&mut self, id: &str, name: &str, description: Option<&str>) {
        let (name, description) = (name.to_owned(), description.map(ToOwned::to_owned));
        let config =
            AgentConfig { id: id.to_owned(), name, description, pinned: self.agent_configs.is_empty() };
        self.agent_configs.insert(id.to_owned(), Arc::new(config));
    }

    pub(super) fn add_credential_kind(&mut self, id: &str, name: &str, exclusive: bool) {
        let (id, name) = (id.to_owned(), name.to_owned());
        self.credential_kinds.push(CredentialKind { id, name, description: None, exclusive });
    }

    pub(super) fn add_config(&mut self, config: DeviceConfig) {
        self.configs.insert(config.id.clone(), Arc::new(config));
    }
}

/// Assigns ids to the steps of a player. The steps of a collection have the same ids in every test.
fn name_steps(owner: &str, number: usize, player: &mut ScriptedPlayer) {
    let mut position = 0;
    for (index, step) in (1..).zip(&mut player.steps) {
        // A step of a collection has the id of its position in the collection, so that all tests show the same id.
        position = if step.shared.is_some() { position + 1 } else { 0 };
        step.id = match &step.shared {
            Some(collection) => ids::step(&[collection, &position.to_string()]),
            None => ids::step(&[owner, &number.to_string(), &index.to_string()]),
        };
    }
}

pub(super) fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
