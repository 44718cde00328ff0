//! Creates the jobs of a start, once or on every device of a config.

use std::sync::Arc;

use crate::{
    sandbox::{
        answers::{
            answered::Answered,
            api_error::ApiError,
            caller::Caller,
            launch::{JobTemplate, Launch, LaunchSubject, LaunchTarget},
            launch_results::{not_started, started, with_device_results},
        },
        model::{
            device_config::{Device, DeviceConfig},
            execution::Execution,
            job::{Job, PlayerDevice, Starter},
            world::World,
        },
    },
    service::api::start::StartRunResponse,
};

/// Rejection of a job without a working device.
const NO_DEVICE: &str = "no_device_available";

impl World {
    /// Creates the jobs of a start.
    pub(crate) fn launch(
        &mut self,
        launch: &Launch,
        caller: &Caller,
    ) -> Result<Answered<StartRunResponse>, ApiError> {
        match &launch.all_devices_of {
            Some(config) => self.launch_on_devices(launch, config, caller),
            None => self.launch_once(launch, caller),
        }
    }

    fn launch_once(
        &mut self,
        launch: &Launch,
        caller: &Caller,
    ) -> Result<Answered<StartRunResponse>, ApiError> {
        let execution = self.create_execution(launch, caller)?;
        let mut job_ids = Vec::new();
        for _ in 0..launch.instances {
            job_ids.extend(self.create_jobs(launch, execution.as_deref(), None, caller)?);
        }
        Ok(Answered::created(launch.response(job_ids, execution)))
    }

    fn launch_on_devices(
        &mut self,
        launch: &Launch,
        config: &DeviceConfig,
        caller: &Caller,
    ) -> Result<Answered<StartRunResponse>, ApiError> {
        let dialect = self.project(caller)?.dialect;
        let any = config.devices.iter().any(|device| device.works);
        let execution = if any { self.create_execution(launch, caller)? } else { None };
        let (mut job_ids, mut rows) = (Vec::new(), Vec::new());

        for _ in 0..launch.instances {
            for device in &config.devices {
                if device.works {
                    let made = self.create_jobs(launch, execution.as_deref(), Some(device), caller)?;
                    rows.push(started(device, &made));
                    job_ids.extend(made);
                } else {
                    rows.push(not_started(device, dialect));
                }
            }
        }

        let body = launch.response(job_ids, execution);

        Ok(with_device_results(body, rows, matches!(launch.subject, LaunchSubject::Ephemeral)))
    }

    /// Creates one job for each test, on `device` if it is given.
    fn create_jobs(
        &mut self,
        launch: &Launch,
        execution: Option<&str>,
        device: Option<&Device>,
        caller: &Caller,
    ) -> Result<Vec<String>, ApiError> {
        let mut made = Vec::new();
        for job_template in &launch.jobs {
            let job = self.new_job(launch, job_template, execution, device, caller);
            made.push(job.id.clone());
            self.project_mut(caller)?.jobs.insert(job.id.clone(), job);
        }

        Ok(made)
    }

    fn new_job(
        &mut self,
        launch: &Launch,
        job_template: &JobTemplate,
        execution: Option<&str>,
        device: Option<&Device>,
        caller: &Caller,
    ) -> Job {
        let player_device = |target: &LaunchTarget| PlayerDevice {
            config: Arc::clone(&target.config),
            device: device.or(target.config.first_working()).cloned(),
            build: target.build.clone(),
        };
        let player_devices: Vec<_> = job_template.targets.iter().map(player_device).collect();
        let rejected = player_devices.iter().any(|seat| seat.device.is_none());
        let tags = launch.tags.iter().filter(|tag| !job_template.test.tags.contains(tag));

        Job {
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
        let LaunchSubject::Plan(plan) = &launch.subject else { return Ok(None) };
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
