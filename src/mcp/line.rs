//! One line of the protocol: bounded reading, and decoding that costs little for the message that matters.

use std::borrow::Cow;

use indexmap::IndexMap;
use rmcp::{
    RoleServer,
    model::{CallToolRequest, CallToolRequestParams, ClientRequest, ErrorData, JsonRpcMessage, RequestId},
    service::RxJsonRpcMessage,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Longest line, in bytes. A peer that never ends its line must not use up our memory.
pub const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// What came next.
#[derive(Debug)]
pub enum Line {
    /// A whole line is in the buffer.
    Whole,
    /// A line was too long and has been passed over.
    TooLong,
    /// Nothing more will come.
    End,
}

/// Reads lines into a buffer. A read may be dropped half-way and taken up again: nothing is lost.
#[derive(Debug, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// The rest of a line that was too long is still to come.
    skipping: bool,
}

impl LineBuffer {
    /// The line, without its end.
    pub fn line(&self) -> &[u8] {
        self.bytes.trim_ascii()
    }

    /// Forgets the line; a large one gives its memory back.
    pub fn clear(&mut self) {
        const KEPT: usize = 64 * 1024;
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
    }

    /// Reads on to the end of a line. A last line without an end counts as one.
    pub async fn read(&mut self, reader: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<Line> {
        loop {
            let available = reader.fill_buf().await?;
            if available.is_empty() {
                let is_line = !self.skipping && !self.line().is_empty();
                return Ok(if is_line { Line::Whole } else { Line::End });
            }

            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);

            if !self.skipping {
                self.bytes.extend_from_slice(available.get(..taken).unwrap_or_default());
            }

            reader.consume(taken);
            if self.bytes.len() > LONGEST_LINE {
                self.bytes = Vec::new();
                self.skipping = true;
            }

            match (end, std::mem::take(&mut self.skipping)) {
                (Some(_), true) => return Ok(Line::TooLong),
                (Some(_), false) => return Ok(Line::Whole),
                (None, skipping) => self.skipping = skipping,
            }
        }
    }
}

/// A message that cannot be served, as JSON-RPC answers it.
#[derive(Debug)]
pub struct Unreadable {
    /// Id of the message, where it can be read.
    pub id: Option<RequestId>,
    /// What is wrong with it.
    pub error: ErrorData,
}

/// The outermost fields of any message.
#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    jsonrpc: Option<Cow<'a, str>>,
}

/// Decodes a line. A response that cannot be decoded is a failed one: its request ends, and nobody answers an answer.
pub fn decode(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Box<Unreadable>> {
    if let Some(call) = decode_call(line) {
        return Ok(call);
    }
    serde_json::from_slice(line).or_else(|error| {
        let Unreadable { id, error } = unreadable(line, &error);
        if is_response(line) {
            return Ok(JsonRpcMessage::error(error, id));
        }
        Err(Box::new(Unreadable { id, error }))
    })
}

/// Decodes `tools/call`, the message whose speed matters. The library would try every other request first.
fn decode_call(line: &[u8]) -> Option<RxJsonRpcMessage<RoleServer>> {
    let envelope: Envelope<'_> = serde_json::from_slice(line).ok()?;
    if envelope.method? != "tools/call" || envelope.jsonrpc? != "2.0" {
        return None;
    }

    let mut params: CallToolRequestParams = serde_json::from_str(envelope.params?.get()).ok()?;
    let meta = params.meta.take();
    let mut request = CallToolRequest::new(params);

    if let Some(meta) = meta {
        request.extensions.insert(meta);
    }

    Some(JsonRpcMessage::request(ClientRequest::CallToolRequest(request), envelope.id?))
}

/// Whether the line answers something, however badly.
fn is_response(line: &[u8]) -> bool {
    let fields = serde_json::from_slice::<IndexMap<String, IgnoredAny>>(line).unwrap_or_default();
    let has = |name: &str| fields.contains_key(name);
    !has("method") && (has("result") || has("error"))
}

fn unreadable(line: &[u8], error: &serde_json::Error) -> Unreadable {
    if serde_json::from_slice::<IgnoredAny>(line).is_err() {
        return Unreadable { id: None, error: ErrorData::parse_error("the line is not JSON", None) };
    }

    let id = serde_json::from_slice::<Envelope<'_>>(line).ok().and_then(|envelope| envelope.id);
    tracing::debug!(%error, "not a JSON-RPC message");

    let message = if line.starts_with(b"[") {
        "batches are not supported: send one message a line"
    } else {
        "the line is not a JSON-RPC 2.0 message"
    };

    Unreadable { id, error: ErrorData::invalid_request(message, None) }
}
