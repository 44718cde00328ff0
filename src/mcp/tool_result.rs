//! Results of `tools/call`.

use rmcp::model::{CallToolResult, ContentBlock};

use super::config::McpConfig;
use crate::{
    call::reply::{self, Reply},
    failure::Failure,
    service::{api::artifacts::GetRunArtifact, operation::Operation as _, tool::Tool},
    tools::{
        composite::{CompositeTool as _, SummarizeResults, WaitForCompletion},
        offered_text::{offered_advice, with_offered_hint},
    },
};

/// Texts of this program in replies that may name tools: the name of the tool, and the JSON pointer to the text.
const OWN_TEXTS: [(&str, &str); 3] = [
    (WaitForCompletion::NAME, "/next"),
    (SummarizeResults::NAME, "/left_out/how"),
    (GetRunArtifact::NAME, "/hint"),
];

/// Returns the result of a call that ended with `outcome`. Hints name offered tools only.
pub(super) async fn tool_result(
    outcome: Result<Reply, Failure>,
    config: &McpConfig,
    tool: &'static Tool,
) -> CallToolResult {
    let (selection, max_reply_chars) = (&config.selection, config.max_reply_chars);

    match outcome {
        Ok(mut reply) => {
            for (_, pointer) in OWN_TEXTS.iter().filter(|(name, _)| *name == tool.name) {
                reply.edit_text(pointer, |text| offered_advice(text, selection));
            }
            success(reply, max_reply_chars, tool).await
        }
        Err(failure) => {
            let failure = reply::limit_failure(with_offered_hint(failure, selection), max_reply_chars);
            CallToolResult::error(vec![ContentBlock::text(failure.to_json())])
        }
    }
}

/// Returns a result with the reply both as text and as structure, because hosts show only one of them. The images
/// follow the text and do not count towards the limit.
async fn success(reply: Reply, max_reply_chars: usize, tool: &'static Tool) -> CallToolResult {
    let image_block = |picture| ContentBlock::image(reply::base64(picture), picture.mime_type);
    let images: Vec<_> = reply.pictures().iter().map(image_block).collect();
    // Both forms have the same limit, because it is unknown which of them a host shows.
    let (value, text) = reply.into_limited(max_reply_chars, reply::ReplySource::Call(tool)).await;
    let content = std::iter::once(ContentBlock::text(text)).chain(images).collect();

    let mut result = CallToolResult::success(content);
    result.structured_content = Some(value);

    result
}
