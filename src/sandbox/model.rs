//! The state of the sandbox, without HTTP: projects and their records, simulated time, and the bytes of builds.

pub(super) mod builds;
pub(super) mod job;
pub(super) mod project;
pub(super) mod records;
pub(super) mod saved_test;
pub(super) mod test_content;
pub(super) mod test_management;
pub(super) mod time;
pub(super) mod timeline;
pub(super) mod world;
