//! The lists of the service that candidates are read from.

use crate::{
    mcp::value_source::ValueSource,
    service::{
        api::{
            bugs::ListBugs,
            builds::ListBuilds,
            configs::{ListAgentConfigs, ListDeploymentConfigs},
            executions::ListTestPlanExecutions,
            plans::ListTestPlans,
            runs::ListRuns,
            shared_steps::ListSharedSteps,
            tests::ListTests,
        },
        catalog::{ListedOperation as _, OperationEntry},
    },
};

/// A list of the service, and how its records are read.
pub(super) struct RecordList {
    /// The operation that returns the list.
    pub(super) operation: fn() -> &'static OperationEntry,
    /// Arguments that put the newest records on the first page, if the service can sort the list.
    pub(super) order: &'static [(&'static str, &'static str)],
    /// Whether the id of a record identifies its project, so that the lists of several projects can be merged.
    pub(super) has_owned_ids: bool,
    /// Value of the field `status` of records that are left out.
    pub(super) excluded_status: Option<&'static str>,
    /// Field with the id.
    pub(super) id: &'static str,
    /// Fields with names.
    pub(super) names: &'static [&'static str],
    /// Fields with the time of creation; the first one that is set counts.
    pub(super) times: &'static [&'static str],
}

const BY_START: &[(&str, &str)] = &[("sort_by", "start_time"), ("sort_order", "desc")];

const BY_CREATION: &[(&str, &str)] = &[("sort_by", "created_at"), ("sort_order", "desc")];

const EXECUTIONS: RecordList = RecordList {
    order: BY_START,
    has_owned_ids: true,
    names: &["test_plan_name", "build_name"],
    ..record_list(ListTestPlanExecutions::entry)
};

/// Returns a list without an order, whose records have the usual fields.
const fn record_list(operation: fn() -> &'static OperationEntry) -> RecordList {
    RecordList {
        operation,
        order: &[],
        has_owned_ids: false,
        excluded_status: None,
        id: "id",
        names: &["name"],
        times: &["created_at", "started_at"],
    }
}

impl RecordList {
    /// Returns the list of a source. The service has no list of projects.
    pub(super) fn from_source(source: ValueSource) -> Option<Self> {
        let list = match source {
            ValueSource::Projects => return None,
            ValueSource::Runs => Self {
                has_owned_ids: true,
                id: "multiplayer_run_id",
                names: &["test.name", "build.name"],
                ..record_list(ListRuns::entry)
            },
            ValueSource::Bugs => {
                Self { order: BY_CREATION, names: &["title"], ..record_list(ListBugs::entry) }
            }
            ValueSource::TestPlans => Self { order: BY_CREATION, ..record_list(ListTestPlans::entry) },
            ValueSource::Executions => EXECUTIONS,
            ValueSource::ComparableExecutions => Self { excluded_status: Some("queued"), ..EXECUTIONS },
            ValueSource::SharedSteps => record_list(ListSharedSteps::entry),
            ValueSource::Agents => record_list(ListAgentConfigs::entry),
            ValueSource::Tests => record_list(ListTests::entry),
            ValueSource::Builds => record_list(ListBuilds::entry),
            ValueSource::DeploymentConfigs => record_list(ListDeploymentConfigs::entry),
        };

        Some(list)
    }
}
