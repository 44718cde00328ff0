//! The tests of `demo`.

use super::builders::{ends, step, test};
use crate::sandbox::{
    model::{
        outcome::{RunResult, ScriptedOutcome},
        project::Project,
        saved_test::{
            SavedTest, ScriptedStep,
            TestKind::{Discovery, Task, Verification},
        },
    },
    seed::ids::{
        BUG_ACTIVE, BUG_ARCHIVED, BUG_AUDIO, BUG_CRITICAL, BUG_UNREVIEWED, BUG_VISUAL, FOLDER_LEVELS,
        FOLDER_MENUS, FOLDER_ONLINE, FOLDER_WORLD_1, FOLDER_WORLD_2, STEPS_SIGN_IN, STEPS_START_LEVEL,
        STEPS_UNUSED, TEST_BLOCKED, TEST_DISCOVERY, TEST_ERRORS, TEST_FAILS, TEST_FLAKY, TEST_PASSES,
        TEST_SKIPPED, TEST_TASK, TEST_THREE_PLAYERS, TEST_TWO_PLAYERS,
    },
};

/// Adds folders and tests.
pub(super) fn add(project: &mut Project) {
    for (id, path) in [
        (FOLDER_LEVELS, "Levels"),
        (FOLDER_WORLD_1, "Levels/World 1"),
        (FOLDER_WORLD_2, "Levels/World 2"),
        (FOLDER_MENUS, "Menus"),
        (FOLDER_ONLINE, "Online"),
    ] {
        project.add_folder(id, path);
    }

    project.add_shared_step(STEPS_START_LEVEL, "Start level 1", 4, start_level());
    project.add_shared_step(STEPS_SIGN_IN, "Sign in", 2, sign_in());
    project.add_shared_step(STEPS_UNUSED, "Leave the session", 1, leave_session());

    for test in levels().into_iter().chain(menus()).chain(online()).chain([discovery()]) {
        project.add_test(test);
    }
}

fn first_level() -> Vec<ScriptedStep> {
    vec![
        step(
            "Start level 1 from the title screen",
            &["The level starts", "The lantern is lit"],
            32_250,
            "The title menu opened; level 1 started with the lantern lit.",
        ),
        step(
            "Collect the three sparks",
            &["The counter shows 3 of 3"],
            41_500,
            "All sparks collected, the counter reads 3/3.",
        ),
        step(
            "Reach the beacon",
            &["The results screen appears", "The score is above 0"],
            38_000,
            "Beacon reached. The results screen shows 4,120 points.",
        ),
    ]
}

fn boss() -> Vec<ScriptedStep> {
    vec![
        step(
            "Enter the forge and approach the Cinder Golem",
            &["The boss bar appears"],
            30_500,
            "The gate closed and the boss bar appeared.",
        ),
        step(
            "Break the golem's shield with two lantern flashes",
            &["The shield breaks"],
            55_000,
            "The shield broke after the second flash.",
        ),
        step(
            "Defeat the golem",
            &["The golem collapses", "The forge key drops"],
            47_750,
            "The golem collapsed and dropped the forge key.",
        ),
    ]
}

fn season() -> Vec<ScriptedStep> {
    vec![
        step("Open the season page", &["The season banner is shown"], 21_000, "The page opened."),
        step("Claim the season reward", &["The reward is in the bag"], 26_000, "The reward was claimed."),
    ]
}

fn levels() -> Vec<SavedTest> {
    vec![
        test(TEST_PASSES, "Finish the first level", Verification, Some(FOLDER_WORLD_1), first_level())
            .tagged(&["smoke"])
            .linked(11, 1041)
            .linked(11, 1042),
        test(TEST_FLAKY, "Beat the Cinder Golem", Verification, Some(FOLDER_WORLD_2), boss())
            .tagged(&["smoke", "boss"])
            .linked(12, 1077)
            .with_outcomes(vec![
                ends(
                    RunResult::Timeout,
                    2,
                    "The golem stayed behind the pillar, out of reach; the time budget ran out.",
                ),
                ScriptedOutcome::passed(),
            ]),
        test(TEST_SKIPPED, "Claim the season reward", Verification, Some(FOLDER_LEVELS), season())
            .linked(11, 1050)
            .with_outcomes(vec![ends(
                RunResult::Skipped,
                1,
                "No season is active on this build; there is nothing to claim.",
            )]),
    ]
}

fn start_level() -> Vec<ScriptedStep> {
    vec![
        step("Start level 1", &["The level starts"], 28_500, "Level 1 started.")
            .in_collection(STEPS_START_LEVEL),
    ]
}

fn pause() -> Vec<ScriptedStep> {
    let own = [
        step(
            "Pause the game with the button at the top right",
            &["The button is visible", "The pause menu opens"],
            33_000,
            "The pause menu opened.",
        ),
        step(
            "Resume the game",
            &["The countdown runs from 3"],
            22_000,
            "The countdown ran and play went on.",
        ),
    ];

    start_level().into_iter().chain(own).collect()
}

