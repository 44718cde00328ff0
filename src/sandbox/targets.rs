//! On what the players of a start play: configs, builds and slots, resolved and checked.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Fault,
    configs::Config,
    launch::{Target, Work},
    plans::{DEFAULT_SLOT, Item, Plan},
    project::{Project, find},
    tests::Test,
};
use crate::{
    fields::Fields,
    service::api::{Uuid, start::TargetDeploymentConfig},
};

type Targets = BTreeMap<String, TargetDeploymentConfig>;

/// The target that a config and a build name. Without a build, build storage deploys the newest that fits.
pub(super) fn target(
    project: &Project,
    config: Option<&Uuid>,
    build: Option<&Uuid>,
) -> Result<Option<Target>, Fault> {
    let Some(id) = config else { return Ok(None) };
    let unknown = || Fault::invalid(format!("unknown deployment config: {}", id.0));
    let config = Arc::clone(find(&project.configs, &id.0).ok_or_else(unknown)?);
    let build = match build {
        None => project.newest_build(&config.kind).filter(|_| config.takes_builds()),
        Some(_) if !config.takes_builds() => {
            return Err(Fault::invalid(format!(
                "build_id works only with build storage, which is not the build source of deployment config: {}",
                id.0
            )));
        }
        Some(build) => {
            let unknown = || Fault::invalid(format!("unknown build: {}", build.0));
            Some(find(&project.builds, &build.0).ok_or_else(unknown)?)
        }
    };

    let build = build.cloned();

    Ok(Some(Target { config, build }))
}

/// The target of each player: its own, else the default; every player has one.
pub(super) fn player_targets(
    project: &Project,
    test: &Test,
    default: Option<&Target>,
    own: &Targets,
) -> Result<Vec<Target>, Fault> {
    let players = test.players.len();
    let within = |key: &str| key.parse::<usize>().is_ok_and(|number| (1..=players).contains(&number));
    if let Some(key) = own.keys().find(|key| !within(key)) {
        return Err(Fault::invalid(format!("unknown player: {key}, the test has {players}")));
    }

    let (mut targets, mut missing) = (Vec::new(), Vec::new());
    for number in (1..=players).map(|number| number.to_string()) {
        match own.get(&number) {
            Some(named) => targets.extend(named_target(project, named)?),
            None if default.is_some() => targets.extend(default.cloned()),
            None => missing.push(number),
        }
    }

    covered("players", &missing)?;

    Ok(targets)
}

fn named_target(project: &Project, named: &TargetDeploymentConfig) -> Result<Option<Target>, Fault> {
    target(project, Some(&named.deployment_config_id), named.build_id.as_ref())
}

/// The target of each slot; every slot that a player uses has one.
pub(super) fn slot_targets(
    project: &Project,
    plan: &Plan,
    default: Option<&Target>,
    own: &Targets,
) -> Result<BTreeMap<usize, Target>, Fault> {
    let mut targets: BTreeMap<_, _> =
        default.cloned().map(|target| (DEFAULT_SLOT, target)).into_iter().collect();
    for (key, named) in own {
        let slot = key.parse::<usize>().ok();
        let known = |slot: &usize| *slot == DEFAULT_SLOT || plan.slots.iter().any(|(index, _)| index == slot);
        let slot = slot.filter(known).ok_or_else(|| Fault::invalid(format!("unknown slot: {key}")))?;
        targets.extend(named_target(project, named)?.map(|target| (slot, target)));
    }

    let mut used: Vec<_> = plan.items.iter().flat_map(|item| used_slots(project, item)).collect();
    used.sort_unstable();
    used.dedup();

    let missing: Vec<_> =
        used.iter().filter(|slot| !targets.contains_key(slot)).map(ToString::to_string).collect();
    covered("slots", &missing)?;

    Ok(targets)
}

fn used_slots(project: &Project, item: &Item) -> Vec<usize> {
    let players = find(&project.tests, &item.test).map_or(0, |test| test.players.len());
    (0..players).map(|player| item.slot(player)).collect()
}

fn covered(what: &str, missing: &[String]) -> Result<(), Fault> {
    if missing.is_empty() {
        return Ok(());
    }
    Err(Fault::invalid(format!("missing deployment config for {what}: {}", missing.join(", "))))
}

/// Every player on a private device needs one of its own.
pub(super) fn own_devices(works: &[Work]) -> Result<(), Fault> {
    for work in works {
        let mut taken = Vec::new();
        for (index, target) in work.targets.iter().enumerate().filter(|(_, target)| target.config.private) {
            for device in &target.config.devices {
                if taken.contains(&&device.label) {
                    let player = index + 1;
                    let text = format!(
                        "private device {} is already used, player {player} needs its own",
                        device.label
                    );
                    return Err(Fault::invalid(text));
                }
                taken.push(&device.label);
            }
        }
    }
    Ok(())
}

/// The config on all of whose devices to run, if that is asked for.
pub(super) fn all_devices_of(
    asked: Option<bool>,
    default: Option<&Target>,
) -> Result<Option<Arc<Config>>, Fault> {
    let Some(target) = default.filter(|_| asked == Some(true)) else { return Ok(None) };
    if target.config.is_mobile() && target.config.multi_device {
        Ok(Some(Arc::clone(&target.config)))
    } else {
        let text =
            "run_on_all_configured_devices needs a mobile deployment config with multi-device runs enabled";
        Err(Fault::invalid(text))
    }
}

/// The build of each extra slot that resolved to one.
pub(super) fn slot_builds(slots: &BTreeMap<usize, Target>) -> Option<Fields> {
    let extra = slots.iter().filter(|(slot, _)| **slot != DEFAULT_SLOT);
    let builds: Fields = extra
        .filter_map(|(slot, target)| Some((slot.to_string(), target.build.as_ref()?.id.clone().into())))
        .collect();
    Some(builds).filter(|builds| !builds.is_empty())
}
