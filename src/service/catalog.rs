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
        Self { tool: ToolDefinition::new::<O, O::Answer>(O::TOOL), request: O::REQUEST }
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
            jobs::ListTestPlanExecutions,
            jobs::GetTestPlanExecution,
            shared_steps::ListSharedSteps,
            shared_steps::GetSharedStep,
            shared_steps::CreateSharedStep,
            shared_steps::UpdateSharedStep,
            shared_steps::DeleteSharedStep,
            configs::ListDeploymentConfigs,
            configs::ListAgentConfigs,
            configs::ListCredentialKinds,
            files::ListKnowledgeFiles,
            files::ListProjectKnowledgeFiles,
            files::ListAgentKnowledgeFiles,
            files::ListTestCaseKnowledgeFiles,
            files::ListRunArtifacts,
            files::GetRunArtifact,
            configs::GetMinionDownload,
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
