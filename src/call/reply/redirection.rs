//! A redirect as a result: the address and how long it is good for.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp, fmt::strtime};
use reqwest::Url;
use serde_json::{Value, json};

use crate::client::{HttpResponse, is_safe};

/// How long a download address is valid that does not say it itself (specification, GET minions/download).
const VALIDITY: Duration = Duration::from_secs(24 * 60 * 60);

/// The fields of [`crate::service::api::minions::Installer`]; `None` when the redirect leads nowhere, or
/// where nothing should be downloaded from.
pub(super) fn result(answer: &HttpResponse) -> Option<Value> {
    let location = Url::parse(answer.location.as_deref()?).ok().filter(is_safe)?;
    let expires = stated_expiry(&location).or_else(|| Timestamp::now().checked_add(VALIDITY).ok())?;
    let expires = expires.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Some(json!({"download_url": location.as_str(), "expires_at": expires}))
}

/// When a presigned address says that it expires: `X-Amz-Date` and `X-Amz-Expires`, as storage hosts write it.
fn stated_expiry(location: &Url) -> Option<Timestamp> {
    let value = |wanted: &str| {
        location.query_pairs().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
    };
    let signed = strtime::parse("%Y%m%dT%H%M%SZ", value("X-Amz-Date")?.as_bytes()).ok()?;
    let signed = signed.to_datetime().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let seconds = value("X-Amz-Expires")?.parse().ok()?;

    signed.checked_add(SignedDuration::from_secs(seconds)).ok()
}
