//! The headers that repeat parts of a message, so that proxies can route it without reading it (SEP-2243): they must agree
//! with the message.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{HeaderMap, StatusCode};
use rmcp::model::{ClientRequest, ErrorData, GetMeta as _, ProtocolVersion, RequestMetaObject};

use super::refusal::Refusal;

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// Marks of a value that is not ASCII text.
const ENCODED: (&str, &str) = ("=?base64?", "?=");

/// Whether a request belongs to a revision without `initialize`, that is 2026-07-28 or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// The host opens a session with `initialize`.
    Sessions,
    /// Each request carries the version and the capabilities of the host.
    Stateless,
}

/// Compares the headers with the request, and returns the era of the request.
///
/// # Errors
/// Status 400 for a header that is missing, unknown or different, and for missing metadata.
pub(super) fn check(headers: &HeaderMap, request: &ClientRequest) -> Result<Era, Refusal> {
    let header = single(headers, VERSION)?;

    if let ClientRequest::InitializeRequest(initialize) = request {
        let version = initialize.params.protocol_version.as_str();
        if header.is_some_and(|header| header != version) {
            return Err(Refusal::header_mismatch("MCP-Protocol-Version differs from `protocolVersion`"));
        }
        match single(headers, METHOD)? {
            Some(method) if method != request.method() => {
                return Err(different(METHOD, method, request.method()));
            }
            _ => return Ok(Era::Sessions),
        }
    }

    let era =
        check_version(header, request.get_meta(), matches!(request, ClientRequest::DiscoverRequest(_)))?;
    if header.is_some_and(|version| version >= ProtocolVersion::STANDARD_HEADERS.as_str()) {
        check_method_and_name(headers, request)?;
    }

    Ok(era)
}

/// Compares the version in the header with the version in the metadata of the request.
fn check_version(header: Option<&str>, meta: &RequestMetaObject, is_discovery: bool) -> Result<Era, Refusal> {
    let newest = ProtocolVersion::V_2026_07_28;

    if let Some(version) = meta.protocol_version() {
        return match header {
            // The library refuses an unknown version, and names those that it supports.
            Some(header) if header == version.as_str() && !meta.missing_required_keys(&newest).is_empty() => {
                Err(incomplete_metadata(meta))
            }
            Some(header) if header == version.as_str() => Ok(Era::Stateless),
            Some(header) => Err(different(VERSION, header, version.as_str())),
            None => Err(Refusal::header_mismatch("the header MCP-Protocol-Version is missing")),
        };
    }

    if is_discovery || header.is_some_and(|header| header >= newest.as_str()) {
        return Err(incomplete_metadata(meta));
    }

    let is_known =
        |header: &str| ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == header);
    match header {
        Some(header) if !is_known(header) => {
            let known: Vec<_> = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
            let message = format!("unknown MCP-Protocol-Version; known are {}", known.join(", "));
            Err(Refusal::new(StatusCode::BAD_REQUEST, message))
        }
        _ => Ok(Era::Sessions),
    }
}

fn incomplete_metadata(meta: &RequestMetaObject) -> Refusal {
    let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).join(", ");
    let message = format!("the `_meta` of the request lacks {missing}, or they are malformed");
    Refusal::with_error(StatusCode::BAD_REQUEST, ErrorData::invalid_params(message, None))
}

fn check_method_and_name(headers: &HeaderMap, request: &ClientRequest) -> Result<(), Refusal> {
    expect(headers, METHOD, request.method())?;
    match name(request) {
        Some(name) => expect(headers, NAME, name),
        None => Ok(()),
    }
}

/// Returns the part of a request that `Mcp-Name` repeats.
fn name(request: &ClientRequest) -> Option<&str> {
    Some(match request {
        ClientRequest::CallToolRequest(request) => &request.params.name,
        ClientRequest::GetPromptRequest(request) => &request.params.name,
        ClientRequest::ReadResourceRequest(request) => &request.params.uri,
        ClientRequest::GetTaskRequest(request) => &request.params.task_id,
        ClientRequest::UpdateTaskRequest(request) => &request.params.task_id,
        ClientRequest::CancelTaskRequest(request) => &request.params.task_id,
        _ => return None,
    })
}

fn expect(headers: &HeaderMap, header: &'static str, expected: &str) -> Result<(), Refusal> {
    let value = single(headers, header)?
        .ok_or_else(|| Refusal::header_mismatch(format!("the header {header} is missing")))?;
    match decode(value) {
        Some(value) if value == expected => Ok(()),
        Some(value) => Err(different(header, &value, expected)),
        None => Err(Refusal::header_mismatch(format!("the header {header} is no valid Base64"))),
    }
}

/// Returns the text of a header value, which is encoded if it is not ASCII.
fn decode(value: &str) -> Option<String> {
    let encoded = value.strip_prefix(ENCODED.0).and_then(|rest| rest.strip_suffix(ENCODED.1));
    match encoded {
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

fn single<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Refusal::header_mismatch(format!("the header {name} appears several times")));
    }
    first
        .map(|value| {
            value
                .to_str()
                .map_err(|_| Refusal::header_mismatch(format!("the header {name} is not ASCII text")))
        })
        .transpose()
}

fn different(header: &str, value: &str, expected: &str) -> Refusal {
    let [value, expected] = [value, expected].map(|text| crate::text::shorten_line(text, 80));
    Refusal::header_mismatch(format!("the header {header} is `{value}`, but the message has `{expected}`"))
}
