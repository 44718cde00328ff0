//! Results of `tools/call`.

use rmcp::model::{CallToolResult, ContentBlock};

use crate::{
    call::reply::{self, Reply},
    failure::Failure,
    service::tool::Tool,
};

/// Returns the result of a call that ended with `outcome`.
pub(super) async fn tool_result(
    outcome: Result<Reply, Failure>,
    max_reply_chars: usize,
    tool: &'static Tool,
) -> CallToolResult {
    match outcome {
        Ok(reply) => success(reply, max_reply_chars, tool).await,
        Err(failure) => {
            let failure = reply::limit_failure(failure, max_reply_chars);
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
