//! Files that the players of runs produce (service.md 12).

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
