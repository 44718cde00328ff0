//! Knowledge files of the projects.

use super::{
    builders::minutes_ago,
    ids::{AGENT_CAREFUL, ARENA_AGENT, ARENA_TEST_FAILS, TEST_FAILS},
};
use crate::sandbox::model::{
    knowledge::{KnowledgeScope, StoredKnowledgeFile},
    moment::Millis,
    project::Project,
};

impl Project {
    fn add_knowledge(&mut self, scope: &KnowledgeScope, path: &str, minutes: Millis, content: &str) {
        self.knowledge.push(StoredKnowledgeFile {
            scope: scope.clone(),
            path: path.to_owned(),
            content: content.to_owned(),
            uploaded: minutes_ago(minutes),
        });
    }
}

/// Adds the files of `demo`. [`super::ids::AGENT_CURIOUS`] and [`super::ids::TEST_PASSES`] have none.
pub(super) fn add_demo(project: &mut Project) {
    let scope = &KnowledgeScope::Project;
    project.add_knowledge(scope, "overview.md", 40_000, "# Emberfall\n\nAn adventure in seven worlds.\n");
    project.add_knowledge(
        scope,
        "guides/controls.md",
        39_000,
        "# Controls\n\nTap to walk, hold to run, swipe up to jump.\n",
    );
    project.add_knowledge(
        scope,
        "guides/.controls.md.meta.json",
        38_000,
        r#"{"description": "Controls of the game", "summary": "Gestures, keys and gamepad buttons of every action.", "keywords": ["controls", "gestures", "gamepad"]}"#,
    );
    project.add_knowledge(scope, "guides/worlds/world-1.csv", 20_000, "level,lanterns\n1,3\n2,5\n3,4\n");
    project.add_knowledge(
        scope,
        "guides/worlds/.world-1.csv.meta.json",
        20_000,
        r#"{"summary": "How many lanterns each level of world 1 has."}"#,
    );

    let careful = &KnowledgeScope::Agent(AGENT_CAREFUL.to_owned());
    project.add_knowledge(careful, "habits.txt", 15_000, "Read every dialog to its end before going on.\n");
    project.add_knowledge(
        careful,
        ".habits.txt.meta.json",
        15_000,
        r#"{"description": "Habits of the careful agent", "summary": "Never skips a dialog.", "keywords": ["dialogs"]}"#,
    );

    let fails = &KnowledgeScope::TestCase(TEST_FAILS.to_owned());
    project.add_knowledge(
        fails,
        "steps/known-trouble.md",
        9_000,
        "The bridge may load late on old phones.\n",
    );
}

pub(super) fn add_arena(project: &mut Project) {
    let scope = &KnowledgeScope::Project;
    project.add_knowledge(scope, "maps/rooftops.md", 30_000, "# Rooftops\n\nThree flags, two zip lines.\n");
    project.add_knowledge(
        scope,
        "maps/.rooftops.md.meta.json",
        30_000,
        r#"{"description": "The map Rooftops", "summary": "Where the flags and the zip lines are.", "keywords": ["map"]}"#,
    );

    let agent = &KnowledgeScope::Agent(ARENA_AGENT.to_owned());
    project.add_knowledge(agent, "tactics.txt", 12_000, "Take the high ground first.\n");

    let test = &KnowledgeScope::TestCase(ARENA_TEST_FAILS.to_owned());
    project.add_knowledge(test, "flags.txt", 11_000, "The third flag is behind the water tower.\n");
}
