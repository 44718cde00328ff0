//! Error documents of storage hosts, which are XML. Presigned addresses are valid for a limited time (supplement 10.6).

use crate::failure::quote;

/// Error codes that report an expired address with the status 400.
const EXPIRED_CODES: [&str; 2] = ["ExpiredToken", "RequestExpired"];

/// Error code for a body that did not arrive in time. Its status is 400.
const REQUEST_TIMEOUT: &str = "RequestTimeout";

/// Returns whether a response of a storage host refuses the address, so that a new address may be accepted.
pub fn reports_expired_address(status: u16, body: &[u8]) -> bool {
    match status {
        401 | 403 | 410 => true,
        400 => error_code(body).is_some_and(|code| EXPIRED_CODES.contains(&code.as_str())),
        _ => false,
    }
}

/// Returns whether the storage host gave up waiting for the body of a request.
pub(super) fn reports_request_timeout(body: &[u8]) -> bool {
    String::from_utf8_lossy(body).contains(REQUEST_TIMEOUT)
}

/// Returns the code and message of an error document. Any other body is returned as text.
pub(super) fn describe_error(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);

    match (element_text(&text, "Code"), element_text(&text, "Message")) {
        (Some(code), Some(message)) => quote(&format!("{code} ({message})")),
        (Some(code), None) => quote(&code),
        _ => quote(text.trim()),
    }
}

fn error_code(body: &[u8]) -> Option<String> {
    element_text(&String::from_utf8_lossy(body), "Code")
}

fn element_text(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (content, _) = rest.split_once(&format!("</{name}>"))?;

    Some(content.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_address_is_recognized_by_status_and_code() {
        let expired = "<Error><Code>ExpiredToken</Code></Error>";
        let other = "<Error><Code>EntityTooSmall</Code></Error>";

        for (status, body, expected) in [
            (401, "", true),
            (403, "<Error><Code>AccessDenied</Code></Error>", true),
            (410, "", true),
            (400, expired, true),
            (400, other, false),
            (400, "", false),
            (404, expired, false),
            (500, expired, false),
        ] {
            assert_eq!(reports_expired_address(status, body.as_bytes()), expected, "{status} {body}");
        }
    }

    #[test]
    fn an_error_document_is_described_by_code_and_message() {
        for (body, expected) in [
            (
                "<Error><Code> SlowDown </Code><Message>Reduce your rate</Message></Error>",
                "SlowDown (Reduce your rate)",
            ),
            ("<Error><Code>SlowDown</Code></Error>", "SlowDown"),
            (" gateway error ", "gateway error"),
            ("<Error><Code>cut", "<Error><Code>cut"),
        ] {
            assert_eq!(describe_error(body.as_bytes()), expected);
        }
    }
}
