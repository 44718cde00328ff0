//! The names of devices and people in runs. Their forms are open (service.md 2.2).

use serde::Deserialize;

use crate::service::{
    api::{
        configs::DeploymentConfig,
        runs::{Initiator, Run, RunPlayer},
    },
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

/// Returns the device of all players of a run; `None` if it is not known or the players have several. A run does not name
/// its deployment config.
pub fn find_device<'a>(run: &Run, devices: &'a [DeploymentConfig]) -> Option<&'a DeploymentConfig> {
    let mut found = run.players.iter().map(|player| device_of(player, devices));
    let first = found.next()??;

    found.all(|other| other.is_some_and(|other| other.id == first.id)).then_some(first)
}

/// Returns the device with the name in the platform of a player, or else the only one of its platform.
fn device_of<'a>(player: &RunPlayer, devices: &'a [DeploymentConfig]) -> Option<&'a DeploymentConfig> {
    let (Platform { config, device, .. }, family) = (platform(player), player_platform(player));
    if family.is_empty() {
        return None;
    }
    let names = [config.device.name, device];
    let has_name = |one: &&DeploymentConfig| {
        names.iter().any(|name| !name.is_empty() && one.name.eq_ignore_ascii_case(name))
    };
    let is_of_platform =
        |one: &&DeploymentConfig| one.kind.as_ref().is_some_and(|kind| kind.eq_ignore_ascii_case(&family));

    only(devices.iter().filter(has_name)).or_else(|| only(devices.iter().filter(is_of_platform)))
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// Returns what the platforms of devices and builds have in common: `ios` takes builds for `ios-native`.
pub fn platform_family(platform: &str) -> &str {
    platform.split('-').next().unwrap_or(platform)
}

fn platform(player: &RunPlayer) -> Platform {
    player.platform.as_ref().map(view).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_device_is_known_by_its_name_or_if_it_is_the_only_one_of_its_platform() {
        let device = |id: &str, name: &str, kind: &str| DeploymentConfig {
            id: id.to_owned(),
            name: name.to_owned(),
            kind: Some(kind.to_owned()),
            ..DeploymentConfig::default()
        };
        let devices = [
            device("a", "Pixel 8", "android"),
            device("b", "Lab B", "android"),
            device("c", "Tower", "windows"),
        ];

        for (platform, expected) in [
            (json!({"kind": "android-native", "config": {"device": {"name": "pixel 8"}}}), Some("a")),
            (json!({"kind": "android-native", "config": {"device": {"name": "Pixel 9"}}}), None),
            (json!({"type": "windows", "device": "PC 4"}), Some("c")),
            (json!({"type": "windows"}), Some("c")),
            (json!({"type": "linux", "device": {"name": "x"}}), None),
            (json!({}), None),
        ] {
            let platform = platform.as_object().cloned();
            let run = Run { players: vec![RunPlayer { platform, ..RunPlayer::default() }], ..Run::default() };
            let found = find_device(&run, &devices);
            assert_eq!(found.map(|device| device.id.as_str()), expected);
        }
    }
}
