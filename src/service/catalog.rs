//! The list of operations. Tools, their snapshots, the sandbox's routes and the README table are derived from it.

use std::{ops::Deref, sync::OnceLock};

use http::Method;

use crate::{
    fields::Fields,
    service::{
        operation::{DuplicateCheck, Fallback, Operation, PROJECT, Pictures, ResponseKind, TMSYS, UrlBase},
        schema,
        tool::Tool,
    },
};

/// Expands `$macro!` with the types of all operations, as paths below [`crate::service::api`], in the order in which
/// hosts list them. The sandbox expands the same list, so that an operation without an answer does not compile.
macro_rules! for_each_operation {
    ($macro:ident) => {
        $macro! {
            start::StartRun,
            jobs::GetJob,
            jobs::ListJobs,
            runs::ListRuns,
            runs::GetRun,
            live::GetLiveRun,
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
            test_writing::CreateTest,
            test_writing::UpdateTest,
            deleting::DeleteTest,
            folders::ListTestFolders,
            folders::CreateTestFolder,
            plans::ListTestPlans,
            plans::GetTestPlan,
            plans::CreateTestPlan,
            plans::UpdateTestPlan,
            deleting::DeleteTestPlan,
            start::StartTestPlanRun,
            executions::ListTestPlanExecutions,
            executions::GetTestPlanExecution,
            steps::ListSharedSteps,
            steps::GetSharedStep,
            step_writing::CreateSharedStep,
            step_writing::UpdateSharedStep,
            deleting::DeleteSharedStep,
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
            [$(OperationEntry::of::<crate::service::api::$resource::$operation>()),*];

        $(impl ListedOperation for crate::service::api::$resource::$operation {
            #[expect(clippy::indexing_slicing, reason = "every position is below the length of the list")]
            fn entry() -> &'static OperationEntry {
                &OPERATIONS[Position::$operation as usize]
            }
        })*
    };
}
for_each_operation!(list_operations);

/// An operation of the list.
pub trait ListedOperation: Operation {
    /// The entry of this operation.
    fn entry() -> &'static OperationEntry;
}

/// The operation of that name.
pub fn find(name: &str) -> Option<&'static OperationEntry> {
    OPERATIONS.iter().find(|entry| entry.name == name)
}

/// The name in a placeholder of a path, and whether its value may be several segments.
pub fn placeholder(segment: &str) -> Option<(&str, bool)> {
    let name = segment.strip_prefix('{')?.strip_suffix('}')?;
    Some(name.strip_prefix('*').map_or((name, false), |name| (name, true)))
}

/// An [`Operation`] without its type.
pub struct OperationEntry {
    /// The operation as a tool.
    pub tool: Tool,
    /// [`Operation::METHOD`]
    pub method: Method,
    /// [`Operation::PATH`]
    pub path: &'static str,
    /// [`Operation::PLACE`]
    pub place: UrlBase,
    /// [`Operation::QUERY`]
    pub query: &'static [&'static str],
    /// [`Operation::BODY`]
    pub body: &'static [&'static str],
    /// [`Operation::OWN_ARGUMENTS`]
    pub own_arguments: &'static [&'static str],
    /// [`Operation::PROJECT_IN_BODY`]
    pub project_in_body: bool,
    /// [`Operation::WRAPPER`]
    pub wrapper: Option<&'static str>,
    /// [`Operation::CLOSED`]
    pub closed: bool,
    /// [`Operation::COMPLETE`]
    pub complete: Option<fn(&mut Fields, &Fields)>,
    /// [`Operation::FALLBACK`]
    pub fallback: Option<Fallback>,
    /// [`Operation::DUPLICATE_CHECKS`]
    pub traces: &'static [DuplicateCheck],
    /// [`Operation::FORM`]
    pub form: ResponseKind,
    /// [`Operation::PICTURES`]
    pub pictures: Option<Pictures>,
    /// [`Operation::repeatable`]
    pub repeatable: fn(&Fields) -> bool,
}

impl Deref for OperationEntry {
    type Target = Tool;
    fn deref(&self) -> &Tool {
        &self.tool
    }
}

impl OperationEntry {
    const fn of<O: Operation>() -> Self {
        Self {
            tool: Tool {
                name: O::NAME,
                title: O::TITLE,
                effect: O::EFFECT,
                toolset: O::TOOLSET,
                tier: O::TIER,
                access: O::ACCESS,
                rules: O::RULES,
                own_rules: O::OWN_RULES,
                essential: O::ESSENTIAL,
                confirm: O::CONFIRM,
                in_doubt: O::IN_DOUBT,
                takes_fields: O::EFFECT.is_read_only(),
                has_pictures: O::PICTURES.is_some() || matches!(O::FORM, ResponseKind::File),
                has_view: O::VIEW,
                input: schema::input::<O>,
                output: schema::output::<O::Output>,
                schemas: OnceLock::new(),
            },
            method: O::METHOD,
            path: O::PATH,
            place: O::PLACE,
            query: O::QUERY,
            body: O::BODY,
            own_arguments: O::OWN_ARGUMENTS,
            project_in_body: O::PROJECT_IN_BODY,
            wrapper: O::WRAPPER,
            closed: O::CLOSED,
            complete: O::COMPLETE,
            fallback: O::FALLBACK,
            traces: O::DUPLICATE_CHECKS,
            form: O::FORM,
            pictures: O::PICTURES,
            repeatable: O::repeatable,
        }
    }

    /// Names of the fields that travel in the path.
    pub fn path_fields(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter(|segment| *segment != TMSYS).filter_map(placeholder).map(|(name, _)| name)
    }

    /// Whether a field travels in a JSON body, if not in the path.
    pub fn is_in_body(&self, field: &str) -> bool {
        if self.has_body() { !self.query.contains(&field) } else { self.body.contains(&field) }
    }

    /// Whether every request has a JSON body.
    pub fn has_body(&self) -> bool {
        !matches!(self.method, Method::GET | Method::DELETE | Method::HEAD)
    }

    /// Whether path or body name the project as a field.
    pub fn names_project(&self) -> bool {
        self.project_in_body || self.path.contains(PROJECT)
    }
}

impl std::fmt::Debug for OperationEntry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}
