//! A start whose configs, builds and tests are resolved: its jobs, once or on every device of a config.

use std::sync::Arc;

use axum::http::StatusCode;

use super::prelude::*;
use crate::fields::Fields;
use crate::sandbox::model::builds::{Device, DeviceConfig, StoredBuild};
use crate::sandbox::model::job::{Execution, NO_DEVICE, PlayerDevice, Starter};
use crate::sandbox::model::saved_test::SavedPlan;
use crate::service::api::run_start::{DeviceResult, StartRunResponse};

pub(super) struct Launch {
    /// The plan that is started.
    pub(super) plan: Option<Arc<SavedPlan>>,
    /// Whether the start has instructions instead of a test.
    pub(super) is_ephemeral: bool,
    /// The jobs to create, once per instance and device.
    pub(super) jobs: Vec<JobTemplate>,
    pub(super) instances: u8,
    pub(super) tags: Vec<String>,
    /// `None`: templates are not rendered. The sandbox renders none, and only records the data.
    pub(super) template_data: Option<Open>,
    /// Build of each extra slot.
    pub(super) slot_builds: Option<Fields>,
    /// The config on all of whose devices the jobs run.
    pub(super) all_devices_of: Option<Arc<DeviceConfig>>,
}

pub(super) struct JobTemplate {
    pub(super) test: Arc<SavedTest>,
    pub(super) retries: u8,
    /// Config and build of each player.
    pub(super) targets: Vec<LaunchTarget>,
}

#[derive(Clone)]
pub(super) struct LaunchTarget {
    pub(super) config: Arc<DeviceConfig>,
    pub(super) build: Option<Arc<StoredBuild>>,
}

impl Launch {
    fn build(&self) -> Option<&Arc<StoredBuild>> {
        self.jobs.first()?.targets.first()?.build.as_ref()
    }

    fn response(&self, job_ids: Vec<String>, execution: Option<String>) -> StartRunResponse {
        // Ephemeral starts answer with `test_id` in place of `message` and `build_id` (service.md 2.1).
        let test = self.jobs.first().map(|job| &job.test).filter(|_| self.is_ephemeral);
        StartRunResponse {
            message: (!self.is_ephemeral).then(|| "queued".to_owned()),
            build_id: self.build().filter(|_| !self.is_ephemeral).map(|build| build.id.clone()),
            job_ids,
            test_id: test.map(|test| test.id.clone()),
            test_plan_execution_id: execution,
            slot_build_ids: self.slot_builds.clone(),
            ..StartRunResponse::default()
        }
    }
}

impl World {
    pub(super) fn launch(&mut self, launch: &Launch, caller: &Caller) -> AnswerResult<StartRunResponse> {
        let devices = launch.all_devices_of.as_ref().map(|config| config.devices.as_slice());
        // A start that no device accepts creates no execution.
        let is_accepted = devices.is_none_or(|devices| devices.iter().any(|device| !device.broken));
        let execution = if is_accepted { self.create_execution(launch, caller)? } else { None };
        let (mut job_ids, mut rows) = (Vec::new(), Vec::new());

        for _ in 0..launch.instances {
            let Some(devices) = devices else {
                job_ids.extend(self.create_jobs(launch, execution.as_deref(), None, caller));
                continue;
            };
            for device in devices {
                let created = (!device.broken)
                    .then(|| self.create_jobs(launch, execution.as_deref(), Some(device), caller));
                rows.push(device_result(device, created.clone()));
                job_ids.extend(created.into_iter().flatten());
            }
        }

        let body = launch.response(job_ids, execution);
        Ok(match devices {
            Some(_) => with_device_results(body, rows, launch.is_ephemeral),
            None => Answered::created(body),
        })
    }

