//! Records of test plans.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::apply;

use crate::service::view::{lenient, objects};

use crate::service::api::Open;

/// A test plan, list form.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestPlanSummary {
    pub id: String,
    pub project_id: String,
    pub name: String,
    pub test_count: usize,
    #[serde(flatten)]
    pub audit: Audit,
}

/// A test plan, detail form.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestPlan {
    pub id: String,
    pub project_id: String,
    pub name: String,
    pub test_items: Vec<TestPlanItem>,
    pub slots: Option<Vec<TestPlanSlot>>,
    /// Name of slot 1.
    pub default_slot_name: Option<String>,
    #[serde(flatten)]
    pub audit: Audit,
    #[serde(flatten)]
    pub more: Open,
}

/// Time and author of the creation and of the last change of a record.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Audit {
    pub created_at: Option<String>,
    pub modified_at: Option<String>,
    pub created_by: Option<String>,
    pub modified_by: Option<String>,
}

/// A test of a plan.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestPlanItem {
    #[serde_with(skip_apply)]
    pub multiplayer_test_id: String,
    pub retries: u32,
    #[serde(flatten)]
    pub more: Open,
}

/// An additional deployment slot.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestPlanSlot {
    /// Starts at 2.
    pub index: usize,
    pub name: Option<String>,
}

objects!(TestPlanSummary, TestPlan, Audit, TestPlanItem, TestPlanSlot);
