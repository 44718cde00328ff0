//! The JSON of messages to hosts.
//!
//! Large texts that are JSON already are written as they are: the list of tools, and the reply of a call, which a result
//! contains as text and as structure.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    RoleServer,
    model::{
        CallToolResult, ContentBlock, JsonRpcMessage, JsonRpcResponse, ListToolsResult, ServerResult,
        TextContent,
    },
    service::TxJsonRpcMessage,
};
use serde::ser::Error as _;

use super::profile::ServerProfile;

/// Number of bytes after the last part of a message: a brace and a line feed.
const END_LENGTH: usize = 2;

/// Encodes the messages of a server.
///
/// The results of [`Server`](super::Server) are not complete without it: the list of tools is empty, and a reply is text
/// only.
#[derive(Clone, Debug, Default)]
pub struct MessageEncoder {
    profile: Option<Arc<ServerProfile>>,
    /// A list of tools that the next result of `tools/list` takes over, instead of a copy of this long text.
    pub(super) prepared_list: Arc<Mutex<Option<String>>>,
}

impl MessageEncoder {
    /// Creates the encoder of a [`Server`](super::Server) with this profile.
    pub(super) fn new(profile: Arc<ServerProfile>) -> Self {
        Self { profile: Some(profile), ..Self::default() }
    }

    /// Creates the list of tools for the next result of `tools/list`, unless it exists.
    pub(super) fn prepare_tool_list(&self) {
        let mut prepared = self.prepared_list.lock().unwrap_or_else(PoisonError::into_inner);
        if prepared.is_none() {
            *prepared = self.profile.as_ref().map(|profile| profile.render_tool_list());
        }
    }

