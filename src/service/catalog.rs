//! The list of operations. The tools, their snapshots, the routes of the sandbox and the table of the documentation are
//! derived from it.

use std::ops::Deref;

use crate::{
    fields::Fields,
    service::{
        operation::{Operation, RequestInfo},
        tool::ToolDefinition,
    },
};

/// An [`Operation`] without its Rust type. Dereferences to its tool.
#[derive(Debug)]
pub struct OperationEntry {
    /// The operation as a tool.
    pub tool: ToolDefinition,
    /// Properties of the HTTP request.
    pub request: RequestInfo,
}

impl OperationEntry {
    const fn new<O: Operation>() -> Self {
        let request = O::REQUEST;
        let (has_pictures, has_link) = (request.has_pictures(), request.has_link());
        Self { tool: ToolDefinition::new::<O, O::Answer>(O::TOOL, has_pictures, has_link), request }
    }

    /// Returns whether a call with these arguments may be sent twice with the same result.
    pub fn is_repeatable(&self, arguments: &Fields) -> bool {
        self.effect.is_read_only() || (self.request.is_repeatable)(arguments)
    }
}

impl Deref for OperationEntry {
    type Target = ToolDefinition;

    fn deref(&self) -> &ToolDefinition {
        &self.tool
    }
}

/// An operation that is in the list of operations.
pub trait ListedOperation: Operation {
    /// The entry of the operation.
    fn entry() -> &'static OperationEntry;
}

/// Expands `$macro!` with the types of all operations, as paths below [`crate::service::api`], in the order in which
/// hosts list them. The sandbox expands the same list, so that an operation without an answer does not compile.
macro_rules! for_each_operation {
    ($macro:ident) => {
        $macro! {
            runs::StartRun,
            jobs::GetJob,
            jobs::ListJobs,
            runs::ListRuns,
            runs::GetRun,
            runs::GetLiveRun,
            runs::StopRuns,
            exports::ExportTmsysRun,
            bugs::ListRunBugs,
            bugs::ListBugs,
            bugs::GetBug,
            builds::ListBuilds,
            builds::GetBuild,
            builds::DeleteBuild,
            uploads::InitiateBuildUpload,
            uploads::GetBuildUploadParts,
            uploads::CompleteBuildUpload,
            uploads::CancelBuildUpload,
            tests::ListTests,
            tests::GetTest,
            tests::CreateTest,
            tests::UpdateTest,
            tests::DeleteTest,
            folders::ListTestFolders,
            folders::CreateTestFolder,
            plans::ListTestPlans,
            plans::GetTestPlan,
            plans::CreateTestPlan,
            plans::UpdateTestPlan,
            plans::DeleteTestPlan,
            plans::StartTestPlanRun,
            executions::ListTestPlanExecutions,
            executions::GetTestPlanExecution,
            shared_steps::ListSharedSteps,
            shared_steps::GetSharedStep,
            shared_steps::CreateSharedStep,
            shared_steps::UpdateSharedStep,
            shared_steps::DeleteSharedStep,
            configs::ListDeploymentConfigs,
            configs::ListAgentConfigs,
            configs::ListCredentialKinds,
            knowledge::ListKnowledgeFiles,
            knowledge::ListProjectKnowledgeFiles,
            knowledge::ListAgentKnowledgeFiles,
            knowledge::ListTestCaseKnowledgeFiles,
            artifacts::ListRunArtifacts,
            artifacts::GetRunArtifact,
            minions::GetMinionDownload,
        }
    };
}
pub(crate) use for_each_operation;

macro_rules! list_operations {
    ($($resource:ident::$operation:ident,)*) => {
        /// Position of each operation in [`OPERATIONS`].
        #[derive(Clone, Copy)]
        enum Position {
            $($operation),*
        }

        /// The operations, in the order in which hosts list them.
        pub static OPERATIONS: [OperationEntry; [$(Position::$operation),*].len()] =
            [$(OperationEntry::new::<crate::service::api::$resource::$operation>()),*];

        $(impl ListedOperation for crate::service::api::$resource::$operation {
            #[expect(clippy::indexing_slicing, reason = "every position is below the length of the list")]
            fn entry() -> &'static OperationEntry {
                &OPERATIONS[Position::$operation as usize]
            }
        })*
    };
}
for_each_operation!(list_operations);

/// Returns the operation with the name `name`.
pub fn find(name: &str) -> Option<&'static OperationEntry> {
    OPERATIONS.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use proptest::{collection, prelude::*, sample};
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::{
        random_inputs::{check_values, value},
        service::{api::runs::ListRuns, lenient::view},
    };

    /// JSON objects of the fields of an operation's answer, at any depth and with values of any kind.
    fn answers(entry: &OperationEntry) -> impl Strategy<Value = Value> + use<> {
        fn collect(schema: &Value, names: &mut Vec<String>) {
            if let Some(Value::Object(properties)) = schema.get("properties") {
                names.extend(properties.keys().cloned());
            }
            let inner = schema
                .as_object()
                .into_iter()
                .flat_map(Map::values)
                .chain(schema.as_array().into_iter().flatten());
            inner.for_each(|schema| collect(schema, names));
        }
        let mut names = Vec::new();
        collect(&Value::Object((**entry.output_schema()).clone()), &mut names);

        let object = move |inner: BoxedStrategy<Value>| {
            let fields = collection::vec((sample::select(names.clone()), inner), 1..12);
            fields.prop_map(|fields| Value::from(fields.into_iter().collect::<Map<_, _>>()))
        };
        let inner = object.clone();
        let values = value().prop_recursive(4, 64, 12, move |value| {
            prop_oneof![collection::vec(value.clone(), 0..4).prop_map(Value::from), inner(value)]
        });
        object(values.boxed())
    }

    fn check_answers<O: Operation>() {
        let entry = OPERATIONS.iter().find(|entry| entry.name == O::NAME).expect("a listed operation");
        check_values(&answers(entry), OPERATIONS.len(), |answer| {
            drop(view::<O::Answer>(&answer));
        });
        check_values(&value(), OPERATIONS.len(), |any| drop(view::<O::Answer>(&any)));
    }

    macro_rules! check_all_answers {
        ($($resource:ident::$operation:ident,)*) => {
            #[test]
            fn no_surprise_of_the_service_fails_a_view() {
                $(check_answers::<crate::service::api::$resource::$operation>();)*
            }
        };
    }
    for_each_operation!(check_all_answers);

    #[test]
    fn a_surprise_becomes_the_default_and_spoils_nothing_else() {
        let answer = json!({
            "data": [
                {"job_id": "a", "state": 7, "duration_ms": "1e3", "players": [7, {"step_count": "3"}]},
                "b",
                {"job_id": {}, "tags": [1, "x", null]},
            ],
            "pagination": {"total_pages": "2"},
        });
        let page = view::<<ListRuns as Operation>::Answer>(&answer);

        let ids: Vec<_> = page.data.iter().map(|run| run.head.job_id.as_str()).collect();
        assert_eq!((ids, page.pagination.total_pages), (vec!["a", ""], Some(2)));
        let [run, other] = page.data.as_slice() else { panic!("two runs") };
        assert_eq!((run.head.state.as_str(), run.head.duration_ms), ("", Some(1_000.0)));
        assert_eq!(run.players.iter().map(|player| player.step_count).collect::<Vec<_>>(), [Some(3)]);
        assert!(other.head.tags.is_empty());
    }
}
