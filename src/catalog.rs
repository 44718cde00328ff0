//! Every operation, once. The tools, their snapshots, the sandbox's routes and the README are read from this list.

use std::{ops::Deref, sync::OnceLock};

use http::Method;

use crate::{
    api::{
        artifacts::{GetRunArtifact, ListRunArtifacts},
        bugs::{GetBug, ListBugs, ListRunBugs},
        builds::{DeleteBuild, GetBuild, ListBuilds},
        configs::{ListAgentConfigs, ListCredentialKinds, ListDeploymentConfigs},
        deleting::{DeleteSharedStep, DeleteTest, DeleteTestPlan},
        executions::{GetTestPlanExecution, ListTestPlanExecutions},
        exports::ExportTmsysRun,
        folders::{CreateTestFolder, ListTestFolders},
        jobs::{GetJob, ListJobs},
        knowledge::{
            ListAgentKnowledgeFiles, ListKnowledgeFiles, ListProjectKnowledgeFiles,
            ListTestCaseKnowledgeFiles,
        },
        live::GetLiveRun,
        minions::GetMinionDownload,
        plans::{CreateTestPlan, GetTestPlan, ListTestPlans, UpdateTestPlan},
        runs::{GetRun, ListRuns, StopRuns},
        start::{StartRun, StartTestPlanRun},
        step_writing::{CreateSharedStep, UpdateSharedStep},
        steps::{GetSharedStep, ListSharedSteps},
        test_writing::{CreateTest, UpdateTest},
        tests::{GetTest, ListTests},
        uploads::{CancelBuildUpload, CompleteBuildUpload, GetBuildUploadParts, InitiateBuildUpload},
    },
    arguments::nearest,
    local::LOCAL,
    operation::{Fallback, Fields, Form, Operation, PROJECT, Pictures, Place, TMSYS, Trace},
    sandbox::{self, Answer, Invalid, World},
    schema,
    tool::Tool,
};

/// The operations, in the order in which hosts list them.
pub static OPERATIONS: [Entry; 48] = [
    Entry::of::<StartRun>(),
    Entry::of::<GetJob>(),
    Entry::of::<ListJobs>(),
    Entry::of::<ListRuns>(),
    Entry::of::<GetRun>(),
    Entry::of::<GetLiveRun>(),
    Entry::of::<StopRuns>(),
    Entry::of::<ExportTmsysRun>(),
    Entry::of::<ListRunBugs>(),
    Entry::of::<ListBugs>(),
    Entry::of::<GetBug>(),
    Entry::of::<ListBuilds>(),
    Entry::of::<GetBuild>(),
    Entry::of::<DeleteBuild>(),
    Entry::of::<InitiateBuildUpload>(),
    Entry::of::<GetBuildUploadParts>(),
    Entry::of::<CompleteBuildUpload>(),
    Entry::of::<CancelBuildUpload>(),
    Entry::of::<ListTests>(),
    Entry::of::<GetTest>(),
    Entry::of::<CreateTest>(),
    Entry::of::<UpdateTest>(),
    Entry::of::<DeleteTest>(),
    Entry::of::<ListTestFolders>(),
    Entry::of::<CreateTestFolder>(),
    Entry::of::<ListTestPlans>(),
    Entry::of::<GetTestPlan>(),
    Entry::of::<CreateTestPlan>(),
    Entry::of::<UpdateTestPlan>(),
    Entry::of::<DeleteTestPlan>(),
    Entry::of::<StartTestPlanRun>(),
    Entry::of::<ListTestPlanExecutions>(),
    Entry::of::<GetTestPlanExecution>(),
    Entry::of::<ListSharedSteps>(),
    Entry::of::<GetSharedStep>(),
    Entry::of::<CreateSharedStep>(),
    Entry::of::<UpdateSharedStep>(),
    Entry::of::<DeleteSharedStep>(),
    Entry::of::<ListDeploymentConfigs>(),
    Entry::of::<ListAgentConfigs>(),
    Entry::of::<ListCredentialKinds>(),
    Entry::of::<ListKnowledgeFiles>(),
    Entry::of::<ListProjectKnowledgeFiles>(),
    Entry::of::<ListAgentKnowledgeFiles>(),
    Entry::of::<ListTestCaseKnowledgeFiles>(),
    Entry::of::<ListRunArtifacts>(),
    Entry::of::<GetRunArtifact>(),
    Entry::of::<GetMinionDownload>(),
];

/// Every tool: the operations, and what is made of them here.
pub fn tools() -> impl Iterator<Item = &'static Tool> {
    OPERATIONS.iter().map(|entry| &entry.tool).chain(LOCAL.iter().map(|local| &local.tool))
}

/// The operation of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    OPERATIONS.iter().find(|entry| entry.name == name)
}

/// The tool of that name.
pub fn find_tool(name: &str) -> Option<&'static Tool> {
    tools().find(|tool| tool.name == name)
}

/// The name of a tool that is most like `name`.
pub fn nearest_name(name: &str) -> Option<&'static str> {
    nearest(name, tools().map(|tool| tool.name))
}

/// The name in a placeholder of a path, and whether its value may be several segments.
pub fn placeholder(segment: &str) -> Option<(&str, bool)> {
    let name = segment.strip_prefix('{')?.strip_suffix('}')?;
    Some(name.strip_prefix('*').map_or((name, false), |name| (name, true)))
}

/// An [`Operation`] without its type.
pub struct Entry {
    tool: Tool,
    /// [`Operation::METHOD`]
    pub method: Method,
    /// [`Operation::PATH`]
    pub path: &'static str,
    /// [`Operation::PLACE`]
    pub place: Place,
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
    /// [`Operation::TRACES`]
    pub traces: &'static [Trace],
    /// [`Operation::FORM`]
    pub form: Form,
    /// [`Operation::PICTURES`]
    pub pictures: Option<Pictures>,
    /// [`Operation::repeatable`]
    pub repeatable: fn(&Fields) -> bool,
    /// What the sandbox does.
    pub(crate) answer: sandbox::Handler,
    /// What the sandbox does with a request that breaks a rule.
    pub(crate) invalid: Invalid,
}

impl Deref for Entry {
    type Target = Tool;
    fn deref(&self) -> &Tool {
        &self.tool
    }
}

impl Entry {
    const fn of<O: Operation>() -> Self
    where
        World: Answer<O>,
    {
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
                has_pictures: O::PICTURES.is_some() || matches!(O::FORM, Form::File),
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
            traces: O::TRACES,
            form: O::FORM,
            pictures: O::PICTURES,
            repeatable: O::repeatable,
            answer: sandbox::handle::<O>,
            invalid: <World as Answer<O>>::INVALID,
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

impl std::fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}
