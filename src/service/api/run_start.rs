//! What the two operations that start runs have in common (specification, POST runs; supplement 2.1, 4.6).

mod answer;
mod arguments;
mod duplicates;
mod rules;

pub use answer::{DeviceResult, StartRunResponse};
pub use arguments::{RunOptions, TargetDeploymentConfig};
pub(super) use duplicates::{EXECUTIONS, WAIT};
pub(super) use rules::{ON_ALL_DEVICES, all_devices_question, check_numbered_keys, check_options};
