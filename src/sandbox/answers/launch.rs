//! A start whose configs, builds and tests are resolved.

use std::sync::Arc;

use crate::{
    fields::Fields,
    sandbox::model::{
        build::Build, device_config::DeviceConfig, saved_test::SavedTest, test_plan::SavedPlan,
    },
    service::api::{Open, start::StartRunResponse},
};

/// A start whose configs, builds and tests are resolved.
pub(crate) struct Launch {
    pub(crate) subject: LaunchSubject,
    /// The jobs to create, once per instance and device.
    pub(crate) jobs: Vec<JobTemplate>,
    pub(crate) instances: u8,
    pub(crate) tags: Vec<String>,
    /// `None`: templates are not rendered.
    pub(crate) template_data: Option<Open>,
    /// Build of each extra slot.
    pub(crate) slot_builds: Option<Fields>,
    /// The config on all of whose devices the jobs run.
    pub(crate) all_devices_of: Option<Arc<DeviceConfig>>,
}

/// What is started.
pub(crate) enum LaunchSubject {
    Saved,
    Plan(Arc<SavedPlan>),
    Ephemeral,
}

/// A job to create.
pub(crate) struct JobTemplate {
    pub(crate) test: Arc<SavedTest>,
    pub(crate) retries: u8,
    /// Config and build of each player.
    pub(crate) targets: Vec<LaunchTarget>,
}

/// A config and the build to deploy.
#[derive(Clone)]
pub(crate) struct LaunchTarget {
    pub(crate) config: Arc<DeviceConfig>,
    pub(crate) build: Option<Arc<Build>>,
}

impl Launch {
    pub(crate) fn build(&self) -> Option<&Arc<Build>> {
        self.jobs.first()?.targets.first()?.build.as_ref()
    }

    /// Returns the response to a start that created `job_ids`.
    pub(crate) fn response(&self, job_ids: Vec<String>, execution: Option<String>) -> StartRunResponse {
        let ephemeral = matches!(self.subject, LaunchSubject::Ephemeral);
        let test_id = self.jobs.first().filter(|_| ephemeral).map(|job| job.test.id.clone());

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
