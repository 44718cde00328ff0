//! The JSON of messages to hosts.
//!
//! Large texts that are JSON already are written as they are: the list of tools, and the reply of a call, which a result
//! contains as text and as structure.

use std::sync::Arc;

use rmcp::{
    RoleServer,
    model::{CallToolResult, JsonRpcMessage, ListToolsResult, RequestId, ServerResult},
    service::TxJsonRpcMessage,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::profile::ServerProfile;
use crate::fields::Fields;

/// Encodes the messages of a server.
///
/// The results of [`Server`](super::Server) are not complete without it: the list of tools is empty, and a reply is text
/// only.
#[derive(Clone, Debug, Default)]
pub struct MessageEncoder {
    profile: Option<Arc<ServerProfile>>,
}

/// A successful response.
#[derive(Serialize)]
struct Response<'a, R> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: R,
}

/// The result of `tools/list`.
#[derive(Serialize)]
struct ToolList<'a> {
    tools: &'a RawValue,
    #[serde(flatten)]
    others: Fields,
}

/// The result of `tools/call`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolResult<'a> {
    #[serde(flatten)]
    text: &'a CallToolResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
}

impl MessageEncoder {
    /// Creates the encoder of a [`Server`](super::Server) with this profile.
    pub(super) fn new(profile: Arc<ServerProfile>) -> Self {
        Self { profile: Some(profile) }
    }

    /// Returns the JSON of a message.
    ///
    /// # Errors
    /// A value that is not JSON. The values of this program are JSON.
    pub fn encode(&self, message: &TxJsonRpcMessage<RoleServer>) -> serde_json::Result<Vec<u8>> {
        let (Some(profile), JsonRpcMessage::Response(response)) = (&self.profile, message) else {
            return serde_json::to_vec(message);
        };

        match &response.result {
            ServerResult::ListToolsResult(list) => {
                encode_response(&response.id, tool_list(list, profile.tool_list()?)?)
            }
            ServerResult::CallToolResult(result) => encode_response(&response.id, with_structure(result)?),
            _ => serde_json::to_vec(message),
        }
    }
}

fn encode_response(id: &RequestId, result: impl Serialize) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Response { jsonrpc: "2.0", id, result })
}

fn tool_list<'a>(list: &ListToolsResult, tools: &'a RawValue) -> serde_json::Result<ToolList<'a>> {
    let mut others: Fields = serde_json::from_value(serde_json::to_value(list)?)?;
    others.shift_remove("tools");

    Ok(ToolList { tools, others })
}

/// Adds the reply as structure. The text of a failure has no structure, because hosts compare a structure with the schema
/// of the tool.
pub(super) fn with_structure(text: &CallToolResult) -> serde_json::Result<ToolResult<'_>> {
    let reply = text.content.first().and_then(|block| block.as_text());
    let reply = reply.filter(|_| text.is_error != Some(true));
    let structured_content = reply.map(|block| serde_json::from_str(&block.text)).transpose()?;

    Ok(ToolResult { text, structured_content })
}

#[cfg(test)]
mod tests {
    use rmcp::model::ContentBlock;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_reply_is_written_as_text_and_as_structure() {
        let reply = r#"{"id":"1","size":123456789012345678901234567890,"text":"a\n\"b\""}"#;
        let result = CallToolResult::success(vec![ContentBlock::text(reply)]);
        let written = json!(with_structure(&result).expect("JSON"));

        assert_eq!(written["content"][0]["text"], reply);
        assert_eq!(written["structuredContent"].to_string(), reply);
        assert_eq!(written["isError"], false);
    }

    #[test]
    fn a_failure_is_written_as_text_only() {
        let result = CallToolResult::error(vec![ContentBlock::text("{}")]);
        assert_eq!(json!(with_structure(&result).expect("JSON")), json!(result));
    }

    #[test]
    fn the_list_of_tools_keeps_its_other_members() {
        let list = ListToolsResult::with_all_items(Vec::new()).with_ttl_ms(7);
        let tools: &RawValue = serde_json::from_str(r#"[{"name":"a"}]"#).expect("JSON");
        let mut expected = json!(list);
        expected["tools"] = json!([{"name": "a"}]);

        assert_eq!(json!(tool_list(&list, tools).expect("JSON")), expected);
    }

    #[test]
    fn messages_without_such_texts_are_those_of_the_library() {
        let message = TxJsonRpcMessage::<RoleServer>::error(
            rmcp::ErrorData::invalid_params("no", None),
            Some(RequestId::Number(1)),
        );
        let encoded = MessageEncoder::default().encode(&message).expect("JSON");

        assert_eq!(serde_json::from_slice::<Value>(&encoded).expect("JSON"), json!(message));
    }
}
