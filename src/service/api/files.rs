//! Files on the host of knowledge: what the players of runs produce (service.md 12), and knowledge files of a project, an agent or a
//! test (service.md 13).

use super::prelude::*;

/// Lists the files that one player of a run produced: logs, recordings, screenshots, reports.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListRunArtifacts {
    /// Of a player, such as `k3v9t2mq7xa-1`[[, from `tool:get_run`]]; or of a run with one player.
    pub run_id: Id,
}

impl Operation for ListRunArtifacts {
    const TOOL: ToolInfo =
        ToolInfo::reads("list_run_artifacts", "List the artifacts of a player", Toolset::Artifacts)
            .with_links()
            .extra()
            .needs("project:read-runs")
            .extended_by(Extension::PlayerFiles)
            .requires_fields(&["artifacts"]);
    const REQUEST: RequestInfo =
        RequestInfo::new(Method::GET, "/runs/{run_id}/artifacts").below(UrlBase::Knowledge);
    type Answer = ArtifactListing;
}

/// Reads one file that a player of a run produced.
///
/// Returns text in parts and PNG or JPEG files as images. For other files only size and type are returned.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetRunArtifact {
    /// Of a player, such as `k3v9t2mq7xa-1`[[, from `tool:get_run`]]; or of a run with one player.
    pub run_id: Id,
    /// Name with directories[[; from `tool:list_run_artifacts`]].
    pub filename: Id,
    /// First byte of text; default 0. `next_offset` continues.
    #[schemars(range(min = 0))]
    pub offset: Option<u64>,
    /// Most bytes of text, 1-1000000; default 16000. A reply may have fewer.
    #[schemars(range(min = 1, max = MAX_PART_LENGTH))]
    pub length: Option<u64>,
}

/// Maximum number of bytes of a text in one request.
const MAX_PART_LENGTH: u64 = 1_000_000;

/// Number of bytes of a text if the argument `length` is absent.
pub const DEFAULT_PART: u64 = 16_000;

impl Operation for GetRunArtifact {
    const TOOL: ToolInfo = ToolInfo::reads("get_run_artifact", "Read an artifact", Toolset::Artifacts)
        .with_pictures()
        .with_links()
        .extra()
        .needs("project:read-runs")
        .extended_by(Extension::PlayerFiles);
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/runs/{run_id}/artifacts/{*filename}")
        .below(UrlBase::Knowledge)
        .own_arguments(&["offset", "length"])
        .responds_with(ResponseKind::File);
    type Answer = ArtifactPart;
}

#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct ArtifactListing {
    #[serde(rename = "runId")]
    pub run_id: Option<String>,
    pub count: Option<usize>,
    pub artifacts: Vec<RunArtifact>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RunArtifact {
    pub filename: String,
    /// A download requires the API key.
    pub url: String,
    /// Size in bytes.
    pub size: u64,
    pub uploaded: String,
    pub etag: String,
}

/// A part of a text, a picture, or the size and type of another file.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct ArtifactPart {
    pub filename: String,
    pub content_type: Option<String>,
    pub etag: Option<String>,
    /// Size of the file in bytes; null if unknown.
    pub total_bytes: Option<u64>,
    /// First byte of `text`.
    pub offset: Option<u64>,
    /// Number of bytes of the file in `text`.
    pub length: Option<u64>,
    /// Offset of the next part; null at the end of the text.
    pub next_offset: Option<u64>,
    pub text: Option<String>,
    /// Size in bytes of a file that is not text; null if unknown.
    pub size: Option<u64>,
    pub picture: Option<Open>,
    /// How to get a file whose content is not in this answer.
    pub hint: Option<String>,
}

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
