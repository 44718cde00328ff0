//! Deployment configs: the devices that tests run on, and the source of their builds (service.md 11).

use serde::Deserialize;

/// Build source of configs that accept a `build_id`.
const BUILD_STORAGE: &str = "build-storage";

/// A deployment config: the devices that tests run on, and the source of their builds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceConfig {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) pinned: bool,
    pub(crate) provider: Option<String>,
    pub(crate) devices: Vec<Device>,
    /// Whether only one player at a time can use a device.
    #[serde(default)]
    pub(crate) private: bool,
}

/// A device of a config.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Device {
    pub(crate) label: String,
    pub(crate) os_version: String,
    #[serde(default)]
    pub(crate) broken: bool,
}

impl DeviceConfig {
    /// Returns whether builds come from build storage.
    pub(crate) fn takes_builds(&self) -> bool {
        self.provider.as_deref() == Some(BUILD_STORAGE)
    }

    /// Returns whether the devices are phones or tablets.
    pub(crate) fn is_mobile(&self) -> bool {
        matches!(self.kind.as_str(), "android" | "ios")
    }

    /// Returns whether runs on all devices of the config are enabled.
    pub(crate) const fn is_multi_device(&self) -> bool {
        self.devices.len() > 1
    }

    /// Returns the device that a run gets by default.
    pub(crate) fn first_working(&self) -> Option<&Device> {
        self.devices.iter().find(|device| !device.broken)
    }
}
