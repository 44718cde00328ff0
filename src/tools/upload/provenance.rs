//! The origin of a build: the git checkout that contains the file, and the CI job that uploads it.

mod ci_job;
mod ci_systems;
mod git_checkout;

pub use ci_job::{CiJob, detect_ci_job};
pub use git_checkout::read_vcs;