    fn create_jobs(
        &mut self,
        launch: &Launch,
        execution: Option<&str>,
        device: Option<&Device>,
        caller: &Caller,
    ) -> Vec<String> {
        let mut job_ids = Vec::new();
        for job_template in &launch.jobs {
            let job = self.new_job(launch, job_template, execution, device, caller);
            job_ids.push(job.id.clone());
            self.add_job(&caller.project, job);
        }

        job_ids
    }

    fn new_job(
        &mut self,
        launch: &Launch,
        job_template: &JobTemplate,
        execution: Option<&str>,
        device: Option<&Device>,
        caller: &Caller,
    ) -> SimulatedJob {
        let player_device = |target: &LaunchTarget| PlayerDevice {
            config: Arc::clone(&target.config),
            device: device.or(target.config.first_working()).cloned(),
            build: target.build.clone(),
        };
        let player_devices: Vec<_> = job_template.targets.iter().map(player_device).collect();
        let rejected = player_devices.iter().any(|player_device| player_device.device.is_none());
        // The tags of the start are added to those of the test, each once.
        let tags = launch.tags.iter().filter(|tag| !job_template.test.tags.contains(tag));

        SimulatedJob {
            id: self.ids.uuid(),
            first_run: self.ids.run(),
            test: Arc::clone(&job_template.test),
            created: self.now,
            stopped: None,
            retries: job_template.retries,
            tags: job_template.test.tags.iter().chain(tags).cloned().collect(),
            player_devices,
            execution: execution.map(ToOwned::to_owned),
            started_by: Starter::Key(caller.key_id.to_owned()),
            template_data: launch.template_data.clone(),
            rejection: rejected.then(|| NO_DEVICE.to_owned()),
        }
    }

    fn create_execution(&mut self, launch: &Launch, caller: &Caller) -> Result<Option<String>, ApiError> {
        let Some(plan) = &launch.plan else { return Ok(None) };
        let id = self.ids.uuid();
        let execution = Execution {
            id: id.clone(),
            plan: plan.id.clone(),
            plan_name: plan.name.clone(),
            build: launch.build().cloned(),
            created: self.now,
            started_by: Starter::Key(caller.key_id.to_owned()),
        };

        self.project_mut(caller)?.executions.insert(id.clone(), execution);

        Ok(Some(id))
    }
}

/// Returns the result of a device with these jobs, or of a device that could not be started.
fn device_result(device: &Device, job_ids: Option<Vec<String>>) -> DeviceResult {
    let (status, message) = match job_ids {
        Some(_) => (StatusCode::CREATED, "queued"),
        None => (StatusCode::INTERNAL_SERVER_ERROR, "device could not be started"),
    };
    DeviceResult {
        device_label: device.label.clone(),
        ok: job_ids.is_some(),
        status: Some(status.as_u16()),
        message: Some(message.to_owned()),
        error: None,
        data: job_ids.map(|job_ids| Box::new(StartRunResponse { job_ids, ..StartRunResponse::default() })),
    }
}

/// Returns the response to a start on several devices: the result of each device, counts, and a status by the counts.
fn with_device_results(
    body: StartRunResponse,
    rows: Vec<DeviceResult>,
    ephemeral: bool,
) -> Answered<StartRunResponse> {
    let requested = rows.len();
    let started = rows.iter().filter(|row| row.ok).count();
    let status = match started {
        0 => StatusCode::INTERNAL_SERVER_ERROR,
        all if all == requested => StatusCode::CREATED,
        _ => StatusCode::MULTI_STATUS,
    };
    // The rows of ephemeral starts have another name (service.md 2.1).
    let (results, device_runs) = if ephemeral { (None, Some(rows)) } else { (Some(rows), None) };
    let body = StartRunResponse {
        ok: Some(started > 0),
        message: None,
        test_id: body.test_id.filter(|_| started > 0),
        requested_count: Some(requested),
        started_count: Some(started),
        successful_count: (!ephemeral).then_some(started),
        failed_count: Some(requested - started),
        results,
        device_runs,
        ..body
    };

    Answered::json(status, body)
}
