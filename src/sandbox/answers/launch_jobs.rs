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
            job::{PlayerDevice, SimulatedJob, Starter},
            world::World,
        },
    },
    service::api::run_start::StartRunResponse,
};

/// `queue_rejection_reason` of a job without a working device.
const NO_DEVICE: &str = "no_device_available";

impl World {
    /// Creates the jobs of a start.
    pub(super) fn launch(
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
        let any_works = config.devices.iter().any(|device| device.works);
        // A start that no device accepts creates no execution.
        let execution = if any_works { self.create_execution(launch, caller)? } else { None };
        let (mut job_ids, mut rows) = (Vec::new(), Vec::new());

        for _ in 0..launch.instances {
            for device in &config.devices {
                if device.works {
                    let created = self.create_jobs(launch, execution.as_deref(), Some(device), caller)?;
                    rows.push(started(device, &created));
                    job_ids.extend(created);
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
        let mut job_ids = Vec::new();
        for job_template in &launch.jobs {
            let job = self.new_job(launch, job_template, execution, device, caller);
            job_ids.push(job.id.clone());
            self.project_mut(caller)?.jobs.insert(job.id.clone(), job);
        }

        Ok(job_ids)
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
