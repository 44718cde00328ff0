//! Results of `tools/call`.

use rmcp::model::{CallToolResult, ContentBlock, Resource};

use super::config::McpConfig;
use crate::{
    call::reply::{self, FileLink, Reply},
    failure::Failure,
    service::{api::artifacts::GetRunArtifact, operation::Operation as _, tool::ToolDefinition},
    tools::{
        composite::{CompositeTool as _, SummarizeResults, WaitForCompletion},
        offered_text::{offered_advice, with_offered_hint},
    },
};

/// Texts of this program in replies that may name tools: the name of the tool, and the JSON pointer to the text.
const OWN_TEXTS: [(&str, &str); 3] = [
    (WaitForCompletion::NAME, "/next"),
    (SummarizeResults::NAME, "/left_out/how"),
    (GetRunArtifact::NAME, HINT),
];

/// Pointer to the text that says how to get a file.
const HINT: &str = "/hint";

/// How to get a file to which the result has a link.
const LINK_HINT: &str = "not shown here: the address in the `resource_link` of this result needs no key";

/// Returns the result of a call that ended with `outcome`. Hints name offered tools only.
pub(super) async fn tool_result(
    outcome: Result<Reply, Failure>,
    config: &McpConfig,
    tool: &'static ToolDefinition,
) -> CallToolResult {
    let (selection, max_reply_chars) = (&config.selection, config.max_reply_chars);

    match outcome {
        Ok(mut reply) => {
            for (_, pointer) in OWN_TEXTS.iter().filter(|(name, _)| *name == tool.name) {
                reply.edit_text(pointer, |text| offered_advice(text, selection));
            }
            if config.gives_links() && !reply.links().is_empty() {
                reply.edit_text(HINT, |_| LINK_HINT.to_owned());
            }
            success(reply, config, tool).await
        }
        Err(failure) => {
            let failure = reply::limit_failure(with_offered_hint(failure, selection), max_reply_chars);
            CallToolResult::error(vec![ContentBlock::text(failure.to_json())])
        }
    }
}

/// Returns the links as content of a result: as many as fit beside `text` into `max_chars` characters.
fn link_blocks(links: &[FileLink], text: &str, max_chars: usize) -> Vec<ContentBlock> {
    if links.is_empty() {
        return Vec::new();
    }

    let block = |link: &FileLink| {
        let mut resource = Resource::new(link.address.expose(), link.name.as_str());
        resource.size = link.size;
        resource.mime_type.clone_from(&link.media_type);
        ContentBlock::resource_link(resource)
    };
    let mut remaining = max_chars.saturating_sub(text.chars().count());

    let blocks = links.iter().map(block).filter(|block| {
        let length = serde_json::to_string(block).map_or(usize::MAX, |text| text.chars().count());
        let fits = length <= remaining;
        remaining -= if fits { length } else { 0 };
        fits
    });
    blocks.collect()
}

/// Returns a result with the reply as text and as structure, because hosts show only one of them. The images follow the text
/// and do not count towards the limit.
async fn success(reply: Reply, config: &McpConfig, tool: &'static ToolDefinition) -> CallToolResult {
    let max_reply_chars = config.max_reply_chars;
    let image_block = |picture| ContentBlock::image(reply::base64(picture), picture.mime_type);
    let images: Vec<_> = reply.pictures().iter().map(image_block).collect();
    let links = if config.gives_links() { reply.links().to_vec() } else { Vec::new() };
    // Both forms have the same limit, because it is unknown which of them a host shows.
    let (structure, text) = reply.into_limited(max_reply_chars, reply::ReplySource::Call(tool)).await;
    let links = link_blocks(&links, &text, max_reply_chars);
    let content = std::iter::once(ContentBlock::text(text)).chain(images).chain(links).collect();

    let mut result = CallToolResult::success(content);
    result.structured_content = Some(structure);
    result
}
