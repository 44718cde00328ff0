//! Starts of tests, plans and instructions (service.md 2.1, 4.6).

use std::sync::Arc;

use super::launch::{JobTemplate, Launch, LaunchTarget};
use super::plans;
use super::prelude::*;
use super::targets::{all_devices_of, player_targets, resolve_target, slot_builds, slot_targets};
use crate::sandbox::model::records::step_id;
use crate::sandbox::model::saved_test::{
    PlanItem, SavedPlan, ScriptedOutcome, ScriptedPlayer, ScriptedStep, TestKind,
};
use crate::service::api::Uuid;
use crate::service::api::plans::StartTestPlanRun;
use crate::service::api::run_start::StartRunResponse;
use crate::service::api::runs::{EPHEMERAL_NAME, StartRun};
use crate::service::api::tests::TestContent;

/// First tag of every ephemeral run (service.md 2.1).
const EPHEMERAL_TAG: &str = "api";

/// Duration of an ephemeral test, in milliseconds.
const EPHEMERAL_MS: i64 = 45_000;

impl Answer<StartRun> for World {
    fn answer(&mut self, request: StartRun, caller: &Caller) -> AnswerResult<StartRunResponse> {
        // The id is taken first, because `project` borrows the world.
        let ephemeral_id = self.ids.uuid();
        let project = self.project(caller)?;
        check_agent_config(project, request.agent_config_id.as_ref())?;
        let default =
            resolve_target(project, request.deployment_config_id.as_ref(), request.build_id.as_ref())?;
        let mut tags = request.additional_tags.unwrap_or_default();
        let is_ephemeral = request.instructions.is_some();
        let mut plan = None;
        let jobs = if let Some(id) = &request.multiplayer_test_id {
            let test = Arc::clone(existing(&project.tests, &id.0, "multiplayer test not found")?);
            let own = request.player_deployment_configs.unwrap_or_default();
            let targets = player_targets(project, &test, default.as_ref(), &own)?;
            vec![JobTemplate { test, retries: request.retries.unwrap_or(0), targets }]
        } else if let Some(id) = &request.test_plan_id {
            let plan = plan.insert(find_plan(project, id)?);
            plan_jobs(project, plan, |_, _| default.clone())
        } else {
            // The service puts the tag first (service.md 2.1). It is not repeated.
            tags.retain(|tag| tag != EPHEMERAL_TAG);
            tags.insert(0, EPHEMERAL_TAG.to_owned());
            let test = ephemeral_test(ephemeral_id, request.name, request.instructions.unwrap_or_default());
            vec![JobTemplate { test, retries: 0, targets: default.iter().cloned().collect() }]
        };

        let all_devices_of = all_devices_of(request.run_on_all_configured_devices, default.as_ref())?;
        let launch = Launch {
            plan,
            is_ephemeral,
            jobs,
            instances: request.instances.unwrap_or(1),
            tags,
            template_data: template_data(request.render_templates, request.template_data),
            slot_builds: None,
            all_devices_of,
        };

        self.launch(&launch, caller)
    }
}

impl Answer<StartTestPlanRun> for World {
    fn answer(&mut self, request: StartTestPlanRun, caller: &Caller) -> AnswerResult<StartRunResponse> {
        let project = self.project(caller)?;
        let plan = find_plan(project, &request.test_plan_id)?;
        check_agent_config(project, request.agent_config_id.as_ref())?;

        let default =
            resolve_target(project, request.deployment_config_id.as_ref(), request.build_id.as_ref())?;
        let own = request.slot_deployment_configs.unwrap_or_default();
        let slots = slot_targets(project, &plan, default.as_ref(), &own)?;
        let jobs = plan_jobs(project, &plan, |item, player| slots.get(&item.slot(player)).cloned());
        let all_devices_of = all_devices_of(request.run_on_all_configured_devices, default.as_ref())?;
        let launch = Launch {
            plan: Some(plan),
            is_ephemeral: false,
            jobs,
            // A plan has no `instances` (service.md 4.6).
            instances: 1,
            tags: request.additional_tags.unwrap_or_default(),
            template_data: template_data(request.render_templates, request.template_data),
            slot_builds: slot_builds(&slots),
            all_devices_of,
        };

        self.launch(&launch, caller)
    }
}

/// Returns the data of templates, which are rendered only if a request asks for it.
fn template_data(is_rendered: Option<bool>, data: Option<Open>) -> Option<Open> {
    (is_rendered == Some(true)).then(|| data.unwrap_or_default())
}

fn find_plan(project: &Project, id: &Uuid) -> Result<Arc<SavedPlan>, ApiError> {
    existing(&project.plans, &id.0, plans::NOT_FOUND).cloned()
}

fn check_agent_config(project: &Project, id: Option<&Uuid>) -> Result<(), ApiError> {
    let known = |id: &Uuid| find(&project.agent_configs, &id.0).is_some();
    match id.filter(|id| !known(id)) {
        Some(id) => Err(ApiError::invalid(format!("unknown agent config: {}", id.0))),
        None => Ok(()),
    }
}

/// Returns one job per test of a plan. A test that was deleted is left out.
fn plan_jobs(
    project: &Project,
    plan: &SavedPlan,
    target: impl Fn(&PlanItem, usize) -> Option<LaunchTarget>,
) -> Vec<JobTemplate> {
    let job_template = |item: &PlanItem| {
        let test = Arc::clone(find(&project.tests, &item.test)?);
        let targets = (0..test.players.len()).filter_map(|player| target(item, player)).collect();
        Some(JobTemplate { test, retries: u8::try_from(item.retries).unwrap_or(u8::MAX), targets })
    };
    plan.items.iter().filter_map(job_template).collect()
}

/// Creates the test of a start with instructions. The test has one player and one step, which passes.
fn ephemeral_test(id: String, name: Option<String>, instructions: String) -> Arc<SavedTest> {
    let step = ScriptedStep {
        id: step_id(&[&id]),
        goal: instructions,
        shared: None,
        expected: Vec::new(),
        duration: EPHEMERAL_MS,
        report: "Carried out as instructed.".to_owned(),
    };

    Arc::new(SavedTest {
        id,
        name: name.unwrap_or_else(|| EPHEMERAL_NAME.to_owned()),
        kind: TestKind::Task,
        folder: None,
        version: 1,
        tags: Vec::new(),
        players: vec![ScriptedPlayer { steps: vec![step] }],
        outcomes: vec![ScriptedOutcome::passed()],
        cases: Vec::new(),
        content: TestContent::default(),
    })
}
