//! The state of the sandbox, without HTTP: projects and their records, ids, simulated time, and the bytes of builds.

pub(super) mod bug;
pub(super) mod builds;
pub(super) mod device_config;
pub(super) mod folder;
pub(super) mod ids;
pub(super) mod job;
pub(super) mod knowledge;
pub(super) mod plan;
pub(super) mod project;
pub(super) mod records;
pub(super) mod saved_test;
pub(super) mod test_content;
pub(super) mod test_management;
pub(super) mod time;
pub(super) mod timeline;
pub(super) mod world;
