//! What a start asks for, resolved and checked (specification, POST runs; supplement 2.1, 4.6).

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Answer, Answered, Caller, Fault, World,
    configs::Config,
    launch::{Launch, Subject, Target, Work, rendered},
    plans::{self, DEFAULT_SLOT, Item, Plan},
    project::{Project, find},
    tests::{Kind, Outcome, Player, Step, Test},
};
use crate::{
    api::{
        Open, Uuid,
        start::{StartRun, StartRunResponse, StartTestPlanRun, TargetDeploymentConfig},
    },
    operation::Fields,
};

/// Name of an ephemeral test that was given none.
const EPHEMERAL_NAME: &str = "[api] ephemeral test";

/// Tag that every ephemeral run carries first.
const EPHEMERAL_TAG: &str = "api";

/// How long an ephemeral test takes, in milliseconds.
const EPHEMERAL_MS: i64 = 45_000;

type Targets = BTreeMap<String, TargetDeploymentConfig>;

impl Answer<StartRun> for World {
    fn answer(&mut self, asked: StartRun, caller: &Caller) -> Result<Answered<StartRunResponse>, Fault> {
        let ephemeral_id = self.ids.uuid();
        let project = self.project(caller)?;
        let subject = subject(project, &asked)?;
        known_agent_config(project, asked.agent_config_id.as_ref())?;
        let default = target(project, asked.deployment_config_id.as_ref(), asked.build_id.as_ref())?;
        let mut tags = asked.additional_tags.unwrap_or_default();
        let (subject, works) = match subject {
            Asked::Saved(test) => {
                let own = asked.player_deployment_configs.unwrap_or_default();
                let targets = player_targets(project, &test, default.as_ref(), &own)?;
                (Subject::Saved, vec![Work { test, retries: asked.retries.unwrap_or(0), targets }])
            }
            Asked::Plan(plan) => {
                let works = plan_works(project, &plan, |_, _| default.clone());
                (Subject::Plan(plan), works)
            }
            Asked::Instructions(instructions) => {
                tags.retain(|tag| tag != EPHEMERAL_TAG);
                tags.insert(0, EPHEMERAL_TAG.to_owned());
                let test = ephemeral_test(ephemeral_id, asked.name, instructions);
                let targets = default.iter().cloned().collect();
                (Subject::Ephemeral, vec![Work { test, retries: 0, targets }])
            }
        };
        let all_devices_of = all_devices_of(asked.run_on_all_configured_devices, default.as_ref())?;
        own_devices(&works)?;
        let template_data = template_data(asked.render_templates, asked.template_data);
        let launch = Launch {
            subject,
            works: rendered_works(works, template_data.as_ref()),
            instances: asked.instances.unwrap_or(1),
            tags,
            template_data,
            slot_builds: None,
            all_devices_of,
        };
        self.launch(&launch, caller)
    }
}

impl Answer<StartTestPlanRun> for World {
    fn answer(
        &mut self,
        asked: StartTestPlanRun,
        caller: &Caller,
    ) -> Result<Answered<StartRunResponse>, Fault> {
        let project = self.project(caller)?;
        let plan = found_plan(project, &asked.test_plan_id)?;
        known_agent_config(project, asked.agent_config_id.as_ref())?;
        let default = target(project, asked.deployment_config_id.as_ref(), asked.build_id.as_ref())?;
        let own = asked.slot_deployment_configs.unwrap_or_default();
        let slots = slot_targets(project, &plan, default.as_ref(), &own)?;
        let works = plan_works(project, &plan, |item, player| slots.get(&item.slot(player)).cloned());
        let all_devices_of = all_devices_of(asked.run_on_all_configured_devices, default.as_ref())?;
        own_devices(&works)?;
        let template_data = template_data(asked.render_templates, asked.template_data);
        let launch = Launch {
            subject: Subject::Plan(plan),
            works: rendered_works(works, template_data.as_ref()),
            instances: 1,
            tags: asked.additional_tags.unwrap_or_default(),
            template_data,
            slot_builds: slot_builds(&slots),
            all_devices_of,
        };
        self.launch(&launch, caller)
    }
}