fn languages() -> Vec<ScriptedStep> {
    vec![
        step("Switch to Japanese", &["The menu is in Japanese"], 24_000, "The menu switched to Japanese."),
        step("Switch to Arabic", &["The menu is mirrored"], 27_500, "The menu was mirrored."),
    ]
}

fn shop() -> Vec<ScriptedStep> {
    vec![
        step("Open the shop", &[], 24_000, "The shop opened on the lantern tab."),
        step("Buy {{item}} and equip it", &[], 36_500, "Bought for 80 embers and equipped."),
    ]
}

fn menus() -> Vec<SavedTest> {
    vec![
        test(TEST_FAILS, "Pause and resume", Verification, Some(FOLDER_MENUS), pause())
            .tagged(&["smoke", "hud"])
            .linked(12, 1063)
            .linked_to_deleted(12, 1043)
            .with_outcomes(vec![
                ends(RunResult::Failed, 2, "Three taps on the pause button had no effect; the game went on and the lantern burnt out.")
                    .finds(BUG_ACTIVE, 2, 37),
            ]),
        test(TEST_ERRORS, "Switch every language", Verification, Some(FOLDER_MENUS), languages())
            .with_outcomes(vec![ends(RunResult::Error, 2, "The game process ended while the fonts were loading.")]),
        test(TEST_TASK, "Buy an item in the shop", Task, Some(FOLDER_MENUS), shop()).tagged(&["shop"]).linked(12, 1090),
    ]
}

fn sign_in() -> Vec<ScriptedStep> {
    vec![
        step(
            "Sign in with the test account",
            &["The profile name is shown"],
            25_000,
            "Signed in as lantern-qa.",
        )
        .in_collection(STEPS_SIGN_IN),
    ]
}

fn cloud() -> Vec<ScriptedStep> {
    let own = step(
        "Restore the cloud save",
        &["Level 7 is unlocked"],
        31_000,
        "The save was restored up to level 7.",
    );
    sign_in().into_iter().chain([own]).collect()
}

fn leave_session() -> Vec<ScriptedStep> {
    vec![
        step("Open the session menu", &["The menu opens"], 8_000, "The menu opened."),
        step("Leave the session", &["The title screen appears"], 14_000, "Back on the title screen."),
    ]
}

fn host() -> Vec<ScriptedStep> {
    vec![
        step(
            "Open a private session",
            &["A code is shown"],
            26_000,
            "The session opened with the code EMBER-42.",
        ),
        step("Light the beacon together", &["Both lanterns light it"], 52_000, "The beacon burns."),
    ]
}

fn guest(how: &str) -> Vec<ScriptedStep> {
    vec![
        step(how, &["The lobby shows everyone"], 34_000, "Joined; everyone is in the lobby."),
        step("Light the beacon together", &["Both lanterns light it"], 49_500, "The beacon burns."),
    ]
}

fn online() -> Vec<SavedTest> {
    vec![
        test(TEST_BLOCKED, "Restore a cloud save", Verification, Some(FOLDER_ONLINE), cloud())
            .linked(13, 1101)
            .with_outcomes(vec![ends(
                RunResult::Blocked,
                2,
                "The save service answers \"maintenance\"; nothing can be restored.",
            )]),
        test(TEST_TWO_PLAYERS, "Co-op: light the beacon", Verification, Some(FOLDER_ONLINE), host())
            .with_player(guest("Join with the code"))
            .tagged(&["coop"])
            .linked(13, 1110),
        test(TEST_THREE_PLAYERS, "Cross-play: three lanterns", Verification, Some(FOLDER_ONLINE), host())
            .with_player(guest("Join from the phone"))
            .with_player(guest("Join from the console"))
            .tagged(&["coop", "cross-play"])
            .linked(13, 1111)
            .with_outcomes(vec![
                ends(
                    RunResult::Failed,
                    2,
                    "The guest on the phone fell through the bridge and never reached the beacon.",
                )
                .for_player(2)
                .finds(BUG_CRITICAL, 2, 61),
            ]),
    ]
}

fn discovery() -> SavedTest {
    let steps = vec![step(
        "Explore the Ashen Woods and look for anything that is broken",
        &[],
        240_000,
        "Walked every path of the woods; four things stood out.",
    )];

    let found = ScriptedOutcome::passed()
        .finds(BUG_CRITICAL, 1, 14)
        .finds(BUG_AUDIO, 1, 33)
        .finds(BUG_VISUAL, 1, 58)
        .finds(BUG_UNREVIEWED, 1, 71);

    test(TEST_DISCOVERY, "Explore the Ashen Woods", Discovery, None, steps)
        .tagged(&["exploration"])
        .with_outcomes(vec![found])
}

/// Returns an earlier version of the test of the first level, when its icons still overlapped.
pub(super) fn earlier_first_level(test: &SavedTest) -> SavedTest {
    let result =
        ends(RunResult::Failed, 2, "The lantern icon covers the spark counter.").finds(BUG_ARCHIVED, 2, 19);
    SavedTest { version: 1, outcomes: vec![result], ..test.clone() }
}
