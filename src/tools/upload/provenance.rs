//! Where a build comes from: the git checkout that the file lies in, and the CI job that uploads it.

mod ci_job;
mod git_checkout;

pub use ci_job::{CiJob, detect_ci_job};
pub use git_checkout::vcs;
