//! The names of devices and people in runs. Their forms are open (service.md 2.2).

use serde::Deserialize;

use crate::service::{
    api::runs::{Initiator, RunPlayer},
    lenient::view,
};

/// The device of a player, in one of its two forms (service.md 2.2).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Platform {
    kind: String,
    r#type: String,
    device: String,
    config: PlatformConfig,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PlatformConfig {
    device: PlatformDevice,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PlatformDevice {
    name: String,
}

/// Returns the names of the devices of players, each once. A device without a name has that of its platform.
pub fn devices<'a>(players: impl IntoIterator<Item = &'a RunPlayer>) -> Vec<String> {
    let names = players.into_iter().map(|player| {
        let platform = platform(player);
        let names = [platform.config.device.name, platform.device, platform.kind, platform.r#type];
        names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
    });
    let mut devices: Vec<String> = Vec::new();
    for name in names.filter(|name| !name.is_empty()) {
        if !devices.contains(&name) {
            devices.push(name);
        }
    }

    devices
}

/// Returns the platform of a player as device configs name it: `android` for `android-native`.
pub fn player_platform(player: &RunPlayer) -> String {
    let Platform { kind, r#type, .. } = platform(player);
    platform_family(if kind.is_empty() { &r#type } else { &kind }).to_owned()
}

/// Returns what the platforms of devices and builds have in common: `ios` takes builds for `ios-native`.
pub fn platform_family(platform: &str) -> &str {
    platform.split('-').next().unwrap_or(platform)
}

fn platform(player: &RunPlayer) -> Platform {
    player.platform.as_ref().map(|platform| view(platform)).unwrap_or_default()
}

/// Who started a run, in the forms that are known. The form is open (service.md 2.2).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InitiatorValue {
    name: String,
    email: String,
    key_id: String,
}

/// Returns the name of who started a run: a person, or an API key.
pub fn initiator_name(initiator: &Initiator) -> Option<String> {
    let InitiatorValue { name, email, key_id } = view(&initiator.value);
    let key = if key_id.is_empty() { String::new() } else { format!("key {key_id}") };
    [name, email, key, initiator.r#type.clone()].into_iter().find(|name| !name.is_empty())
}
