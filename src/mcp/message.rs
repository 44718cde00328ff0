//! Checks a message before the library decodes it. The library skips a message that is not JSON, and answers any other
//! invalid message without its id, so that a host would wait forever.

use std::borrow::Cow;

use rmcp::model::{ErrorData, RequestId};
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use crate::client::repaired_json;

/// Largest number of JSON values in a message. Each one takes far more memory than its text.
const MAX_VALUES: usize = 200_000;

/// A message that the library cannot decode, and the error to answer it with.
#[derive(Debug)]
pub struct InvalidMessage {
    /// Id of the message, if it can be read.
    pub id: Option<RequestId>,
    /// The error that the host gets.
    pub error: ErrorData,
}

impl InvalidMessage {
    fn invalid_request(id: Option<RequestId>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { id, error: ErrorData::invalid_request(message, None) }
    }
}

/// The fields of a message, not decoded yet.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Envelope<'_> {
    /// Returns the id, `None` if the message has none.
    ///
    /// # Errors
    /// The id is neither a whole number nor a text.
    fn id(&self) -> serde_json::Result<Option<RequestId>> {
        self.id.map(|id| serde_json::from_str(id.get())).transpose()
    }

    fn is_valid(&self) -> bool {
        self.jsonrpc.is_some_and(|version| version.get() == r#""2.0""#)
            && self.id().is_ok()
            && self.method.is_some_and(|method| method.get().starts_with('"'))
    }

    fn is_response(&self) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some())
    }

    fn is_valid_response(&self) -> bool {
        let has_version = self.jsonrpc.is_some_and(|version| version.get() == r#""2.0""#);
        let has_outcome = match self.error {
            Some(error) => self.result.is_none() && serde_json::from_str::<ErrorData>(error.get()).is_ok(),
            None => self.result.is_some(),
        };

        has_version && has_outcome && matches!(self.id(), Ok(Some(_)))
    }
}

/// Returns the text of a message in a form that the library decodes. A response that cannot be decoded becomes an error
/// response, so that its request ends: responses are never answered.
///
/// # Errors
/// The error to answer the message with.
pub fn check(text: &[u8]) -> Result<Cow<'_, [u8]>, Box<InvalidMessage>> {
    let text = repaired_json(text, MAX_VALUES)
        .map_err(|reason| InvalidMessage::invalid_request(None, format!("the message {reason}")))?;
    let problem = {
        let envelope: Envelope<'_> =
            serde_json::from_str(&text).map_err(|error| undecodable(&text, &error))?;
        problem(&envelope)?
    };

    Ok(match (problem, text) {
        (Some(response), _) => response.into(),
        (None, Cow::Borrowed(text)) => text.as_bytes().into(),
        (None, Cow::Owned(text)) => text.into_bytes().into(),
    })
}

/// Returns what replaces an invalid response, `None` if the message is valid.
fn problem(envelope: &Envelope<'_>) -> Result<Option<Vec<u8>>, InvalidMessage> {
    if envelope.is_response() {
        let error = json!({"code": -32603, "message": "the response is not JSON-RPC 2.0"});
        let id = envelope.id().unwrap_or_default();
        let response = || json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string().into_bytes();
        return Ok((!envelope.is_valid_response()).then(response));
    }
    if !envelope.is_valid() {
        let id = envelope.id().unwrap_or_default();
        return Err(InvalidMessage::invalid_request(id, "the message is not JSON-RPC 2.0"));
    }

    Ok(None)
}

fn undecodable(text: &str, error: &serde_json::Error) -> InvalidMessage {
    if !error.is_data() {
        return InvalidMessage { id: None, error: ErrorData::parse_error("the message is not JSON", None) };
    }

    InvalidMessage::invalid_request(
        None,
        if text.trim_start().starts_with('[') {
            "batches are not supported: send one message at a time"
        } else {
            "the message is not JSON-RPC 2.0"
        },
    )
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::any, sample::Index};
    use rmcp::{RoleServer, service::RxJsonRpcMessage};
    use serde_json::Value;

    use super::*;
    use crate::random_inputs::{check_values, text, value};

    fn decode(text: &[u8]) -> Option<RxJsonRpcMessage<RoleServer>> {
        let checked = check(text).ok()?;
        Some(serde_json::from_slice(&checked).unwrap_or_else(|error| {
            panic!("the library decodes {}: {error}", String::from_utf8_lossy(&checked))
        }))
    }

    #[test]
    fn an_invalid_message_is_answered_with_the_id_that_can_be_read() {
        let cases = [
            ("hello", -32700, json!(null)),
            (r#"{"jsonrpc":"2.0","id":7"#, -32700, json!(null)),
            (r#"{"jsonrpc":"2.0","id":7,"method":123}"#, -32600, json!(7)),
            (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, json!("a")),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, json!(null)),
            ("{}", -32600, json!(null)),
            ("[]", -32600, json!(null)),
            ("7", -32600, json!(null)),
        ];

        for (text, code, id) in cases {
            let invalid = check(text.as_bytes()).expect_err(text);
            assert_eq!((invalid.error.code.0, json!(invalid.id)), (code, id), "{text}");
        }
    }

    #[test]
    fn an_invalid_response_ends_its_request() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"error":7}"#,
            r#"{"id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#,
        ] {
            let checked: Value = serde_json::from_slice(&check(text.as_bytes()).expect(text)).expect("JSON");
            assert_eq!((&checked["id"], &checked["error"]["code"]), (&json!(1), &json!(-32603)), "{text}");
        }
    }

    #[test]
    fn a_lone_surrogate_spoils_nothing_else() {
        let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a\ud800"}}"#;
        let message = decode(text).expect("a request");
        assert!(format!("{message:?}").contains("a\u{FFFD}"), "{message:?}");
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
            let response = json!({"jsonrpc": "2.0", "id": id, "result": params, "error": id});
            drop(decode(response.to_string().as_bytes()));
        });
    }
}
