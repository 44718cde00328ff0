//! The kinds of records that have names, and the lists that contain them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::service::{
    api::{
        bugs::ListBugs,
        builds::ListBuilds,
        configs::{ListAgentConfigs, ListDeploymentConfigs},
        folders::ListTestFolders,
        plans::ListTestPlans,
        shared_steps::ListSharedSteps,
        tests::ListTests,
    },
    catalog::{ListedOperation as _, OperationEntry},
};

// No doc comment, because it would become part of the description of the argument.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the service are self-explanatory")]
pub enum RecordKind {
    Test,
    TestPlan,
    TestFolder,
    DeploymentConfig,
    AgentConfig,
    Build,
    SharedStep,
    Bug,
}

/// The list that contains the records of one kind.
#[derive(Clone, Copy, Debug)]
pub struct NamedList {
    /// The operation that lists the records.
    pub operation: fn() -> &'static OperationEntry,
    /// Arguments without which the list does not contain every record.
    pub(super) filter: &'static [(&'static str, &'static str)],
    /// Fields by which people know a record. The first one is its name.
    pub names: &'static [&'static str],
    /// Fields that tell records with the same name apart.
    pub(super) shown: &'static [&'static str],
    /// Field with the platform, if it is not called `platform`.
    pub(super) platform: Option<&'static str>,
}

impl RecordKind {
    /// Every kind, in the order in which records are shown.
    pub(in crate::tools) const ALL: [Self; 8] = [
        Self::Test,
        Self::TestPlan,
        Self::TestFolder,
        Self::DeploymentConfig,
        Self::AgentConfig,
        Self::Build,
        Self::SharedStep,
        Self::Bug,
    ];

    /// Returns the list that contains the records of this kind.
    pub const fn list(self) -> NamedList {
        const fn list(
            operation: fn() -> &'static OperationEntry,
            names: &'static [&'static str],
            shown: &'static [&'static str],
        ) -> NamedList {
            NamedList { operation, filter: &[], names, shown, platform: None }
        }

        match self {
            Self::Test => list(ListTests::entry, &["name"], &["folder_path", "type"]),
            Self::TestPlan => list(ListTestPlans::entry, &["name"], &["test_count", "created_at"]),
            Self::TestFolder => list(ListTestFolders::entry, &["name", "path"], &["path"]),
            Self::DeploymentConfig => NamedList {
                // `kind` is the kind of the record in the answer.
                platform: Some("kind"),
                ..list(ListDeploymentConfigs::entry, &["name"], &["providerType", "description"])
            },
            Self::AgentConfig => list(ListAgentConfigs::entry, &["name"], &["description"]),
            Self::Build => {
                let shown = &["platform", "status", "file_name", "created_at"];
                list(ListBuilds::entry, &["name", "file_name"], shown)
            }
            Self::SharedStep => list(ListSharedSteps::entry, &["name"], &["steps_count", "created_at"]),
            Self::Bug => NamedList {
                filter: &[("status", "all")],
                ..list(ListBugs::entry, &["title"], &["severity", "status", "created_at"])
            },
        }
    }
}
