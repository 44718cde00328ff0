//! Presigned addresses of the storage host, which work without a key until they expire, and the installers of Minions,
//! which are files behind such an address (service.md 12.2, 14).

use std::hash::{DefaultHasher, Hash, Hasher};

use http::{HeaderValue, StatusCode};
use jiff::{fmt::strtime, tz::TimeZone};

use super::prelude::*;
use crate::service::api::minions::{GetMinionDownload, Installer};

/// Path prefix of the storage host.
pub(crate) const STORAGE_PREFIX: &str = "/storage";

/// Format of `X-Amz-Date`.
const DATE_FORMAT: &str = "%Y%m%dT%H%M%SZ";

/// How long the address of an installer is valid, in seconds (service.md 14).
const INSTALLER_VALIDITY_S: u32 = 24 * 60 * 60;

/// Returns `address` with a signature that is valid for `seconds` after `now`.
pub(super) fn sign(address: &str, now: Moment, seconds: u32) -> String {
    let date = now.timestamp().strftime(DATE_FORMAT).to_string();
    let signature = signature(path_of(address), &date, &seconds.to_string());

    format!("{address}?X-Amz-Date={date}&X-Amz-Expires={seconds}&X-Amz-Signature={signature}")
}

/// Returns whether the query is a valid signature of `path` that has not expired.
pub(crate) fn is_valid(path: &str, query: &str, now: Moment) -> bool {
    let value = |wanted: &str| {
        let pairs = form_urlencoded::parse(query.as_bytes());
        pairs.filter(|(name, _)| name == wanted).map(|(_, value)| value).last().unwrap_or_default()
    };
    let (date, seconds) = (value("X-Amz-Date"), value("X-Amz-Expires"));
    let expires = expiry(&date, &seconds);

    value("X-Amz-Signature") == signature(path, &date, &seconds) && expires.is_some_and(|at| now < at)
}

fn expiry(date: &str, seconds: &str) -> Option<Moment> {
    let signed = strtime::parse(DATE_FORMAT, date).ok()?.to_datetime().ok()?;
    let signed = signed.to_zoned_datetime(TimeZone::UTC).ok()?.timestamp();
    let validity = seconds.parse::<Millis>().ok()?.checked_mul(1_000)?;

    Some(Moment::from(signed) + validity)
}

/// Returns the signature. The signature gives no security: its purpose is that changed and expired addresses fail, as
/// they do on a storage host.
fn signature(path: &str, date: &str, seconds: &str) -> String {
    let mut hasher = DefaultHasher::new();
    ("sandbox", path, date, seconds).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Returns the path of an absolute URL.
fn path_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.find('/').and_then(|start| rest.get(start..)).unwrap_or("/")
}

impl Answer<GetMinionDownload> for World {
    fn answer(&mut self, request: GetMinionDownload, _: &Caller) -> AnswerResult<Installer> {
        // Downloads take the name of the file from the address.
        let file = format!("minion-2.8.1-{}.zip", wire_name(request.platform));
        let installer = format!("{}{}/minions/{file}", self.knowledge_url, STORAGE_PREFIX);
        let address = sign(&installer, self.now, INSTALLER_VALIDITY_S);
        let location = HeaderValue::from_str(&address).map_err(|error| ApiError::internal(&error))?;
        Ok(Answered::redirect(StatusCode::TEMPORARY_REDIRECT, location))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_valid_for_its_path_until_it_expires() {
        let signed = sign("http://host/storage/file", Moment::EPOCH, 60);
        let (_, query) = signed.split_once('?').unwrap();

        assert!(is_valid("/storage/file", query, Moment::EPOCH + 59_999));
        assert!(!is_valid("/storage/file", query, Moment::EPOCH + 60_000));
        assert!(!is_valid("/storage/other", query, Moment::EPOCH));
        assert!(!is_valid("/storage/file", &query.replace("=60", "=61"), Moment::EPOCH));
    }
}