/// What is to be started.
enum Asked {
    Saved(Arc<Test>),
    Plan(Arc<Plan>),
    Instructions(String),
}

fn subject(project: &Project, asked: &StartRun) -> Result<Asked, Fault> {
    if let Some(id) = &asked.multiplayer_test_id {
        let test = find(&project.tests, &id.0).cloned();
        return test.map(Asked::Saved).ok_or_else(|| Fault::not_found("multiplayer test not found"));
    }
    if let Some(id) = &asked.test_plan_id {
        return found_plan(project, id).map(Asked::Plan);
    }
    Ok(Asked::Instructions(asked.instructions.clone().unwrap_or_default()))
}

fn found_plan(project: &Project, id: &Uuid) -> Result<Arc<Plan>, Fault> {
    find(&project.plans, &id.0).cloned().ok_or_else(|| Fault::not_found(plans::NOT_FOUND))
}

fn known_agent_config(project: &Project, id: Option<&Uuid>) -> Result<(), Fault> {
    let known = |id: &Uuid| project.agent_configs.iter().any(|known| known.eq_ignore_ascii_case(&id.0));
    match id.filter(|id| !known(id)) {
        Some(id) => Err(Fault::invalid(format!("unknown agent config: {}", id.0))),
        None => Ok(()),
    }
}

/// The target that a config and a build name. Without a build, build storage deploys the newest that fits.
fn target(project: &Project, config: Option<&Uuid>, build: Option<&Uuid>) -> Result<Option<Target>, Fault> {
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

fn player_targets(
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
fn slot_targets(
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

fn plan_works(project: &Project, plan: &Plan, target: impl Fn(&Item, usize) -> Option<Target>) -> Vec<Work> {
    let work = |item: &Item| {
        let test = Arc::clone(find(&project.tests, &item.test)?);
        let targets = (0..test.players.len()).filter_map(|player| target(item, player)).collect();
        Some(Work { test, retries: item.retries, targets })
    };
    plan.items.iter().filter_map(work).collect()
}

/// Every player on a private device needs one of its own.
fn own_devices(works: &[Work]) -> Result<(), Fault> {
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

fn all_devices_of(asked: Option<bool>, default: Option<&Target>) -> Result<Option<Arc<Config>>, Fault> {
    let Some(target) = default.filter(|_| asked == Some(true)) else { return Ok(None) };
    if target.config.is_mobile() && target.config.multi_device {
        Ok(Some(Arc::clone(&target.config)))
    } else {
        let text =
            "run_on_all_configured_devices needs a mobile deployment config with multi-device runs enabled";
        Err(Fault::invalid(text))
    }
}

fn template_data(render: Option<bool>, data: Option<Open>) -> Option<Open> {
    (render == Some(true)).then(|| data.unwrap_or_default())
}

fn rendered_works(works: Vec<Work>, data: Option<&Open>) -> Vec<Work> {
    let Some(data) = data else { return works };
    works.into_iter().map(|work| Work { test: rendered(&work.test, data), ..work }).collect()
}

fn slot_builds(slots: &BTreeMap<usize, Target>) -> Option<Fields> {
    let extra = slots.iter().filter(|(slot, _)| **slot != DEFAULT_SLOT);
    let builds: Fields = extra
        .filter_map(|(slot, target)| Some((slot.to_string(), target.build.as_ref()?.id.clone().into())))
        .collect();
    Some(builds).filter(|builds| !builds.is_empty())
}

fn ephemeral_test(id: String, name: Option<String>, instructions: String) -> Arc<Test> {
    let step = Step {
        goal: instructions,
        expected: Vec::new(),
        lasts: EPHEMERAL_MS,
        report: "Carried out as instructed.".to_owned(),
    };
    Arc::new(Test {
        id,
        name: name.unwrap_or_else(|| EPHEMERAL_NAME.to_owned()),
        kind: Kind::Task,
        folder: None,
        version: 1,
        tags: Vec::new(),
        players: vec![Player { steps: vec![step] }],
        script: vec![Outcome::passed()],
        cases: Vec::new(),
    })
}
