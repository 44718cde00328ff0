//! References to tools by their Rust types, and the check whether a tool is offered.

use rmcp::ErrorData;

use crate::{
    service::catalog::ListedOperation,
    tools::{
        catalog::{
            self, DOWNLOAD_MINION, DOWNLOAD_RUN_FILES, FIND_BY_NAME, SUMMARIZE_RESULTS, ToolEntry,
            UPLOAD_BUILD, WAIT_FOR_COMPLETION,
        },
        composite::{
            DownloadMinion, DownloadRunFiles, FindByName, SummarizeResults, UploadBuild, WaitForCompletion,
        },
        selection::Selection,
    },
};

/// Maximum length of a tool name that an error message repeats, in characters.
const QUOTED_NAME_CHARS: usize = 80;

/// Function that returns the entry of a tool, for tables that are constants.
pub(super) type ToolReference = fn() -> ToolEntry;

/// A type that stands for a tool of the list.
pub(super) trait ListedTool {
    /// Returns the entry of this tool.
    fn tool_entry() -> ToolEntry;
}

impl<O: ListedOperation> ListedTool for O {
    fn tool_entry() -> ToolEntry {
        ToolEntry::Operation(O::entry())
    }
}

macro_rules! implement_listed_tool {
    ($($tool:ty => $entry:ident),* $(,)?) => {
        $(impl ListedTool for $tool {
            fn tool_entry() -> ToolEntry {
                ToolEntry::Composite(&$entry)
            }
        })*
    };
}
implement_listed_tool!(
    FindByName => FIND_BY_NAME,
    UploadBuild => UPLOAD_BUILD,
    WaitForCompletion => WAIT_FOR_COMPLETION,
    SummarizeResults => SUMMARIZE_RESULTS,
    DownloadRunFiles => DOWNLOAD_RUN_FILES,
    DownloadMinion => DOWNLOAD_MINION,
);

/// Returns whether the selection offers a tool.
pub(super) fn is_offered(selection: &Selection, tool: ToolReference) -> bool {
    selection.offers(tool().tool())
}

/// Finds an offered tool by its name.
///
/// # Errors
/// Invalid parameters, with the nearest name, if there is no such tool, or with the setting that excludes the tool.
pub(super) fn find_offered_tool(selection: &Selection, name: &str) -> Result<ToolEntry, ErrorData> {
    let tool = catalog::find_tool(name).ok_or_else(|| unknown_tool(name))?;
    // The call of a forbidden tool fails with the permission that is missing.
    let found = selection.find(name).or_else(|| selection.find_forbidden(name));
    found.ok_or_else(|| ErrorData::invalid_params(selection.refusal(tool.tool()), None))
}

fn unknown_tool(name: &str) -> ErrorData {
    let quoted: String = name.chars().take(QUOTED_NAME_CHARS).collect();
    let suggestion = catalog::nearest_name(name).map(|nearest| format!("; did you mean `{nearest}`?"));
    ErrorData::invalid_params(format!("unknown tool `{quoted}`{}", suggestion.unwrap_or_default()), None)
}
