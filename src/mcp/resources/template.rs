//! The one table of resource templates.

use crate::{
    mcp::completion::Source,
    service::{
        api::{
            bugs::GetBug,
            knowledge::{
                ListAgentKnowledgeFiles, ListKnowledgeFiles, ListProjectKnowledgeFiles,
                ListTestCaseKnowledgeFiles,
            },
            plans::GetTestPlan,
            runs::GetRun,
            steps::GetSharedStep,
        },
        operation::Operation,
        result_kind::ResultKind,
    },
    tools::{catalog, selection::Selection},
};

/// A family of resources, and the tool that answers for them.
#[derive(Debug)]
pub(in crate::mcp) struct Template {
    /// Below [`Template::ROOT`].
    pub(super) path: &'static str,
    pub(in crate::mcp) name: &'static str,
    pub(super) title: &'static str,
    /// What is read.
    pub(super) what: &'static str,
    pub(in crate::mcp) tool: &'static str,
    /// The variables of [`Self::path`].
    pub(in crate::mcp) variables: &'static [Variable],
}

/// A variable of a template.
#[derive(Debug)]
pub(in crate::mcp) struct Variable {
    /// As the template has it.
    pub(in crate::mcp) name: &'static str,
    /// The argument of the tool.
    pub(super) argument: &'static str,
    /// Where its values come from.
    pub(in crate::mcp) source: Source,
}

/// The variable that every template has.
pub(in crate::mcp) const PROJECT: &str = "project";

const fn id(name: &'static str, argument: &'static str, source: Source) -> Variable {
    Variable { name, argument, source }
}

/// Every template, in the order in which they are listed.
pub(in crate::mcp) static TEMPLATES: [Template; 8] = [
    Template {
        path: "runs/{run}",
        name: "run",
        title: "Run",
        what: "A test run in full: result, players, steps.",
        tool: GetRun::NAME,
        variables: &[id("run", ResultKind::Run.argument(), Source::Runs)],
    },
    Template {
        path: "bugs/{bug}",
        name: "bug",
        title: "Reviewed bug",
        what: "A reviewed bug with every occurrence.",
        tool: GetBug::NAME,
        variables: &[id("bug", "bug_id", Source::Bugs)],
    },
    Template {
        path: "test-plans/{id}",
        name: "test_plan",
        title: "Test plan",
        what: "A test plan: its tests and deployment slots.",
        tool: GetTestPlan::NAME,
        variables: &[id("id", "test_plan_id", Source::Plans)],
    },
    Template {
        path: "shared-steps/{id}",
        name: "shared_steps",
        title: "Shared steps",
        what: "A shared step collection: its steps and version.",
        tool: GetSharedStep::NAME,
        variables: &[id("id", "shared_step_id", Source::SharedSteps)],
    },
    Template {
        path: "knowledge",
        name: "knowledge",
        title: "Knowledge files",
        what: "The knowledge files that agents read.",
        tool: ListKnowledgeFiles::NAME,
        variables: &[],
    },
    Template {
        path: "knowledge/project",
        name: "project_knowledge",
        title: "Knowledge files of the project",
        what: "The knowledge files that every run of the project sees.",
        tool: ListProjectKnowledgeFiles::NAME,
        variables: &[],
    },
    Template {
        path: "knowledge/agent/{agent_id}",
        name: "agent_knowledge",
        title: "Knowledge files of an agent",
        what: "The knowledge files that only runs with one agent see.",
        tool: ListAgentKnowledgeFiles::NAME,
        variables: &[id("agent_id", "agent_id", Source::Agents)],
    },
    Template {
        path: "knowledge/test_case/{test_case_id}",
        name: "test_case_knowledge",
        title: "Knowledge files of a test",
        what: "The knowledge files that only runs of one test see.",
        tool: ListTestCaseKnowledgeFiles::NAME,
        variables: &[id("test_case_id", "test_case_id", Source::Tests)],
    },
];

impl Template {
    /// What the URIs of all records begin with.
    pub(super) const ROOT: &str = "tas://projects/";

    /// The URI template, as RFC 6570 writes it.
    pub(in crate::mcp) fn uri_template(&self) -> String {
        format!("{}{{{PROJECT}}}/{}", Self::ROOT, self.path)
    }

    pub(super) fn description(&self) -> String {
        format!("{} The same as `{}` answers.", self.what, self.tool)
    }

    /// Whether the tool behind it is offered.
    pub(in crate::mcp) fn is_offered(&self, selection: &Selection) -> bool {
        catalog::find_tool(self.tool).is_some_and(|tool| selection.offers(&tool))
    }

    pub(super) fn variable(&self, name: &str) -> Option<&'static Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// Where the values of a variable come from.
    pub(in crate::mcp) fn source(&self, variable: &str) -> Option<Source> {
        if variable == PROJECT {
            return Some(Source::Projects);
        }
        self.variable(variable).map(|variable| variable.source)
    }
}
