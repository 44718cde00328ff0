//! Project `demo`: Emberfall.

use std::sync::Arc;

use super::{
    bugs,
    builders::{config, minutes_ago},
    builds, demo_tests, history,
    ids::{
        AGENT_CAREFUL, AGENT_CURIOUS, CONFIG_DIRECT_URL, CONFIG_IPHONE, CONFIG_PHONES,
        CONFIG_PHONES_ALL_BROKEN, CONFIG_PHONES_ONE_BROKEN, CONFIG_PLAYSTATION, CONFIG_PRIVATE_PHONE,
        CONFIG_PRIVATE_TABLET, CONFIG_UNKNOWN_SOURCE, CONFIG_WINDOWS, CREDENTIALS_CLOUD, CREDENTIALS_SHOP,
        DEMO_PROJECT, PLAN_CROSS_PLATFORM, PLAN_SMOKE, TEST_DISCOVERY, TEST_FAILS, TEST_FLAKY, TEST_PASSES,
        TEST_THREE_PLAYERS, TEST_TWO_PLAYERS,
    },
    knowledge,
};
use crate::{
    sandbox::model::{
        dialect::Dialect,
        project::Project,
        test_plan::{PlanItem, SavedPlan},
    },
    service::api::Open,
};

const STORAGE: Option<&str> = Some("build-storage");

/// Returns the project with all its records.
pub(in crate::sandbox) fn project() -> Project {
    let mut project = Project::new(DEMO_PROJECT, Dialect::Upper);

    // Plans and history refer to tests, configs and builds, so that these are added first.
    demo_tests::add(&mut project);
    add_configs(&mut project);
    add_private_configs(&mut project);
    project.add_agent_config(AGENT_CAREFUL, "Careful", Some("Reads every text and tries nothing twice."));
    project.add_agent_config(AGENT_CURIOUS, "Curious", None);
    project.add_credential_kind(CREDENTIALS_SHOP, "Shop account", true);
    project.add_credential_kind(CREDENTIALS_CLOUD, "Cloud save account", false);

    builds::add_demo(&mut project);
    add_plans(&mut project);
    bugs::add_demo(&mut project);
    history::add_demo(&mut project);
    knowledge::add_demo(&mut project);

    project
}

fn add_configs(project: &mut Project) {
    let phones = [("Pixel 8", "14"), ("Galaxy S23", "14"), ("Xperia 1 V", "13")];

    for config in [
        config(CONFIG_WINDOWS, "Windows PC", "windows", STORAGE, &[("Lab PC 4", "11 23H2")]).pinned(),
        config(CONFIG_PHONES, "Android phones", "android", STORAGE, &phones)
            .described("The three phones that most players have.")
            .pinned(),
        config(
            CONFIG_PHONES_ONE_BROKEN,
            "Android phones, lab B",
            "android",
            STORAGE,
            &[("Pixel 6a", "13"), ("Galaxy A52", "12")],
        )
        .described("The Galaxy A52 is in repair.")
        .broken(&["Galaxy A52"]),
        config(
            CONFIG_PHONES_ALL_BROKEN,
            "Android phones, lab C",
            "android",
            STORAGE,
            &[("Moto G84", "13"), ("Redmi Note 12", "13")],
        )
        .described("Being rewired: no phone is connected.")
        .broken(&["Moto G84", "Redmi Note 12"]),
        config(CONFIG_IPHONE, "iPhone 15", "ios", STORAGE, &[("iPhone 15", "17.3")]),
        config(CONFIG_PLAYSTATION, "PlayStation 5", "playstation", STORAGE, &[("Devkit 2", "9.00")]),
    ] {
        project.add_config(config);
    }
}

fn add_private_configs(project: &mut Project) {
    for config in [
        config(
            CONFIG_PRIVATE_PHONE,
            "Dana's Pixel 8 Pro",
            "android",
            STORAGE,
            &[("Pixel 8 Pro (Dana)", "14")],
        )
        .described("Private device.")
        .private(),
        config(
            CONFIG_PRIVATE_TABLET,
            "QA Galaxy Tab S9",
            "android",
            STORAGE,
            &[("Galaxy Tab S9 (QA)", "14")],
        )
        .described("Private device.")
        .private(),
        config(
            CONFIG_DIRECT_URL,
            "Windows, release branch",
            "windows",
            Some("direct-url"),
            &[("Lab PC 5", "11 23H2")],
        )
        .described("Fetches the last release from the download page."),
        config(CONFIG_UNKNOWN_SOURCE, "Steam Deck", "linux", None, &[("Steam Deck 1", "3.5")]),
    ] {
        project.add_config(config);
    }
}

fn add_plans(project: &mut Project) {
    let item = |test: &str, retries, slots: &[usize]| PlanItem {
        test: test.to_owned(),
        retries,
        more: Open::new(),
        slots: slots.to_vec(),
    };

    let smoke = SavedPlan {
        id: PLAN_SMOKE.to_owned(),
        name: "Release smoke".to_owned(),
        items: vec![
            item(TEST_PASSES, 0, &[]),
            item(TEST_FLAKY, 1, &[]),
            item(TEST_FAILS, 1, &[]),
            item(TEST_DISCOVERY, 0, &[]),
        ],
        slots: Vec::new(),
        default_slot_name: None,
        created: minutes_ago(90 * 1_440),
        modified: minutes_ago(3 * 1_440),
        created_by: "Dana Reyes".to_owned(),
        modified_by: "Ilir Hoxha".to_owned(),
        more: Open::new(),
    };

    let cross_platform = SavedPlan {
        id: PLAN_CROSS_PLATFORM.to_owned(),
        name: "Cross-play party".to_owned(),
        items: vec![item(TEST_TWO_PLAYERS, 1, &[1, 2]), item(TEST_THREE_PLAYERS, 0, &[1, 2, 3])],
        slots: vec![(2, Some("Phone".to_owned())), (3, Some("Console".to_owned()))],
        default_slot_name: Some("PC".to_owned()),
        created: minutes_ago(20 * 1_440),
        modified: minutes_ago(20 * 1_440),
        created_by: "Ilir Hoxha".to_owned(),
        modified_by: "Ilir Hoxha".to_owned(),
        more: Open::new(),
    };

    for plan in [smoke, cross_platform] {
        project.plans.insert(plan.id.clone(), Arc::new(plan));
    }
}
