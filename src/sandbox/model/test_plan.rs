//! Test plans (supplement 4).

use crate::{sandbox::model::moment::Moment, service::api::Open};

/// Slot of players that no extra slot is assigned to.
pub(crate) const DEFAULT_SLOT: usize = 1;

/// A test plan.
#[derive(Clone, Debug)]
pub(crate) struct SavedPlan {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) items: Vec<PlanItem>,
    /// Extra slots: index and name.
    pub(crate) slots: Vec<(usize, Option<String>)>,
    pub(crate) default_slot_name: Option<String>,
    pub(crate) created: Moment,
    pub(crate) modified: Moment,
    pub(crate) created_by: String,
    pub(crate) modified_by: String,
    /// Fields that somebody added and nobody knows.
    pub(crate) more: Open,
}

/// A test of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlanItem {
    pub(crate) test: String,
    pub(crate) retries: u32,
    /// Fields that somebody added and nobody knows.
    pub(crate) more: Open,
    /// Slot of each player; [`DEFAULT_SLOT`] for those that are not listed.
    pub(crate) slots: Vec<usize>,
}

impl PlanItem {
    /// The slot of the player at `index`.
    pub(crate) fn slot(&self, index: usize) -> usize {
        self.slots.get(index).copied().unwrap_or(DEFAULT_SLOT)
    }
}
