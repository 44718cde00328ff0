//! Jobs, and the executions of plans to which they belong (service.md 3, 5).

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::fields::Fields;
use crate::sandbox::model::builds::{Device, DeviceConfig, StoredBuild};
use crate::sandbox::model::records::later_run_id;
use crate::sandbox::model::saved_test::SavedTest;
use crate::sandbox::model::time::Moment;
use crate::service::api::Open;
use crate::service::api::runs::Initiator;

/// `queue_rejection_reason` of a job without a working device.
pub(crate) const NO_DEVICE: &str = "no_device_available";

/// A job as it was requested, and whether it was stopped. The timeline of the job follows from these facts.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedJob {
    pub(crate) id: String,
    /// Id of the run of the first attempt.
    pub(crate) first_run: String,
    /// The test as it was when the job was created.
    pub(crate) test: Arc<SavedTest>,
    pub(crate) created: Moment,
    pub(crate) stopped: Option<JobStop>,
    pub(crate) retries: u8,
    pub(crate) tags: Vec<String>,
    /// What each player plays on.
    pub(crate) player_devices: Vec<PlayerDevice>,
    pub(crate) execution: Option<String>,
    pub(crate) started_by: Starter,
    /// `None`: templates are not rendered.
    pub(crate) template_data: Option<Open>,
    /// Why the job never leaves the queue.
    pub(crate) rejection: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobStop {
    pub(crate) at: Moment,
    pub(crate) key: String,
}

#[derive(Clone, Debug)]
pub(crate) struct PlayerDevice {
    pub(crate) config: Arc<DeviceConfig>,
    /// `None`: the config has no working device.
    pub(crate) device: Option<Device>,
    pub(crate) build: Option<Arc<StoredBuild>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Starter {
    /// An API key, by its id.
    Key(String),
    /// A user, by name.
    Person(String),
}

impl Starter {
    pub(crate) fn to_initiator(&self) -> Initiator {
        let (kind, name, value) = match self {
            Self::Key(id) => ("api", "key_id", id),
            Self::Person(person) => ("user", "name", person),
        };

        Initiator { r#type: kind.to_owned(), value: Fields::from_iter([(name.to_owned(), json!(value))]) }
    }
}

impl SimulatedJob {
    pub(crate) fn build(&self) -> Option<&Arc<StoredBuild>> {
        self.player_devices.first()?.build.as_ref()
    }

    /// Returns whether an attempt of this job has, or may still get, the run id `run`.
    pub(super) fn may_have_run(&self, run: &str) -> bool {
        let is_later_run = |attempt| later_run_id(&self.first_run, attempt) == run;
        self.first_run == run || (1..=usize::from(self.retries)).any(is_later_run)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Execution {
    pub(crate) id: String,
    pub(crate) plan: String,
    pub(crate) plan_name: String,
    pub(crate) build: Option<Arc<StoredBuild>>,
    pub(crate) created: Moment,
    pub(crate) started_by: Starter,
}
