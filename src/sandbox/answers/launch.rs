//! A start whose configs, builds and tests are resolved.

use std::sync::Arc;

use crate::{
    fields::Fields,
    sandbox::model::{
        build::StoredBuild, device_config::DeviceConfig, saved_test::SavedTest, test_plan::SavedPlan,
    },
    service::api::{Open, run_start::StartRunResponse},
};

/// A start whose configs, builds and tests are resolved.
pub(super) struct Launch {
    pub(super) subject: LaunchSubject,
    /// The jobs to create, once per instance and device.
    pub(super) jobs: Vec<JobTemplate>,
    pub(super) instances: u8,
    pub(super) tags: Vec<String>,
    /// `None`: templates are not rendered.
    pub(super) template_data: Option<Open>,
    /// Build of each extra slot.
    pub(super) slot_builds: Option<Fields>,
    /// The config on all of whose devices the jobs run.
    pub(super) all_devices_of: Option<Arc<DeviceConfig>>,
}

/// What is started.
pub(super) enum LaunchSubject {
    Saved,
    Plan(Arc<SavedPlan>),
    Ephemeral,
}

/// A job to create.
pub(super) struct JobTemplate {
    pub(super) test: Arc<SavedTest>,
    pub(super) retries: u8,
    /// Config and build of each player.
    pub(super) targets: Vec<LaunchTarget>,
}

/// A config and the build to deploy.
#[derive(Clone)]
pub(super) struct LaunchTarget {
    pub(super) config: Arc<DeviceConfig>,
    pub(super) build: Option<Arc<StoredBuild>>,
}

impl Launch {
    /// Returns the build of the first player of the first job.
    pub(super) fn build(&self) -> Option<&Arc<StoredBuild>> {
        self.jobs.first()?.targets.first()?.build.as_ref()
    }

    /// Returns the response to a start that created `job_ids`.
    pub(super) fn response(&self, job_ids: Vec<String>, execution: Option<String>) -> StartRunResponse {
        // Ephemeral starts answer with `test_id` in place of `message` and `build_id` (service.md 2.1).
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
