//! The origin of a build: the git checkout that contains the file, and the CI job that uploads it.
//!
//! No program is started for it. Files beside an upload may come from anywhere, and git runs programs that the
//! configuration of a repository names.

mod checkout;
mod ci_job;
mod ci_systems;
mod git_config;
mod git_directory;
mod remote_address;
mod vcs;

pub use checkout::Checkout;
pub(crate) use checkout::find_checkout;
pub use ci_job::{CiJob, detect_ci_job};
pub(crate) use vcs::vcs_details;
