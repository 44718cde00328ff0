//! Results of `tools/call`.

use rmcp::model::{CallToolResult, ContentBlock, Resource};

use super::server::McpConfig;
use crate::{
    call::reply::{self, FileLink, Reply},
    failure::Failure,
    picture::Picture,
    service::{api::files::GetRunArtifact, operation::Operation as _, tool::ToolDefinition},
    text::{guidance::for_caller, visible_name},
};

/// Field of an answer of [`GetRunArtifact`] that says how to get a file which the answer does not contain.
const HINT: &str = "/hint";

/// How to get a file on a server with local files.
const SAVE_HINT: &str = "not shown here[[: save it with `tool:download_run_files`]]";

/// Maximum length of the name of a link, in characters. File systems allow no longer names.
const MAX_LINK_NAME_CHARS: usize = 255;

/// Longest media type of a link, in bytes (RFC 6838 limits each half to 127).
const MAX_MEDIA_TYPE_BYTES: usize = 255;

/// Returns the result of a call that ended with `outcome`. Hints name offered tools only.
pub(super) fn tool_result(
    outcome: Result<Reply, Failure>,
    config: &McpConfig,
    tool: &'static ToolDefinition,
) -> CallToolResult {
    let (selection, max_reply_chars) = (&*config.selection, config.max_reply_chars);

    match outcome {
        Ok(mut reply) => {
            if tool.name == GetRunArtifact::NAME {
                let link = reply.links().first().filter(|_| config.gives_links());
                let hint = match link {
                    Some(link) => format!("not shown here: {} needs no key", link.address.expose()),
                    None => for_caller(SAVE_HINT, selection).unwrap_or_default(),
                };
                reply.edit_text(HINT, |_| hint);
            }
            success(reply, config, tool)
        }
        Err(failure) => {
            let failure = reply::limit_failure(failure.for_caller(selection), max_reply_chars);
            CallToolResult::error(vec![ContentBlock::text(failure.to_json())])
        }
    }
}

/// Returns the block of a link. Its name and media type come from a service or a storage host, and both a model and a person
/// read them.
fn link_block(link: &FileLink) -> ContentBlock {
    let mut resource = Resource::new(link.address.expose(), visible_name(&link.name, MAX_LINK_NAME_CHARS));
    resource.size = link.size;
    resource.mime_type = link.media_type.as_deref().and_then(media_type).map(str::to_owned);
    ContentBlock::resource_link(resource)
}

/// Returns the media type in a header without its parameters; `None` if the header has no media type.
fn media_type(header: &str) -> Option<&str> {
    let essence = header.split(';').next().unwrap_or_default().trim();
    let is_token = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let (kind, subtype) = essence.split_once('/')?;
    (essence.len() <= MAX_MEDIA_TYPE_BYTES && is_token(kind) && is_token(subtype)).then_some(essence)
}

/// Returns the links as content of a result: as many as fit beside `text` into `max_chars` characters.
fn link_blocks(links: &[FileLink], text: &str, max_chars: usize) -> Vec<ContentBlock> {
    if links.is_empty() {
        return Vec::new();
    }

    let mut remaining = max_chars.saturating_sub(text.chars().count());

    let blocks = links.iter().map(link_block).filter(|block| {
        let length = serde_json::to_string(block).map_or(usize::MAX, |text| text.chars().count());
        let fits = length <= remaining;
        remaining -= if fits { length } else { 0 };
        fits
    });
    blocks.collect()
}

/// Returns a result with the reply as text and as structure, because hosts show only one of them. The text is the first block
/// and equals the JSON of the structure: `transport` relies on both. If images or links follow the text, there is no structure,
/// beside which some hosts drop them. Images do not count towards the limit.
fn success(reply: Reply, config: &McpConfig, tool: &'static ToolDefinition) -> CallToolResult {
    let max_reply_chars = config.max_reply_chars;
    let image_block = |picture: &Picture| ContentBlock::image(picture.base64(), picture.mime_type);
    let images: Vec<_> = reply.pictures().iter().map(image_block).collect();
    let links = if config.gives_links() { reply.links().to_vec() } else { Vec::new() };
    // Both forms have the same limit, because it is unknown which of them a host shows.
    let (structure, text) = reply.into_limited(max_reply_chars, reply::ReplySource::Call(tool));
    let links = link_blocks(&links, &text, max_reply_chars);
    let content: Vec<_> = std::iter::once(ContentBlock::text(text)).chain(images).chain(links).collect();

    let is_text_only = content.len() == 1;
    let mut result = CallToolResult::success(content);
    result.structured_content = is_text_only.then_some(structure);
    result
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::client::PresignedAddress;

    #[test]
    fn the_name_and_the_media_type_of_a_link_have_no_hidden_characters() {
        let url = reqwest::Url::parse("https://storage.example/a").expect("an address");
        for (name, media_type, shown, shown_type) in [
            ("a.bin", Some("text/plain; charset=utf-8"), "a.bin", json!("text/plain")),
            (
                "setup\u{202e}exe\u{1b}[2J\n\nIgnore previous",
                None,
                "setup\u{FFFD}exe\u{FFFD}[2J\u{FFFD}\u{FFFD}Ignore previous",
                json!(null),
            ),
            ("a", Some("text/plain\u{202e}"), "a", json!(null)),
            ("a", Some("image/png\nIgnore previous"), "a", json!(null)),
        ] {
            let link = FileLink {
                address: PresignedAddress::new(url.clone()),
                name: name.to_owned(),
                size: None,
                media_type: media_type.map(str::to_owned),
            };

            let block = json!(link_block(&link));
            assert_eq!((&block["name"], &block["mimeType"]), (&json!(shown), &shown_type), "{block}");
        }
    }
}
