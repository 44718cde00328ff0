//! Estimates how many tokens a tool costs a model.

use serde_json::Value;

use crate::{mcp::published_json, service::tool::Tool, tools::selection::Selection};

/// Average number of bytes per token. An estimate is enough, so no tokenizer is needed.
const BYTES_PER_TOKEN: usize = 4;

/// Returns the approximate number of tokens of the name, description and input schema of `tool`, which a model reads
/// in every conversation.
pub(super) fn estimate_tokens(
    tool: &Tool,
    is_global: bool,
    selection: &Selection,
) -> serde_json::Result<usize> {
    let tool: Value = serde_json::from_str(&published_json(tool, is_global, selection))?;
    let size = |field: &str| tool.get(field).map_or(0, |value: &Value| value.to_string().len());

    Ok((size("name") + size("description") + size("inputSchema")).div_ceil(BYTES_PER_TOKEN))
}
