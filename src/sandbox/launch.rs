//! Making the jobs of a start, once or on every device of a config.

use std::sync::Arc;

use http::StatusCode;
use serde_json::json;

use super::{
    Answered, Caller, Fault, World,
    builds::Build,
    configs::{Config, Device},
    executions::Execution,
    jobs::{Job, Seat, Starter},
    plans::Plan,
    project::Dialect,
    tests::Test,
};
use crate::{
    fields::Fields,
    service::api::{
        Open,
        start::{DeviceResult, StartRunResponse},
    },
};

/// Why a job without a device never leaves the queue.
const NO_DEVICE: &str = "no_device_available";

/// What a start has come to mean, once everything in it is resolved.
pub(super) struct Launch {
    pub(super) subject: Subject,
    /// One job for each, per instance and device.
    pub(super) works: Vec<Work>,
    pub(super) instances: u8,
    pub(super) tags: Vec<String>,
    /// `None`: templates are not rendered.
    pub(super) template_data: Option<Open>,
    /// Build of each extra slot.
    pub(super) slot_builds: Option<Fields>,
    /// The config on all of whose devices to run.
    pub(super) all_devices_of: Option<Arc<Config>>,
}

/// What is started.
pub(super) enum Subject {
    Saved,
    Plan(Arc<Plan>),
    Ephemeral,
}

/// A job to make.
pub(super) struct Work {
    pub(super) test: Arc<Test>,
    pub(super) retries: u8,
    /// Where each player shall play.
    pub(super) targets: Vec<Target>,
}

/// A config, and the build to deploy there.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) config: Arc<Config>,
    pub(super) build: Option<Arc<Build>>,
}

impl Launch {
    fn build(&self) -> Option<&Arc<Build>> {
        self.works.first()?.targets.first()?.build.as_ref()
    }

    /// The answer of a start that made `job_ids`.
    fn response(&self, job_ids: Vec<String>, execution: Option<String>) -> StartRunResponse {
        let ephemeral = matches!(self.subject, Subject::Ephemeral);
        let test_id = self.works.first().filter(|_| ephemeral).map(|work| work.test.id.clone());

        StartRunResponse {
            message: (!ephemeral).then(|| "queued".to_owned()),
            build_id: self.build().filter(|_| !ephemeral).map(|build| build.id.clone()),
            job_ids,
            test_id,
            test_plan_execution_id: execution,
            slot_build_ids: self.slot_builds.clone(),
            ..StartRunResponse::default()
        }
    }
}

impl World {
    /// Makes the jobs of a start.
    pub(super) fn launch(
        &mut self,
        launch: &Launch,
        caller: &Caller,
    ) -> Result<Answered<StartRunResponse>, Fault> {
        match &launch.all_devices_of {
            Some(config) => self.launch_on_devices(launch, config, caller),
            None => self.launch_once(launch, caller),
        }
    }

    fn launch_once(&mut self, launch: &Launch, caller: &Caller) -> Result<Answered<StartRunResponse>, Fault> {
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
        config: &Config,
        caller: &Caller,
    ) -> Result<Answered<StartRunResponse>, Fault> {
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

        Ok(counted(body, rows, matches!(launch.subject, Subject::Ephemeral)))
    }

    /// One job for each test, on `device` if one is given.
    fn make_jobs(
        &mut self,
        launch: &Launch,
        execution: Option<&str>,
        device: Option<&Device>,
        caller: &Caller,
    ) -> Result<Vec<String>, Fault> {
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
        work: &Work,
        execution: Option<&str>,
        device: Option<&Device>,
        caller: &Caller,
    ) -> Job {
        let seat = |target: &Target| Seat {
            config: Arc::clone(&target.config),
            device: device.or(target.config.first_working()).cloned(),
            build: target.build.clone(),
        };
        let seats: Vec<_> = work.targets.iter().map(seat).collect();
        let rejected = seats.iter().any(|seat| seat.device.is_none());
        let tags = launch.tags.iter().filter(|tag| !work.test.tags.contains(tag));

        Job {
            id: self.ids.uuid(),
            first_run: self.ids.run(),
            test: Arc::clone(&work.test),
            created: self.now,
            stopped: None,
            retries: work.retries,
            tags: work.test.tags.iter().chain(tags).cloned().collect(),
            seats,
            execution: execution.map(ToOwned::to_owned),
            by: Starter::Key(caller.key_id.to_owned()),
            template_data: launch.template_data.clone(),
            rejection: rejected.then(|| NO_DEVICE.to_owned()),
        }
    }

    fn make_execution(&mut self, launch: &Launch, caller: &Caller) -> Result<Option<String>, Fault> {
        let Subject::Plan(plan) = &launch.subject else { return Ok(None) };
        let id = self.ids.uuid();
        let execution = Execution {
            id: id.clone(),
            plan: plan.id.clone(),
            plan_name: plan.name.clone(),
            build: launch.build().cloned(),
            created: self.now,
            by: Starter::Key(caller.key_id.to_owned()),
        };

        self.project_mut(caller)?.executions.insert(id.clone(), execution);

        Ok(Some(id))
    }
}

fn started(device: &Device, job_ids: &[String]) -> DeviceResult {
    let data = Fields::from_iter([("job_ids".to_owned(), json!(job_ids))]);
    DeviceResult {
        device_label: device.label.clone(),
        ok: true,
        status: Some(StatusCode::CREATED.as_u16()),
        message: Some("queued".to_owned()),
        error: None,
        data: Some(data),
    }
}

fn not_started(device: &Device, dialect: Dialect) -> DeviceResult {
    let text = Some("device could not be started".to_owned());
    let (message, error) = if dialect == Dialect::Upper { (text, None) } else { (None, text) };
    let status = Some(StatusCode::INTERNAL_SERVER_ERROR.as_u16());
    DeviceResult { device_label: device.label.clone(), ok: false, status, message, error, data: None }
}

/// The multi-device answer: its rows, their counts, and the status that follows from them.
fn counted(body: StartRunResponse, rows: Vec<DeviceResult>, ephemeral: bool) -> Answered<StartRunResponse> {
    let requested = rows.len();
    let started = rows.iter().filter(|row| row.ok).count();
    let status = match started {
        0 => StatusCode::INTERNAL_SERVER_ERROR,
        all if all == requested => StatusCode::CREATED,
        _ => StatusCode::MULTI_STATUS,
    };
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
