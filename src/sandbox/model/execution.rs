//! Executions of test plans (service.md 5).

use std::sync::Arc;

use crate::sandbox::model::{build::StoredBuild, job::Starter, moment::Moment};

/// An execution of a test plan.
#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) id: String,
    pub(crate) plan: String,
    pub(crate) plan_name: String,
    pub(crate) build: Option<Arc<StoredBuild>>,
    pub(crate) created: Moment,
    pub(crate) started_by: Starter,
}
