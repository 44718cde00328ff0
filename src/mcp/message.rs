//! Decodes one JSON-RPC message, at little cost for the most frequent one.

use std::borrow::Cow;

use indexmap::IndexMap;
use rmcp::{
    RoleServer,
    model::{CallToolRequest, CallToolRequestParams, ClientRequest, ErrorData, JsonRpcMessage, RequestId},
    service::RxJsonRpcMessage,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, value::RawValue};

use crate::client::count_values;

/// A message that cannot be decoded, and the error to answer it with.
#[derive(Debug)]
pub struct InvalidMessage {
    /// Id of the message, if the message has one.
    pub id: Option<RequestId>,
    /// The error that the host gets.
    pub error: ErrorData,
}

/// The outermost fields of a message.
#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    jsonrpc: Option<Cow<'a, str>>,
}

/// Largest number of JSON values in a message. Each one takes far more memory than its text.
const MAX_VALUES: usize = 200_000;

/// Decodes a message. A response that cannot be decoded is returned as an error response, so that its request ends:
/// responses are never answered.
///
/// # Errors
/// The error to answer the message with.
pub fn decode(text: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Box<InvalidMessage>> {
    if count_values(text) > MAX_VALUES {
        let message = format!("the message has more than {MAX_VALUES} values");
        return Err(Box::new(InvalidMessage { id: None, error: ErrorData::invalid_request(message, None) }));
    }
    if let Some(call) = decode_tool_call(text) {
        return Ok(call);
    }

    // The library cannot read numbers directly from text while these keep all their digits.
    let decoded = serde_json::from_slice::<Value>(text).and_then(serde_json::from_value);
    decoded.or_else(|error| {
        let invalid = invalid_message(text, &error);
        if is_response(text) {
            return Ok(JsonRpcMessage::error(invalid.error, invalid.id));
        }
        Err(Box::new(invalid))
    })
}

/// Decodes `tools/call`, the most frequent request. The library would try all other requests before it.
fn decode_tool_call(text: &[u8]) -> Option<RxJsonRpcMessage<RoleServer>> {
    let envelope: Envelope<'_> = serde_json::from_slice(text).ok()?;
    if envelope.method? != "tools/call" || envelope.jsonrpc? != "2.0" {
        return None;
    }

    let mut params: CallToolRequestParams = serde_json::from_str(envelope.params?.get()).ok()?;
    // The library keeps the metadata of a request in the extensions of the request.
    let meta = params.meta.take();

    let mut request = CallToolRequest::new(params);
    if let Some(meta) = meta {
        request.extensions.insert(meta);
    }

    Some(JsonRpcMessage::request(ClientRequest::CallToolRequest(request), envelope.id?))
}

/// Returns whether the message is a response, even an invalid one.
fn is_response(text: &[u8]) -> bool {
    let fields = serde_json::from_slice::<IndexMap<String, IgnoredAny>>(text).unwrap_or_default();
    let has = |name: &str| fields.contains_key(name);
    !has("method") && (has("result") || has("error"))
}

fn invalid_message(text: &[u8], error: &serde_json::Error) -> InvalidMessage {
    if serde_json::from_slice::<IgnoredAny>(text).is_err() {
        return InvalidMessage { id: None, error: ErrorData::parse_error("the message is not JSON", None) };
    }

    tracing::debug!(%error, "not a JSON-RPC message");

    let id = serde_json::from_slice::<Envelope<'_>>(text).ok().and_then(|envelope| envelope.id);
    let message = if text.starts_with(b"[") {
        "batches are not supported: send one message at a time"
    } else {
        "the message is not JSON-RPC 2.0"
    };

    InvalidMessage { id, error: ErrorData::invalid_request(message, None) }
}

#[cfg(test)]
mod tests {
    use super::{decode, is_response};
    use crate::random_inputs::{check_values, text, value};
    use proptest::{prelude::any, sample::Index};
    use serde_json::json;

    #[test]
    fn a_tool_call_is_decoded_like_every_other_request() {
        let line =
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_run","_meta":{"a":1}}}"#;
        let decoded = decode(line).expect("a request");
        let by_library: rmcp::service::RxJsonRpcMessage<rmcp::RoleServer> =
            serde_json::from_slice(line).expect("a request");

        assert_eq!(format!("{decoded:?}"), format!("{by_library:?}"));
    }

    #[test]
    fn a_message_without_method_but_with_an_outcome_is_a_response() {
        let cases = [
            (r#"{"id": 1, "result": {}}"#, true),
            (r#"{"id": {}, "error": 7}"#, true),
            (r#"{"method": "ping", "result": {}}"#, false),
            (r#"{"id": 1}"#, false),
            ("[]", false),
        ];

        for (text, expected) in cases {
            assert_eq!(is_response(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn any_line_of_a_host_is_decoded_or_refused() {
        check_values(&(value(), text(), value(), any::<Index>()), 1, |(params, method, id, cut)| {
            let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            let line = message.to_string().into_bytes();
            drop(decode(&line));
            drop(decode(&line[..cut.index(line.len())]));

            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
            drop(decode(call.to_string().as_bytes()));
        });
    }
}
