//! Test plans and their executions (service.md 4, 5).

use std::sync::Arc;

use crate::{
    sandbox::model::{builds::StoredBuild, job::Starter, time::Moment},
    service::api::Open,
};

/// Slot of players without an extra slot.
pub(crate) const DEFAULT_SLOT: usize = 1;

/// A test plan.
#[derive(Clone, Debug)]
pub(crate) struct SavedPlan {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) items: Vec<PlanItem>,
    /// Extra slots, each with its index and name.
    pub(crate) slots: Vec<(usize, Option<String>)>,
    pub(crate) default_slot_name: Option<String>,
    pub(crate) created: Moment,
    pub(crate) modified: Moment,
    pub(crate) created_by: String,
    pub(crate) modified_by: String,
    /// Fields that a client added and that the service does not define (service.md 4).
    pub(crate) more: Open,
}

/// A test of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlanItem {
    pub(crate) test: String,
    pub(crate) retries: u32,
    /// Fields that a client added and that the service does not define (service.md 4).
    pub(crate) more: Open,
    /// Slot of each player. A player that is not listed has [`DEFAULT_SLOT`].
    pub(crate) slots: Vec<usize>,
}

impl PlanItem {
    pub(crate) fn slot(&self, index: usize) -> usize {
        self.slots.get(index).copied().unwrap_or(DEFAULT_SLOT)
    }
}

/// An execution of a test plan.
#[derive(Clone, Debug)]
pub(crate) struct Execution {
    pub(crate) id: String,
    pub(crate) plan: String,
    pub(crate) plan_name: String,
    pub(crate) build: Option<Arc<StoredBuild>>,
    pub(crate) created: Moment,
    pub(crate) started_by: Starter,
}
