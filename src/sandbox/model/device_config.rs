//! Deployment configs: where and on what tests run (supplement 11).

/// Build source of configs that take a `build_id`.
const BUILD_STORAGE: &str = "build-storage";

/// Where and on what tests run.
#[derive(Debug)]
pub(crate) struct DeviceConfig {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) kind: String,
    pub(crate) pinned: bool,
    pub(crate) provider: Option<String>,
    pub(crate) devices: Vec<Device>,
    /// A device that one player at a time can use.
    pub(crate) private: bool,
    /// Whether runs on all its devices are enabled.
    pub(crate) multi_device: bool,
}

/// A device of a config.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) label: String,
    pub(crate) os_version: String,
    pub(crate) works: bool,
}

impl DeviceConfig {
    /// Whether a build of the build storage can be deployed.
    pub(crate) fn takes_builds(&self) -> bool {
        self.provider.as_deref() == Some(BUILD_STORAGE)
    }

    /// Whether its devices are phones or tablets.
    pub(crate) fn is_mobile(&self) -> bool {
        matches!(self.kind.as_str(), "android" | "ios")
    }

    /// The device that a run gets when nobody asks for a certain one.
    pub(crate) fn first_working(&self) -> Option<&Device> {
        self.devices.iter().find(|device| device.works)
    }
}
