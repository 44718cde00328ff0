//! Where a build comes from: the git checkout that the file lies in, and the CI job that uploads it.

mod checkout;
mod job;

pub use checkout::vcs;
pub use job::{Job, job};
