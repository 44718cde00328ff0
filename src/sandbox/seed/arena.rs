//! Project `arena`: Skyline Arena.

use std::sync::Arc;

use super::{
    bugs,
    builders::{config, ends, minutes_ago, step, test},
    builds, history,
    ids::{
        ARENA_AGENT, ARENA_BUG, ARENA_CONFIG_LINUX, ARENA_CONFIG_TABLETS, ARENA_CONFIG_XBOX,
        ARENA_CREDENTIALS, ARENA_FOLDER_MATCHES, ARENA_PLAN, ARENA_PROJECT, ARENA_STEPS_DUEL,
        ARENA_TEST_DISCOVERY, ARENA_TEST_FAILS, ARENA_TEST_PASSES, ARENA_TEST_TWO_PLAYERS,
    },
    knowledge,
};
use crate::{
    sandbox::model::{
        dialect::Dialect,
        outcome::RunResult,
        project::Project,
        saved_test::{
            ScriptedStep,
            TestKind::{Discovery, Verification},
        },
        test_plan::{PlanItem, SavedPlan},
    },
    service::api::Open,
};

/// Returns the project with all its records.
pub(in crate::sandbox) fn project() -> Project {
    let mut project = Project::new(ARENA_PROJECT, Dialect::Lower);
    project.integration = false;
    project.bug_review = false;

    project.add_folder(ARENA_FOLDER_MATCHES, "Matches");
    add_tests(&mut project);
    add_configs(&mut project);
    project.add_shared_step(ARENA_STEPS_DUEL, "Meet in a duel", 1, duel());
    project.add_agent_config(ARENA_AGENT, "Competitive", None);
    project.add_credential_kind(ARENA_CREDENTIALS, "Ranked account", true);

    // Plans and history refer to the records before them.
    builds::add_arena(&mut project);
    add_plan(&mut project);
    bugs::add_arena(&mut project);
    history::add_arena(&mut project);
    knowledge::add_arena(&mut project);

    project
}

fn duel() -> Vec<ScriptedStep> {
    vec![
        step("Meet in a duel", &["The duel starts"], 40_000, "The duel started.")
            .in_collection(ARENA_STEPS_DUEL),
    ]
}

fn add_tests(project: &mut Project) {
    let training = vec![
        step(
            "Enter the training range",
            &["Ten targets stand up"],
            26_000,
            "The range opened with ten targets.",
        ),
        step("Hit every target", &["The counter shows 10"], 44_000, "All ten targets hit."),
    ];

    let flags = vec![
        step(
            "Start capture the flag against bots",
            &["The match starts"],
            35_000,
            "The match started on Rooftops.",
        ),
        step(
            "Take three flags",
            &["The third flag counts", "The victory screen appears"],
            58_500,
            "Victory.",
        ),
    ];

    let explore = vec![step("Explore the Rooftops map", &[], 150_000, "Nothing stood out.")];
    let folder = Some(ARENA_FOLDER_MATCHES);

    for test in [
        test(ARENA_TEST_PASSES, "Training range", Verification, None, training).tagged(&["ranked"]),
        test(ARENA_TEST_FAILS, "Capture the flag", Verification, folder, flags).with_outcomes(vec![
            ends(RunResult::Failed, 2, "The game closed when the third flag was taken.")
                .finds(ARENA_BUG, 2, 48),
        ]),
        test(ARENA_TEST_TWO_PLAYERS, "Duel", Verification, folder, duel())
            .with_player(duel())
            .with_outcomes(vec![ends(RunResult::Blocked, 1, "No opponent was found.")]),
        test(ARENA_TEST_DISCOVERY, "Explore the Rooftops", Discovery, folder, explore),
    ] {
        project.add_test(test);
    }
}

fn add_configs(project: &mut Project) {
    let storage = Some("build-storage");
    let tablets = [("Galaxy Tab S8", "13"), ("Pixel Tablet", "14")];

    for config in [
        config(ARENA_CONFIG_LINUX, "Linux servers", "linux", storage, &[("Rack 7", "Ubuntu 22.04")]).pinned(),
        config(ARENA_CONFIG_TABLETS, "Tablets", "android", storage, &tablets).broken(&["Pixel Tablet"]),
        config(ARENA_CONFIG_XBOX, "Xbox Series X", "xbox", Some("direct-url"), &[("Devkit X", "10.0")]),
    ] {
        project.add_config(config);
    }
}

fn add_plan(project: &mut Project) {
    let item = |test: &str, retries| PlanItem {
        test: test.to_owned(),
        retries,
        more: Open::new(),
        slots: Vec::new(),
    };

    let plan = SavedPlan {
        id: ARENA_PLAN.to_owned(),
        name: "Ranked season".to_owned(),
        items: vec![item(ARENA_TEST_PASSES, 0), item(ARENA_TEST_FAILS, 1)],
        slots: Vec::new(),
        default_slot_name: None,
        created: minutes_ago(50_000),
        modified: minutes_ago(9_000),
        created_by: "Mei Tanaka".to_owned(),
        modified_by: "Mei Tanaka".to_owned(),
        more: Open::new(),
    };

    project.plans.insert(plan.id.clone(), Arc::new(plan));
}
