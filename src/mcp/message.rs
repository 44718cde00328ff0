//! Checks a message before the library decodes it. The library skips a message that is not JSON, and answers any other
//! invalid message without its id, so that a host would wait forever.

mod limits;

use std::borrow::Cow;

use rmcp::model::{ErrorData, RequestId};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{json, value::RawValue};

use self::limits::{MAX_ID_BYTES, MAX_NAME_BYTES, Members, check_text, to_object};
use crate::json::repaired_json;

/// Largest number of JSON values in a message. Each one takes far more memory than its text.
const MAX_VALUES: usize = 200_000;

/// The methods whose parameters have arguments, as JSON.
const METHODS_WITH_ARGUMENTS: [&str; 2] = [r#""tools/call""#, r#""prompts/get""#];

/// End of the methods whose parameters may have a cursor, as JSON.
const LIST_METHOD: &str = r#"/list""#;

/// Why a JSON text is no message.
const NOT_JSON_RPC: &str = "the message is not JSON-RPC 2.0";

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

/// The fields of a message, not decoded yet. A field that is `null` is present.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

fn present<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl Envelope<'_> {
    /// Returns the id, `None` if the message has none, or it cannot be read or is too long to be repeated.
    fn id(&self) -> Option<RequestId> {
        let id = self.id.filter(|id| check_text("`id`", id, MAX_ID_BYTES).is_ok())?;
        serde_json::from_str(id.get()).ok()
    }

    /// Checks the lengths of the id and of all names. `params` are the members of the parameters.
    fn check_limits(&self, params: &Members<'_>) -> Result<(), ErrorData> {
        let limits = [("`id`", self.id, MAX_ID_BYTES), ("`method`", self.method, MAX_NAME_BYTES)];
        for (what, value, max_bytes) in limits {
            let checked = value.map_or(Ok(()), |value| check_text(what, value, max_bytes));
            checked.map_err(|problem| ErrorData::invalid_request(problem, None))?;
        }
        params.check_params()
    }

    /// Returns the message with other parameters.
    fn with_params(&self, params: &str) -> String {
        let members = [
            ("jsonrpc", self.jsonrpc.map(RawValue::get)),
            ("id", self.id.map(RawValue::get)),
            ("method", self.method.map(RawValue::get)),
            ("params", Some(params)),
        ];
        to_object(members.into_iter().filter_map(|(name, value)| Some((name, value?))))
    }

    /// Returns the parameters with `arguments` as an object and `cursor` as a text, because the library decodes only these
    /// types. Returns `None` if nothing has to be converted.
    ///
    /// # Errors
    /// Why a value cannot be converted.
    fn converted_params(&self, params: &Members<'_>) -> Result<Option<String>, String> {
        match self.method.map(RawValue::get) {
            Some(method) if METHODS_WITH_ARGUMENTS.contains(&method) => params.with_object_arguments(),
            Some(method) if method.ends_with(LIST_METHOD) => Ok(params.with_text_cursor()),
            _ => Ok(None),
        }
    }

    fn is_response(&self) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some())
    }

    /// Returns whether the library decodes the message.
    fn is_valid(&self) -> bool {
        let is_current = self.jsonrpc.is_some_and(|version| version.get() == r#""2.0""#);
        let has_valid_id = self.id.is_none() || self.id().is_some();
        let has_valid_content = match (self.method, self.result, self.error) {
            (Some(method), None, None) => method.get().starts_with('"') && self.has_valid_params(),
            (None, Some(result), None) => result.get().starts_with('{') && self.id.is_some(),
            (None, None, Some(error)) => serde_json::from_str::<ErrorData>(error.get()).is_ok(),
            _ => false,
        };

        is_current && has_valid_id && has_valid_content
    }

    fn has_valid_params(&self) -> bool {
        self.params.is_none_or(|params| params.get().starts_with('{') || params.get() == "null")
    }
}

