//! Estimates how many tokens a tool costs a model.

use serde_json::{Value, json};

use crate::{
    mcp::published_tool,
    tools::{catalog::Tool, selection::Selection},
};

/// Average number of bytes per token. An estimate is enough, so no tokenizer is needed.
const BYTES_PER_TOKEN: usize = 4;

/// Returns the approximate number of tokens of the name, description and input schema of `tool`, which a model reads
/// in every conversation.
pub(super) fn estimate_tokens(tool: Tool, is_global: bool, selection: &Selection) -> usize {
    let tool = published_tool(tool.info, is_global, selection);
    let size = |value: Value| value.to_string().len();

    (size(json!(tool.name)) + size(json!(tool.description)) + size(json!(tool.input_schema)))
        .div_ceil(BYTES_PER_TOKEN)
}
