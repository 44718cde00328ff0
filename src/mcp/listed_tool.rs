//! The check whether a tool is offered.

use rmcp::ErrorData;

use crate::tools::{
    catalog::{self, Tool},
    selection::Selection,
};

/// Maximum length of a tool name that an error message repeats, in characters.
const QUOTED_NAME_CHARS: usize = 80;

/// A tool in a table that is a constant.
pub(super) type ToolReference = fn() -> Tool;

/// Returns whether the selection offers a tool.
pub(super) fn is_offered(selection: &Selection, tool: ToolReference) -> bool {
    selection.offers(tool().info)
}

/// Finds an offered tool by its name.
///
/// # Errors
/// Invalid parameters, with the nearest name, if there is no such tool, or with the setting that excludes the tool.
pub(super) fn find_offered_tool(selection: &Selection, name: &str) -> Result<Tool, ErrorData> {
    let tool = catalog::find_tool(name).ok_or_else(|| unknown_tool(name))?;
    // The call of a forbidden tool fails with the permission that is missing.
    let found = selection.find(name).or_else(|| selection.find_forbidden(name));
    found.ok_or_else(|| ErrorData::invalid_params(selection.refusal(tool.info), None))
}

fn unknown_tool(name: &str) -> ErrorData {
    let quoted: String = name.chars().take(QUOTED_NAME_CHARS).collect();
    let suggestion = catalog::nearest_name(name).map(|nearest| format!("; did you mean `{nearest}`?"));
    ErrorData::invalid_params(format!("unknown tool `{quoted}`{}", suggestion.unwrap_or_default()), None)
}
