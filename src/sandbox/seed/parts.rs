//! Short words for making seed records.

use std::sync::Arc;

use crate::sandbox::{
    clock::{Millis, Moment},
    configs::{Config, Device},
    project::{Build, Project},
    script::{Ending, Finding, Outcome},
    tests::{CaseLink, Folder, Kind, Player, Step, Test},
};

/// The moment so many minutes before the start clock.
pub(super) fn minutes_ago(minutes: Millis) -> Moment {
    Moment::START - minutes * 60_000
}

pub(super) fn step(goal: &str, expected: &[&str], lasts: Millis, report: &str) -> Step {
    Step { goal: goal.to_owned(), expected: owned(expected), lasts, report: report.to_owned() }
}

/// An outcome other than success, at a step (from 1) of the first player.
pub(super) fn ends(ending: Ending, step: usize, report: &str) -> Outcome {
    Outcome {
        ending,
        player: 0,
        step: step.saturating_sub(1),
        report: report.to_owned(),
        findings: Vec::new(),
    }
}

impl Outcome {
    /// The same for another player (from 1).
    pub(super) fn of_player(self, player: usize) -> Self {
        Self { player: player.saturating_sub(1), ..self }
    }

    /// Comes across a bug, at a step (from 1) of the same player.
    pub(super) fn finds(mut self, bug: &str, step: usize, turn: usize) -> Self {
        let (player, step) = (self.player, step.saturating_sub(1));
        self.findings.push(Finding { bug: bug.to_owned(), player, step, turn });
        self
    }
}

/// A test that passes.
pub(super) fn test(id: &str, name: &str, kind: Kind, folder: Option<&str>, steps: Vec<Step>) -> Test {
    Test {
        id: id.to_owned(),
        name: name.to_owned(),
        kind,
        folder: folder.map(ToOwned::to_owned),
        version: 3,
        tags: Vec::new(),
        players: vec![Player { steps }],
        script: vec![Outcome::passed()],
        cases: Vec::new(),
    }
}

impl Test {
    pub(super) fn tagged(self, tags: &[&str]) -> Self {
        Self { tags: owned(tags), ..self }
    }

    pub(super) fn ending(self, script: Vec<Outcome>) -> Self {
        Self { script, ..self }
    }

    /// Adds a player.
    pub(super) fn with(mut self, steps: Vec<Step>) -> Self {
        self.players.push(Player { steps });
        self
    }

    /// Links it to a case of a suite.
    pub(super) fn linked(mut self, suite: u32, case: u64) -> Self {
        self.cases.push(CaseLink { suite, case, exists: true });
        self
    }

    /// Links it to a case that does not exist any more.
    pub(super) fn linked_to_lost(mut self, suite: u32, case: u64) -> Self {
        self.cases.push(CaseLink { suite, case, exists: false });
        self
    }
}

/// A config whose devices have a label and a version.
pub(super) fn config(
    id: &str,
    name: &str,
    kind: &str,
    provider: Option<&str>,
    devices: &[(&str, &str)],
) -> Config {
    let device = |(label, os_version): &(&str, &str)| Device {
        label: (*label).to_owned(),
        os_version: (*os_version).to_owned(),
        works: true,
    };
    Config {
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

impl Config {
    pub(super) fn described(self, description: &str) -> Self {
        Self { description: Some(description.to_owned()), ..self }
    }

    pub(super) fn pinned(self) -> Self {
        Self { pinned: true, ..self }
    }

    pub(super) fn private(self) -> Self {
        Self { private: true, ..self }
    }

    /// Breaks the devices of these labels.
    pub(super) fn broken(mut self, labels: &[&str]) -> Self {
        for device in self.devices.iter_mut().filter(|device| labels.contains(&device.label.as_str())) {
            device.works = false;
        }
        self
    }
}

impl Project {
    pub(super) fn add_folder(&mut self, id: &str, path: &str) {
        self.folders.insert(id.to_owned(), Arc::new(Folder { path: path.to_owned() }));
    }

    pub(super) fn add_test(&mut self, test: Test) {
        self.tests.insert(test.id.clone(), Arc::new(test));
    }

    pub(super) fn add_config(&mut self, config: Config) {
        self.configs.insert(config.id.clone(), Arc::new(config));
    }

    pub(super) fn add_build(&mut self, id: &str, name: &str, platform: &str, created: Moment) {
        let (name, platform) = (name.to_owned(), platform.to_owned());
        self.builds.insert(id.to_owned(), Arc::new(Build { id: id.to_owned(), name, platform, created }));
    }
}

pub(super) fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