/// Returns the text of a message in a form that the library decodes, without metadata that nothing reads. A response that
/// cannot be decoded becomes an error response, so that its request ends: responses are never answered.
///
/// # Errors
/// The error to answer the message with.
pub fn check(text: &[u8]) -> Result<Cow<'_, [u8]>, Box<InvalidMessage>> {
    let text = repaired_json(text, MAX_VALUES)
        .map_err(|reason| undecodable(text, format!("the message {reason}")))?;
    let envelope: Envelope<'_> = serde_json::from_str(&text).map_err(|_| {
        let is_batch = text.trim_start().starts_with('[');
        let reason =
            if is_batch { "batches are not supported: send one message at a time" } else { NOT_JSON_RPC };
        undecodable(text.as_bytes(), reason)
    })?;

    let params = envelope.params.map_or_else(Members::default, Members::of);
    let converted = envelope.converted_params(&params).map_err(|problem| InvalidMessage {
        id: envelope.id(),
        error: ErrorData::invalid_params(problem, None),
    })?;
    if let Some(params) = converted {
        return check(envelope.with_params(&params).as_bytes()).map(|message| message.into_owned().into());
    }

    envelope.check_limits(&params).map_err(|error| InvalidMessage { id: envelope.id(), error })?;
    if envelope.is_valid() {
        let shortened = params.without_unknown_metadata().map(|params| envelope.with_params(&params));
        return Ok(shortened.map_or_else(|| into_bytes(text), |message| message.into_bytes().into()));
    }
    if envelope.is_response() {
        let error = ErrorData::internal_error("the response is not JSON-RPC 2.0", None);
        let response = json!({"jsonrpc": "2.0", "id": envelope.id(), "error": error});
        return Ok(response.to_string().into_bytes().into());
    }

    Err(Box::new(InvalidMessage::invalid_request(envelope.id(), NOT_JSON_RPC)))
}

fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => text.as_bytes().into(),
        Cow::Owned(text) => text.into_bytes().into(),
    }
}

/// Returns the error for a text that is no message: it is not JSON, or it is invalid for this reason.
fn undecodable(text: &[u8], reason: impl Into<Cow<'static, str>>) -> InvalidMessage {
    if serde_json::from_slice::<IgnoredAny>(text).is_err() {
        return InvalidMessage { id: None, error: ErrorData::parse_error("the message is not JSON", None) };
    }

    InvalidMessage::invalid_request(readable_id(text), reason)
}

