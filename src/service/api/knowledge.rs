//! Knowledge files of a project, an agent or a test (service.md 13).

use super::prelude::*;

/// Lists the knowledge files of the project, which agents read.
///
/// File contents cannot be read or changed.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListKnowledgeFiles {
    /// Adds files of an agent[[; from `tool:find_by_name/list_agent_configs`]].
    pub agent_id: Option<Id>,
    /// Adds files of a test[[; from `tool:find_by_name/list_tests`]].
    pub test_case_id: Option<Id>,
    pub include_metadata: Option<IncludeMetadata>,
}

impl Operation for ListKnowledgeFiles {
    const TOOL: ToolInfo =
        ToolInfo::reads("list_knowledge_files", "List knowledge files", Toolset::Knowledge)
            .requires_fields(&["sections"]);
    const REQUEST: RequestInfo =
        RequestInfo::new(Method::GET, "/file-storage/{project_id}").below(UrlBase::Knowledge);
    type Answer = KnowledgeListing;
}

/// Lists only the knowledge files of the project, which every run can read.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListProjectKnowledgeFiles {
    pub include_metadata: Option<IncludeMetadata>,
}

impl Operation for ListProjectKnowledgeFiles {
    const TOOL: ToolInfo =
        ToolInfo::reads("list_project_knowledge_files", "List project knowledge files", Toolset::Knowledge)
            .extra()
            .requires_fields(&["files"]);
    const REQUEST: RequestInfo =
        RequestInfo::new(Method::GET, "/file-storage/{project_id}/project").below(UrlBase::Knowledge);
    type Answer = KnowledgeScopeListing;
}

/// Lists only the knowledge files of one agent.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListAgentKnowledgeFiles {
    /// From `tool:find_by_name/list_agent_configs`.
    pub agent_id: Id,
    pub include_metadata: Option<IncludeMetadata>,
}

impl Operation for ListAgentKnowledgeFiles {
    const TOOL: ToolInfo =
        ToolInfo::reads("list_agent_knowledge_files", "List agent knowledge files", Toolset::Knowledge)
            .extra()
            .requires_fields(&["files"]);
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/file-storage/{project_id}/agent/{agent_id}")
        .below(UrlBase::Knowledge);
    type Answer = KnowledgeScopeListing;
}

/// Lists only the knowledge files of one test.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListTestCaseKnowledgeFiles {
    /// From `tool:find_by_name/list_tests`.
    pub test_case_id: Id,
    pub include_metadata: Option<IncludeMetadata>,
}

impl Operation for ListTestCaseKnowledgeFiles {
    const TOOL: ToolInfo =
        ToolInfo::reads("list_test_case_knowledge_files", "List test knowledge files", Toolset::Knowledge)
            .extra()
            .requires_fields(&["files"]);
    const REQUEST: RequestInfo =
        RequestInfo::new(Method::GET, "/file-storage/{project_id}/test_case/{test_case_id}")
            .below(UrlBase::Knowledge);
    type Answer = KnowledgeScopeListing;
}

/// Adds descriptions of the contents; default false.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct IncludeMetadata(pub bool);

/// Files of several scopes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct KnowledgeListing {
    pub project_id: String,
    /// Files of all sections.
    pub count: usize,
    /// The section of the project, then the requested sections.
    pub sections: Vec<KnowledgeSection>,
}

/// Files of one of several scopes.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct KnowledgeSection {
    /// `project`, `agent` or `test_case`.
    pub scope: String,
    /// Id of the agent or the test.
    pub id: Option<String>,
    pub count: usize,
    pub files: Vec<KnowledgeFile>,
}

/// Files of one scope.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct KnowledgeScopeListing {
    pub project_id: String,
    /// `project`, `agent` or `test_case`.
    pub scope: String,
    pub agent_id: Option<String>,
    pub test_case_id: Option<String>,
    pub count: usize,
    pub files: Vec<KnowledgeFile>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct KnowledgeFile {
    /// Without directories.
    pub filename: String,
    /// Path relative to the root of the scope.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last write.
    pub uploaded: String,
    pub etag: String,
    /// Present only if requested and if the file has metadata.
    pub metadata: Option<KnowledgeMetadata>,
}

/// Description of a knowledge file, written by a person.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct KnowledgeMetadata {
    pub description: Option<String>,
    pub summary: Option<String>,
    pub keywords: Option<Vec<String>>,
}
