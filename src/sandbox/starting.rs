//! What a start asks for, resolved and checked (specification, POST runs; supplement 2.1, 4.6).

use std::sync::Arc;

use super::{
    Answer, Answered, Caller, Fault, World, ids,
    launch::{Launch, Subject, Target, Work},
    plans::{self, Item, Plan},
    project::{Project, find},
    script::Outcome,
    targets::{all_devices_of, own_devices, player_targets, slot_builds, slot_targets, target},
    templates::{rendered_works, template_data},
    tests::{Kind, Player, Step, Test},
};
use crate::service::api::{
    Uuid,
    start::{StartRun, StartRunResponse, StartTestPlanRun},
    tests::TestContent,
};

/// Name of an ephemeral test that was given none.
const EPHEMERAL_NAME: &str = "[api] ephemeral test";

/// Tag that every ephemeral run carries first.
const EPHEMERAL_TAG: &str = "api";

/// How long an ephemeral test takes, in milliseconds.
const EPHEMERAL_MS: i64 = 45_000;

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
    let known = |id: &Uuid| find(&project.agent_configs, &id.0).is_some();
    match id.filter(|id| !known(id)) {
        Some(id) => Err(Fault::invalid(format!("unknown agent config: {}", id.0))),
        None => Ok(()),
    }
}

fn plan_works(project: &Project, plan: &Plan, target: impl Fn(&Item, usize) -> Option<Target>) -> Vec<Work> {
    let work = |item: &Item| {
        let test = Arc::clone(find(&project.tests, &item.test)?);
        let targets = (0..test.players.len()).filter_map(|player| target(item, player)).collect();
        Some(Work { test, retries: u8::try_from(item.retries).unwrap_or(u8::MAX), targets })
    };
    plan.items.iter().filter_map(work).collect()
}

fn ephemeral_test(id: String, name: Option<String>, instructions: String) -> Arc<Test> {
    let step = Step {
        id: ids::step(&[&id]),
        goal: instructions,
        shared: None,
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
        content: TestContent::default(),
    })
}