/// Returns the id of an object that is no message. An object with several ids has none.
fn readable_id(text: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Identified<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }

    let id = serde_json::from_slice::<Identified<'_>>(text).ok()?.id;
    check_text("`id`", id, MAX_ID_BYTES).ok()?;
    serde_json::from_str(id.get()).ok()
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
            (r#"{"jsonrpc":"2.0","id":7,"method":"a","method":"b"}"#, -32600, json!(7)),
            (r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"a"}"#, -32600, json!(null)),
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
    fn a_message_of_too_many_values_is_answered_with_its_id() {
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"a","params":[{}0]}}"#, "0,".repeat(MAX_VALUES));
        let invalid = check(text.as_bytes()).expect_err("too many values");
        assert_eq!((invalid.error.code.0, json!(invalid.id)), (-32600, json!(7)));
    }

    #[test]
    fn arguments_are_an_object_or_the_text_of_one() {
        let call = |method: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": "a", "arguments": arguments}});
        for method in ["tools/call", "prompts/get"] {
            let text = call(method, json!("{\n  \"run_id\": \"r\",\n  \"n\": 1.10\n}")).to_string();
            let checked = check(text.as_bytes()).expect("a request").into_owned();
            assert!(!checked.contains(&b'\n'), "a message is one line");
            let checked: Value = serde_json::from_slice(&checked).expect("JSON");
            assert_eq!(checked["params"]["arguments"].to_string(), r#"{"run_id":"r","n":1.10}"#);

            for (arguments, reason) in [
                (json!("{\"run_id\": "), "the text is not JSON"),
                (json!("[1]"), "the text is JSON of another kind"),
                (json!(""), "the text is not JSON"),
                (json!([1]), "must be an object"),
                (json!(7), "must be an object"),
            ] {
                let invalid =
                    check(call(method, arguments.clone()).to_string().as_bytes()).expect_err("refused");
                let error = &invalid.error;
                assert_eq!((error.code.0, json!(invalid.id)), (-32602, json!(1)), "{arguments}");
                assert!(error.message.contains(reason), "{arguments}: {}", error.message);
            }
            assert!(check(call(method, json!(null)).to_string().as_bytes()).is_ok());
        }

        let other = call("completion/complete", json!("{}")).to_string();
        assert_eq!(&*check(other.as_bytes()).expect("a request"), other.as_bytes());
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
    fn a_long_name_is_refused_and_not_repeated() {
        let name = "x".repeat(4_000_000);
        for (method, params, place) in [
            ("tools/call", json!({"name": name}), "`params.name`"),
            ("prompts/get", json!({"name": "p", "arguments": {&name: ""}}), "a name in `params.arguments`"),
            ("completion/complete", json!({"ref": {"name": name}}), "`params.ref.name`"),
            ("completion/complete", json!({"argument": {"name": name}}), "`params.argument.name`"),
            (
                "completion/complete",
                json!({"context": {"arguments": {&name: ""}}}),
                "a name in `params.context.arguments`",
            ),
        ] {
            let call = json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params}).to_string();
            let invalid = check(call.as_bytes()).expect_err(place);

            let beginning = "x".repeat(60);
            let message =
                format!("{place} is too long: `{beginning}…` has 4000000 bytes, and the limit is 128");
            assert_eq!((invalid.error.code.0, &*invalid.error.message), (-32602, message.as_str()));
            assert_eq!(json!(invalid.id), "a");
        }
    }

    #[test]
    fn a_long_method_or_id_is_refused() {
        let (id, method) = ("i".repeat(257), "m".repeat(129));
        for (id, method, echoed) in [(json!(7), &*method, json!(7)), (json!(id), "ping", json!(null))] {
            let message = json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string();
            let invalid = check(message.as_bytes()).expect_err("refused");
            assert_eq!((invalid.error.code.0, json!(invalid.id)), (-32600, echoed));
            assert!(invalid.error.message.contains("the limit is"), "{}", invalid.error.message);
        }

        let longest = json!({"jsonrpc": "2.0", "id": "i".repeat(256), "method": "m".repeat(128)});
        assert!(decode(longest.to_string().as_bytes()).is_some());
    }

    #[test]
    fn a_long_progress_token_or_metadata_is_refused() {
        let digits: Value = serde_json::from_str(&"9".repeat(257)).expect("a number");
        for meta in [
            json!({"progressToken": "t".repeat(257)}),
            json!({"progressToken": digits}),
            json!({"io.modelcontextprotocol/clientCapabilities": {"experimental": {"x": "x".repeat(16 << 10)}}}),
        ] {
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "_meta": meta}});
            let invalid = check(call.to_string().as_bytes()).expect_err("refused");
            assert_eq!((invalid.error.code.0, json!(invalid.id)), (-32602, json!(1)));
        }
    }

    #[test]
    fn metadata_that_nothing_reads_is_dropped_and_nothing_else() {
        let known =
            json!({"progressToken": "t", "traceparent": "p", "io.modelcontextprotocol/logLevel": "debug"});
        let message = |meta: &Value| {
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "a", "arguments": {"_meta": {"mine": 1.10}}, "_meta": meta,
            }})
        };
        let mut sent = known.clone();
        sent["other"] = json!("x".repeat(4_000_000));

        let checked = check(message(&sent).to_string().as_bytes()).expect("a request").into_owned();
        assert_eq!(serde_json::from_slice::<Value>(&checked).expect("JSON"), message(&known));
        assert!(decode(&checked).is_some());
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
