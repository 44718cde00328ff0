//! The defaults of a run that a project file contains.

use serde_json::Value;

use crate::{cli::notes::note, fields::Fields, settings::Settings};

/// Arguments that name the devices and builds of each player. They exclude the defaults.
const OF_EACH_PLAYER: [&str; 2] = ["player_deployment_configs", "slot_deployment_configs"];

/// Adds the device and the build of the project file where `arguments` has none, and says so.
pub(super) fn add(settings: &Settings, arguments: &mut Fields) {
    let Some((defaults, path)) = settings.run_defaults() else { return };
    if OF_EACH_PLAYER.iter().any(|name| arguments.contains_key(*name)) {
        return;
    }

    let defaults =
        [("deployment_config_id", "device", &defaults.device), ("build_id", "build", &defaults.build)];
    for (argument, word, default) in defaults {
        if let Some(default) = default.as_ref().filter(|_| !arguments.contains_key(argument)) {
            note(&format!("{word} from the project file {}: {default}", path.display()));
            arguments.insert(argument.to_owned(), Value::from(default.as_str()));
        }
    }
}
