//! The resource templates.

use super::template::{RecordTemplate, TemplateVariable};
use crate::{
    mcp::value_source::ValueSource,
    service::{
        api::{
            bugs::GetBug,
            knowledge::{
                ListAgentKnowledgeFiles, ListKnowledgeFiles, ListProjectKnowledgeFiles,
                ListTestCaseKnowledgeFiles,
            },
            plans::GetTestPlan,
            runs::GetRun,
            shared_steps::GetSharedStep,
        },
        catalog::ListedOperation as _,
        result_kind::ResultKind,
    },
};

/// The resource templates, in the order in which hosts list them.
pub(super) static TEMPLATES: [RecordTemplate; 8] = [
    RecordTemplate {
        path: "runs/{run}",
        name: "run",
        title: "Run",
        summary: "A test run in full: result, players, steps.",
        operation: GetRun::entry,
        variables: &[variable("run", ResultKind::Run.argument(), ValueSource::Runs)],
    },
    RecordTemplate {
        path: "bugs/{bug}",
        name: "bug",
        title: "Reviewed bug",
        summary: "A reviewed bug with every occurrence.",
        operation: GetBug::entry,
        variables: &[variable("bug", "bug_id", ValueSource::Bugs)],
    },
    RecordTemplate {
        path: "test-plans/{id}",
        name: "test_plan",
        title: "Test plan",
        summary: "A test plan: its tests and deployment slots.",
        operation: GetTestPlan::entry,
        variables: &[variable("id", "test_plan_id", ValueSource::TestPlans)],
    },
    RecordTemplate {
        path: "shared-steps/{id}",
        name: "shared_steps",
        title: "Shared steps",
        summary: "A shared step collection: its steps and version.",
        operation: GetSharedStep::entry,
        variables: &[variable("id", "shared_step_id", ValueSource::SharedSteps)],
    },
    RecordTemplate {
        path: "knowledge",
        name: "knowledge",
        title: "Knowledge files",
        summary: "The knowledge files that agents read.",
        operation: ListKnowledgeFiles::entry,
        variables: &[],
    },
    RecordTemplate {
        path: "knowledge/project",
        name: "project_knowledge",
        title: "Knowledge files of the project",
        summary: "The knowledge files for every run of the project.",
        operation: ListProjectKnowledgeFiles::entry,
        variables: &[],
    },
    RecordTemplate {
        path: "knowledge/agent/{agent_id}",
        name: "agent_knowledge",
        title: "Knowledge files of an agent",
        summary: "The knowledge files for runs with one agent.",
        operation: ListAgentKnowledgeFiles::entry,
        variables: &[variable("agent_id", "agent_id", ValueSource::Agents)],
    },
    RecordTemplate {
        path: "knowledge/test_case/{test_case_id}",
        name: "test_case_knowledge",
        title: "Knowledge files of a test",
        summary: "The knowledge files for runs of one test.",
        operation: ListTestCaseKnowledgeFiles::entry,
        variables: &[variable("test_case_id", "test_case_id", ValueSource::Tests)],
    },
];

const fn variable(name: &'static str, argument: &'static str, source: ValueSource) -> TemplateVariable {
    TemplateVariable { name, argument, source }
}