    fn take_prepared_list(&self) -> Option<String> {
        self.prepared_list.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the JSON of a message.
    ///
    /// # Errors
    /// A value that is not JSON. The values of this program are JSON.
    pub fn encode(&self, message: TxJsonRpcMessage<RoleServer>) -> serde_json::Result<Vec<u8>> {
        match (&self.profile, message) {
            (Some(profile), JsonRpcMessage::Response(response)) => self.encode_response(response, profile),
            (_, message) => serde_json::to_vec(&message),
        }
    }

    fn encode_response(
        &self,
        response: JsonRpcResponse<ServerResult>,
        profile: &ServerProfile,
    ) -> serde_json::Result<Vec<u8>> {
        let id = serde_json::to_string(&response.id)?;
        let start = [r#"{"jsonrpc":"2.0","id":"#, &id, r#","result":"#].concat();

        let mut json = match response.result {
            ServerResult::ListToolsResult(list) => {
                let prepared = self.take_prepared_list().map(Cow::Owned);
                list_json(&start, &list, prepared.unwrap_or_else(|| Cow::Borrowed(profile.tool_list())))?
            }
            result => {
                let mut json = start.into_bytes();
                match result {
                    ServerResult::CallToolResult(result) => append_call_result(&mut json, result)?,
                    result => serde_json::to_writer(&mut json, &result)?,
                }
                json
            }
        };
        json.push(b'}');

        Ok(json)
    }
}

/// Returns `start`, followed by a result of `tools/list` with these tools, which are a JSON array.
fn list_json(start: &str, list: &ListToolsResult, tools: Cow<'_, str>) -> serde_json::Result<Vec<u8>> {
    let result = serde_json::to_string(list)?;
    let (before, after) = around(&result, r#""tools":[]"#)?;
    let before = [start, before, r#""tools":"#].concat();

    let mut json = match tools {
        Cow::Owned(tools) => {
            let mut json = tools.into_bytes();
            json.splice(..0, before.into_bytes());
            json
        }
        Cow::Borrowed(tools) => [&before, tools].concat().into_bytes(),
    };
    append(&mut json, &[after]);

    Ok(json)
}

/// Returns the JSON of a result of `tools/call`. The reply is in it as text, and as `structuredContent` if the call succeeded.
pub(super) fn call_result_json(result: CallToolResult) -> serde_json::Result<Vec<u8>> {
    let mut json = Vec::new();
    append_call_result(&mut json, result)?;

    Ok(json)
}

/// Appends a result of `tools/call` with the reply as structure. The text of a failure has no structure, because hosts compare
/// a structure with the schema of the tool.
fn append_call_result(json: &mut Vec<u8>, mut result: CallToolResult) -> serde_json::Result<()> {
    let content = std::mem::take(&mut result.content);
    let result_without_content = serde_json::to_string(&result)?;
    let (before, after) = around(&result_without_content, r#""content":[]"#)?;

    append(json, &[before, r#""content":["#]);
    for (index, block) in content.iter().enumerate() {
        append(json, if index == 0 { &[] } else { &[","] });
        append_block(json, block)?;
    }
    append(json, &["]"]);

    let reply = content.first().and_then(|block| block.as_text());
    if let Some(reply) = reply.filter(|_| result.is_error != Some(true)) {
        append(json, &[r#","structuredContent":"#, &reply.text]);
    }
    append(json, &[after]);

    Ok(())
}

/// Appends a block of content. `serde_json` would escape a text byte by byte, which takes most of the time for a long reply.
fn append_block(json: &mut Vec<u8>, block: &ContentBlock) -> serde_json::Result<()> {
    match block {
        ContentBlock::Text(TextContent { text, meta: None, annotations: None, .. }) => {
            append(json, &[r#"{"type":"text","text":"#]);
            json_escape_simd::escape_into(text, json);
            append(json, &["}"]);
        }
        block => serde_json::to_writer(json, block)?,
    }

    Ok(())
}

/// Returns the parts of the JSON of a result before and after an empty member.
fn around<'a>(result: &'a str, member: &str) -> serde_json::Result<(&'a str, &'a str)> {
    result.split_once(member).ok_or_else(|| serde_json::Error::custom(format!("the result lacks {member}")))
}

fn append(json: &mut Vec<u8>, parts: &[&str]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    // The end of the message gets room too. Otherwise the vector would grow for it, copy the message and double its memory.
    json.reserve(length + END_LENGTH);

    for part in parts {
        json.extend_from_slice(part.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{Annotations, MetaObject, RequestId};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        fields::Fields,
        random_inputs::{check_texts, text},
    };

    fn written(result: CallToolResult) -> Value {
        serde_json::from_slice(&call_result_json(result).expect("JSON")).expect("JSON")
    }

    #[test]
    fn a_reply_is_written_as_text_and_as_structure() {
        let reply = r#"{"id":"1","size":123456789012345678901234567890,"text":"a\n\"b\""}"#;
        let written = written(CallToolResult::success(vec![ContentBlock::text(reply)]));

        assert_eq!(written["content"][0]["text"], reply);
        assert_eq!(written["structuredContent"].to_string(), reply);
        assert_eq!(written["isError"], false);
    }

    #[test]
    fn a_failure_is_written_as_text_only() {
        let result = CallToolResult::error(vec![ContentBlock::text("{}")]);
        assert_eq!(written(result.clone()), json!(result));
    }

    #[test]
    fn content_is_written_as_the_library_writes_it() {
        check_texts(&text(), |text| {
            let mut annotated = TextContent::new(text.as_str());
            annotated.annotations = Some(Annotations::default());
            let image = ContentBlock::image(text.as_str(), "image/png");
            let mut result =
                CallToolResult::error(vec![ContentBlock::text(text), ContentBlock::Text(annotated), image]);
            result.meta = Some(MetaObject(Fields::from_iter([("a".to_owned(), json!("\"content\":[]"))])));
            let by_library = serde_json::to_string(&result).expect("JSON");

            let encoded = call_result_json(result).expect("JSON");
            assert_eq!(String::from_utf8(encoded).expect("UTF-8"), by_library);
        });
    }

    #[test]
    fn the_list_of_tools_keeps_its_other_members() {
        let mut list = ListToolsResult::with_all_items(Vec::new()).with_ttl_ms(7);

        for result_type in [list.result_type.clone(), None] {
            list.result_type = result_type;
            let mut expected = json!(list);
            expected["tools"] = json!([{"name": "a"}]);

            let tools = r#"[{"name":"a"}]"#;
            for tools in [Cow::Borrowed(tools), Cow::Owned(tools.to_owned())] {
                let written = list_json("", &list, tools).expect("JSON");
                assert_eq!(serde_json::from_slice::<Value>(&written).expect("JSON"), expected);
            }
        }
    }

    #[test]
    fn messages_without_such_texts_are_those_of_the_library() {
        let message = TxJsonRpcMessage::<RoleServer>::error(
            rmcp::ErrorData::invalid_params("no", None),
            Some(RequestId::Number(1)),
        );
        let expected = json!(message);
        let encoded = MessageEncoder::default().encode(message).expect("JSON");

        assert_eq!(serde_json::from_slice::<Value>(&encoded).expect("JSON"), expected);
    }
}
