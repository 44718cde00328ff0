//! The names of builds, devices and people in runs. The forms of the last two are open (service.md 2.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    fields::{Fields, text_at},
    service::api::{
        configs::DeploymentConfig,
        runs::{BuildRef, Initiator, Run, RunPlayer},
    },
    text::{filled, shorten_line},
};

/// Longest name of a build, in characters.
pub(super) const LONGEST_BUILD: usize = 80;

/// A build.
pub type BuildName = NamedId;

/// A record that another one refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct NamedId {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl BuildName {
    pub(super) fn of_run(build: BuildRef) -> Option<Self> {
        let name = build.name.map(|name| shorten_line(&name, LONGEST_BUILD));
        Some(Self { id: filled(&build.id)?, name })
    }
}

/// Returns the names of the devices of players, each once. A device without a name has that of its platform.
pub fn devices<'a>(players: impl IntoIterator<Item = &'a RunPlayer>) -> Vec<String> {
    let mut devices: Vec<String> = Vec::new();
    for name in players.into_iter().filter_map(|player| device_name(player).or_else(|| platform(player))) {
        if !devices.iter().any(|known| known == name) {
            devices.push(name.to_owned());
        }
    }

    devices
}

/// Returns the platform of a player as device configs name it: `android` for `android-native`.
pub fn player_platform(player: &RunPlayer) -> String {
    platform_family(platform(player).unwrap_or_default()).to_owned()
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
    let (name, family) = (device_name(player), platform_family(platform(player)?));
    let has_name = |one: &&DeploymentConfig| name.is_some_and(|name| one.name.eq_ignore_ascii_case(name));
    let is_of_platform =
        |one: &&DeploymentConfig| one.kind.as_ref().is_some_and(|kind| kind.eq_ignore_ascii_case(family));

    only(devices.iter().filter(has_name)).or_else(|| only(devices.iter().filter(is_of_platform)))
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// Returns what the platforms of devices and builds have in common: `ios` takes builds for `ios-native`.
pub fn platform_family(platform: &str) -> &str {
    platform.split('-').next().unwrap_or(platform)
}

fn platform(player: &RunPlayer) -> Option<&str> {
    let platform = player.platform.as_ref()?;
    text_in(platform, "kind").or_else(|| text_in(platform, "type"))
}

fn device_name(player: &RunPlayer) -> Option<&str> {
    let platform = player.platform.as_ref()?;
    let of_config = platform.get("config").and_then(|config| text_at(config, "device.name"));
    of_config.or_else(|| text_in(platform, "device"))
}

/// Returns the name of who started a run: a person, or an API key.
pub fn initiator_name(initiator: &Initiator) -> Option<String> {
    let person = ["name", "email"].iter().find_map(|field| text_in(&initiator.value, field));
    let key = text_in(&initiator.value, "key_id").map(|key| format!("key {key}"));
    let kind = Some(initiator.r#type.clone()).filter(|kind| !kind.is_empty());
    person.map(str::to_owned).or(key).or(kind)
}

fn text_in<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str().filter(|text| !text.is_empty())
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
