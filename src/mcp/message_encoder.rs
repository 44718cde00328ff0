//! The JSON of messages to hosts.
//!
//! Large texts that are JSON already are written as they are: the list of tools, and the reply of a call, which a result
//! contains as text and as structure.

use std::sync::Arc;

use rmcp::{
    RoleServer,
    model::{CallToolResult, JsonRpcMessage, ListToolsResult, ServerResult},
    service::TxJsonRpcMessage,
};

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

        let result = match &response.result {
            ServerResult::ListToolsResult(list) => with_tools(list, profile.tool_list())?,
            ServerResult::CallToolResult(result) => with_structure(result)?,
            _ => return serde_json::to_vec(message),
        };
        let id = serde_json::to_string(&response.id)?;

        Ok([r#"{"jsonrpc":"2.0","id":"#, &id, r#","result":"#, &result, "}"].concat().into_bytes())
    }
}

/// Returns the JSON of a result of `tools/list` with these tools, which are a JSON array.
fn with_tools(list: &ListToolsResult, tools: &str) -> serde_json::Result<String> {
    let mut others: Fields = serde_json::from_value(serde_json::to_value(list)?)?;
    others.shift_remove("tools");

    Ok(with_member(&serde_json::to_string(&others)?, "tools", tools))
}

/// Returns the JSON of a result of `tools/call`, with the reply as structure. The text of a failure has no structure, because
/// hosts compare a structure with the schema of the tool.
pub(super) fn with_structure(result: &CallToolResult) -> serde_json::Result<String> {
    let json = serde_json::to_string(result)?;
    let reply = result.content.first().and_then(|block| block.as_text());

    Ok(match reply.filter(|_| result.is_error != Some(true)) {
        Some(reply) => with_member(&json, "structuredContent", &reply.text),
        None => json,
    })
}

/// Adds a member to the JSON of an object.
fn with_member(object: &str, name: &str, value: &str) -> String {
    let others = object.strip_suffix('}').unwrap_or(object);
    let separator = if others == "{" { "" } else { "," };
    [others, separator, "\"", name, "\":", value, "}"].concat()
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ContentBlock, RequestId};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_reply_is_written_as_text_and_as_structure() {
        let reply = r#"{"id":"1","size":123456789012345678901234567890,"text":"a\n\"b\""}"#;
        let result = CallToolResult::success(vec![ContentBlock::text(reply)]);
        let written: Value = serde_json::from_str(&with_structure(&result).expect("JSON")).expect("JSON");

        assert_eq!(written["content"][0]["text"], reply);
        assert_eq!(written["structuredContent"].to_string(), reply);
        assert_eq!(written["isError"], false);
    }

    #[test]
    fn a_failure_is_written_as_text_only() {
        let result = CallToolResult::error(vec![ContentBlock::text("{}")]);
        assert_eq!(with_structure(&result).expect("JSON"), json!(result).to_string());
    }

    #[test]
    fn the_list_of_tools_keeps_its_other_members() {
        let mut list = ListToolsResult::with_all_items(Vec::new()).with_ttl_ms(7);

        for result_type in [list.result_type.clone(), None] {
            list.result_type = result_type;
            let written = with_tools(&list, r#"[{"name":"a"}]"#).expect("JSON");
            let mut expected = json!(list);
            expected["tools"] = json!([{"name": "a"}]);

            assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON"), expected);
        }
    }

    #[test]
    fn a_member_is_added_to_every_object() {
        assert_eq!(with_member("{}", "a", "1"), r#"{"a":1}"#);
        assert_eq!(with_member(r#"{"b":2}"#, "a", "1"), r#"{"b":2,"a":1}"#);
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
