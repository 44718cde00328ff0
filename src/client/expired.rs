//! Addresses that are good for a while, and what storage hosts say when one no longer is (supplement 10.6). Their errors
//! are XML.

use crate::failure::quotation;

/// Codes that say so with the status 400.
const EXPIRED: [&str; 2] = ["ExpiredToken", "RequestExpired"];

/// Whether the answer of a storage host refuses the address: another one may do.
pub fn has_expired(status: u16, body: &[u8]) -> bool {
    let code =
        || element(&String::from_utf8_lossy(body), "Code").is_some_and(|code| EXPIRED.contains(&&*code));
    matches!(status, 401 | 403 | 410) || (status == 400 && code())
}

/// The code and message of an XML error, else the text itself.
pub(super) fn words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match (element(&text, "Code"), element(&text, "Message")) {
        (Some(code), Some(message)) => quotation(&format!("{code} ({message})")),
        (Some(code), None) => quotation(&code),
        _ => quotation(text.trim()),
    }
}

fn element(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0.trim().to_owned())
}
