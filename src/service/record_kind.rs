//! The kinds of records, by the names that tools use.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    fields::{Fields, text_at},
    service::{
        api::{
            bugs::ListBugs,
            builds::ListBuilds,
            configs::{ListAgentConfigs, ListDeploymentConfigs},
            executions::ListTestPlanExecutions,
            folders::ListTestFolders,
            jobs::ListJobs,
            plans::ListTestPlans,
            runs::ListRuns,
            shared_steps::ListSharedSteps,
            tests::ListTests,
        },
        catalog::{ListedOperation as _, OperationEntry},
        result_kind::ResultKind,
    },
};

// No doc comment, because it would become part of the description of arguments.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the service are self-explanatory")]
pub enum RecordKind {
    #[default]
    Test,
    TestPlan,
    TestFolder,
    DeploymentConfig,
    AgentConfig,
    Build,
    SharedStep,
    Bug,
    #[serde(untagged)]
    Result(ResultKind),
}

impl RecordKind {
    /// The kinds whose records have names.
    pub const NAMED: [Self; 8] = [
        Self::Test,
        Self::TestPlan,
        Self::TestFolder,
        Self::DeploymentConfig,
        Self::AgentConfig,
        Self::Build,
        Self::SharedStep,
        Self::Bug,
    ];

    /// The kinds that are described.
    pub const DESCRIBED: [Self; 8] = [
        Self::Result(ResultKind::Run),
        Self::Result(ResultKind::Job),
        Self::Result(ResultKind::Execution),
        Self::Test,
        Self::TestPlan,
        Self::Build,
        Self::DeploymentConfig,
        Self::Bug,
    ];

    /// The kinds that are described, and whose records have names.
    pub const DESCRIBED_BY_NAME: [Self; 5] =
        [Self::Test, Self::TestPlan, Self::Build, Self::DeploymentConfig, Self::Bug];

    /// Returns the operation that lists the records.
    pub fn list(self) -> &'static OperationEntry {
        match self {
            Self::Result(ResultKind::Run) => ListRuns::entry(),
            Self::Result(ResultKind::Job) => ListJobs::entry(),
            Self::Result(ResultKind::Execution) => ListTestPlanExecutions::entry(),
            Self::Test => ListTests::entry(),
            Self::TestPlan => ListTestPlans::entry(),
            Self::TestFolder => ListTestFolders::entry(),
            Self::DeploymentConfig => ListDeploymentConfigs::entry(),
            Self::AgentConfig => ListAgentConfigs::entry(),
            Self::Build => ListBuilds::entry(),
            Self::SharedStep => ListSharedSteps::entry(),
            Self::Bug => ListBugs::entry(),
        }
    }

    /// Returns the arguments without which the list does not contain every record.
    pub fn filter(self) -> Fields {
        let all = (self == Self::Bug).then(|| ("status".to_owned(), Value::from("all")));
        all.into_iter().collect()
    }

    /// Returns the field of a listed record that holds its id.
    pub fn id_field(self) -> &'static str {
        self.list().records.map_or("id", |keys| keys.id)
    }

    /// Returns the names by which users know a record of the list: a folder also by its path, a build by its file.
    pub fn names(self, record: &Value) -> Vec<&str> {
        let name = self.list().records.map_or("name", |keys| keys.name);
        let other = match self {
            Self::TestFolder => Some("path"),
            Self::Build => Some("file_name"),
            _ => None,
        };

        [Some(name), other].into_iter().flatten().filter_map(|field| text_at(record, field)).collect()
    }
}

impl JsonSchema for RecordKind {
    fn schema_name() -> Cow<'static, str> {
        "RecordKind".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let results = ResultKind::ALL.map(Self::Result);
        let kinds: Vec<_> = results.into_iter().chain(Self::NAMED).collect();
        json_schema!({"type": "string", "enum": kinds})
    }
}
