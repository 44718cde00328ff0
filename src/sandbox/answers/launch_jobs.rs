//! Making the jobs of a start, once or on every device of a config.

use std::sync::Arc;

use crate::{
    sandbox::{
        answers::{
            answered::Answered,
            api_error::ApiError,
            caller::Caller,
            launch::{JobTemplate, Launch, LaunchSubject, LaunchTarget},
            launch_results::{counted, not_started, started},
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

/// Why a job without a device never leaves the queue.
const NO_DEVICE: &str = "no_device_available";

impl World {
    /// Makes the jobs of a start.
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
        let execution = self.make_execution(launch, caller)?;
        let mut job_ids = Vec::new();
        for _ in 0..launch.instances {
            job_ids.extend(self.make_jobs(launch, execution.as_deref(), None, caller)?);
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
        let execution = if any { self.make_execution(launch, caller)? } else { None };
        let (mut job_ids, mut rows) = (Vec::new(), Vec::new());

        for _ in 0..launch.instances {
            for device in &config.devices {
                if device.works {
                    let made = self.make_jobs(launch, execution.as_deref(), Some(device), caller)?;
                    rows.push(started(device, &made));
                    job_ids.extend(made);
                } else {
                    rows.push(not_started(device, dialect));
                }
            }
        }

        let body = launch.response(job_ids, execution);

        Ok(counted(body, rows, matches!(launch.subject, LaunchSubject::Ephemeral)))
    }

    /// One job for each test, on `device` if one is given.
    fn make_jobs(
        &mut self,
        launch: &Launch,
        execution: Option<&str>,
        device: Option<&Device>,
        caller: &Caller,
    ) -> Result<Vec<String>, ApiError> {
        let mut made = Vec::new();
        for work in &launch.works {
            let job = self.job(launch, work, execution, device, caller);
            made.push(job.id.clone());
            self.project_mut(caller)?.jobs.insert(job.id.clone(), job);
        }

        Ok(made)
    }

    fn job(
        &mut self,
        launch: &Launch,
        work: &JobTemplate,
        execution: Option<&str>,
        device: Option<&Device>,
        caller: &Caller,
    ) -> Job {
        let seat = |target: &LaunchTarget| PlayerDevice {
            config: Arc::clone(&target.config),
            device: device.or(target.config.first_working()).cloned(),
            build: target.build.clone(),
        };
        let player_devices: Vec<_> = work.targets.iter().map(seat).collect();
        let rejected = player_devices.iter().any(|seat| seat.device.is_none());
        let tags = launch.tags.iter().filter(|tag| !work.test.tags.contains(tag));

        Job {
            id: self.ids.uuid(),
            first_run: self.ids.run(),
            test: Arc::clone(&work.test),
            created: self.now,
            stopped: None,
            retries: work.retries,
            tags: work.test.tags.iter().chain(tags).cloned().collect(),
            player_devices,
            execution: execution.map(ToOwned::to_owned),
            started_by: Starter::Key(caller.key_id.to_owned()),
            template_data: launch.template_data.clone(),
            rejection: rejected.then(|| NO_DEVICE.to_owned()),
        }
    }

    fn make_execution(&mut self, launch: &Launch, caller: &Caller) -> Result<Option<String>, ApiError> {
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
