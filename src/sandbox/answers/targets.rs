//! Resolves and checks the configs, builds and slots of a start.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::launch::LaunchTarget;
use super::prelude::*;
use crate::fields::Fields;
use crate::sandbox::model::builds::DeviceConfig;
use crate::sandbox::model::saved_test::{DEFAULT_SLOT, PlanItem, SavedPlan};
use crate::service::api::Uuid;
use crate::service::api::run_start::TargetDeploymentConfig;

type Targets = BTreeMap<String, TargetDeploymentConfig>;

/// Returns the target of a config and a build. Without a build, build storage deploys the newest suitable build.
pub(super) fn resolve_target(
    project: &Project,
    config: Option<&Uuid>,
    build: Option<&Uuid>,
) -> Result<Option<LaunchTarget>, ApiError> {
    let Some(id) = config else { return Ok(None) };
    let unknown = || ApiError::invalid(format!("unknown deployment config: {}", id.0));
    let config = Arc::clone(find(&project.configs, &id.0).ok_or_else(unknown)?);
    // A build works only with configs that take builds from build storage (service.md 2.1).
    let build = match build {
        None => project.newest_build(&config.kind).filter(|_| config.takes_builds()),
        Some(_) if !config.takes_builds() => {
            return Err(ApiError::invalid(format!(
                "build_id works only with build storage, which is not the build source of deployment config: {}",
                id.0
            )));
        }
        Some(build) => {
            let unknown = || ApiError::invalid(format!("unknown build: {}", build.0));
            Some(find(&project.builds, &build.0).ok_or_else(unknown)?)
        }
    };

    let build = build.cloned();

    Ok(Some(LaunchTarget { config, build }))
}

/// Returns the target of each player: its own, or the default. Every player needs one.
pub(super) fn player_targets(
    project: &Project,
    test: &SavedTest,
    default: Option<&LaunchTarget>,
    own: &Targets,
) -> Result<Vec<LaunchTarget>, ApiError> {
    let players = test.players.len();
    let within = |key: &str| key.parse::<usize>().is_ok_and(|number| (1..=players).contains(&number));
    if let Some(key) = own.keys().find(|key| !within(key)) {
        return Err(ApiError::invalid(format!("unknown player: {key}, the test has {players}")));
    }

    let (mut targets, mut missing) = (Vec::new(), Vec::new());
    for number in (1..=players).map(|number| number.to_string()) {
        match own.get(&number) {
            Some(named) => targets.extend(named_target(project, named)?),
            None if default.is_some() => targets.extend(default.cloned()),
            None => missing.push(number),
        }
    }

    check_none_missing("players", &missing)?;

    Ok(targets)
}

fn named_target(project: &Project, named: &TargetDeploymentConfig) -> Result<Option<LaunchTarget>, ApiError> {
    resolve_target(project, Some(&named.deployment_config_id), named.build_id.as_ref())
}

/// Returns the target of each slot. Every slot that a player uses needs one.
pub(super) fn slot_targets(
    project: &Project,
    plan: &SavedPlan,
    default: Option<&LaunchTarget>,
    own: &Targets,
) -> Result<BTreeMap<usize, LaunchTarget>, ApiError> {
    let mut targets: BTreeMap<_, _> =
        default.cloned().map(|target| (DEFAULT_SLOT, target)).into_iter().collect();
    for (key, named) in own {
        let slot = key.parse::<usize>().ok();
        let known = |slot: &usize| *slot == DEFAULT_SLOT || plan.slots.iter().any(|(index, _)| index == slot);
        let slot = slot.filter(known).ok_or_else(|| ApiError::invalid(format!("unknown slot: {key}")))?;
        targets.extend(named_target(project, named)?.map(|target| (slot, target)));
    }

    let slots_of = |item: &PlanItem| {
        let players = find(&project.tests, &item.test).map_or(0, |test| test.players.len());
        (0..players).map(|player| item.slot(player)).collect::<Vec<_>>()
    };
    let used: BTreeSet<_> = plan.items.iter().flat_map(slots_of).collect();
    let missing: Vec<_> =
        used.iter().filter(|slot| !targets.contains_key(slot)).map(ToString::to_string).collect();
    check_none_missing("slots", &missing)?;

    Ok(targets)
}

fn check_none_missing(what: &str, missing: &[String]) -> Result<(), ApiError> {
    if missing.is_empty() {
        return Ok(());
    }

    Err(ApiError::invalid(format!("missing deployment config for {what}: {}", missing.join(", "))))
}

/// Returns the config whose devices all get a run, if the request asks for this.
pub(super) fn all_devices_of(
    request: Option<bool>,
    default: Option<&LaunchTarget>,
) -> Result<Option<Arc<DeviceConfig>>, ApiError> {
    let Some(target) = default.filter(|_| request == Some(true)) else { return Ok(None) };
    if target.config.is_mobile() && target.config.is_multi_device() {
        Ok(Some(Arc::clone(&target.config)))
    } else {
        let text =
            "run_on_all_configured_devices needs a mobile deployment config with multi-device runs enabled";
        Err(ApiError::invalid(text))
    }
}

pub(super) fn slot_builds(slots: &BTreeMap<usize, LaunchTarget>) -> Option<Fields> {
    let extra = slots.iter().filter(|(slot, _)| **slot != DEFAULT_SLOT);
    let builds: Fields = extra
        .filter_map(|(slot, target)| Some((slot.to_string(), target.build.as_ref()?.id.clone().into())))
        .collect();
    Some(builds).filter(|builds| !builds.is_empty())
}
