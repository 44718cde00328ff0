//! Builders of seed jobs and executions.

use std::sync::Arc;

use super::builders::owned;
use crate::sandbox::model::{
    execution::Execution,
    job::{PlayerDevice, SimulatedJob, Starter},
    moment::Moment,
    project::Project,
    records::find,
};

impl Project {
    /// Adds an execution of a plan on a build, started by a user.
    pub(super) fn add_execution(&mut self, id: &str, plan: &str, build: &str, created: Moment, person: &str) {
        let plan_name = find(&self.plans, plan).map_or_else(String::new, |plan| plan.name.clone());
        let execution = Execution {
            id: id.to_owned(),
            plan: plan.to_owned(),
            plan_name,
            build: find(&self.builds, build).cloned(),
            created,
            started_by: Starter::Person(person.to_owned()),
        };
        self.executions.insert(execution.id.clone(), execution);
    }

    /// Adds a job of a saved test. All players use the first working device of `config`.
    pub(super) fn add_job(&mut self, past: &PastJob<'_>) {
        let (Some(test), Some(config)) = (find(&self.tests, past.test), find(&self.configs, past.config))
        else {
            return;
        };

        let player_device = PlayerDevice {
            config: Arc::clone(config),
            device: config.first_working().cloned(),
            build: past.build.and_then(|id| find(&self.builds, id).cloned()),
        };

        let rejection = player_device.device.is_none().then(|| "no_device_available".to_owned());
        let tags = test.tags.iter().cloned().chain(owned(past.tags));

        let job = SimulatedJob {
            id: past.job.to_owned(),
            first_run: past.run.to_owned(),
            created: past.created,
            stopped: None,
            retries: past.retries,
            tags: tags.collect(),
            player_devices: vec![player_device; test.players.len()],
            execution: past.execution.map(ToOwned::to_owned),
            started_by: past.person.map_or_else(
                || Starter::Key(format!("key_{}", self.id)),
                |person| Starter::Person(person.to_owned()),
            ),
            template_data: None,
            rejection,
            test: Arc::clone(test),
        };

        self.jobs.insert(job.id.clone(), job);
    }
}

/// A job that was created before the start of the simulated clock, by a key of the project unless `person` is set.
#[derive(Clone, Copy)]
pub(super) struct PastJob<'a> {
    pub(super) job: &'a str,
    pub(super) run: &'a str,
    pub(super) test: &'a str,
    pub(super) config: &'a str,
    pub(super) build: Option<&'a str>,
    pub(super) created: Moment,
    pub(super) retries: u8,
    pub(super) tags: &'a [&'a str],
    pub(super) execution: Option<&'a str>,
    pub(super) person: Option<&'a str>,
}

impl<'a> PastJob<'a> {
    /// Creates a job without retries, tags, build and execution.
    pub(super) const fn new(
        job: &'a str,
        run: &'a str,
        test: &'a str,
        config: &'a str,
        created: Moment,
    ) -> Self {
        let (build, execution, person) = (None, None, None);
        Self { job, run, test, config, build, created, retries: 0, tags: &[], execution, person }
    }
}
