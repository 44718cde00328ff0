//! Checks of a host for `doctor`: whether it responds, through which proxy, and whether its clock agrees with the local
//! clock. The checks do not send the API key.

use std::time::{Duration, Instant};

use http::{Method, header};
use jiff::Timestamp;
use serde::Serialize;

use super::{
    HttpRequest, RequestKind,
    http_date::parse_http_date,
    transport::{Transport, limit_time},
};
use crate::{
    failure::Failure,
    service::{operation::UrlBase, tool::FailureHints},
};

/// The response of a host to a request without a key.
#[derive(Clone, Debug, Serialize)]
pub struct HostProbe {
    /// HTTP status. Any status proves that the host responds.
    pub status: u16,
    /// Time from the request to the head of the response.
    pub milliseconds: u128,
    /// How far the host's clock is ahead of the local clock, in seconds. Negative if it is behind.
    pub clock_ahead_s: Option<i64>,
}

impl Transport {
    /// Requests the address of the host itself.
    pub(super) async fn probe(&self, url_base: UrlBase, limit: Duration) -> Result<HostProbe, Failure> {
        let started = Instant::now();
        let response = limit_time(limit, self.request_root()).await;
        let response = response.map_err(|error| error.into_failure(&probe_request(url_base), None, 1))?;

        let head = response.head;
        let date = head.text(header::DATE).and_then(parse_http_date);

        Ok(HostProbe {
            status: head.status.as_u16(),
            milliseconds: started.elapsed().as_millis(),
            clock_ahead_s: date.map(|date| (date - Timestamp::now()).as_secs()),
        })
    }
}

/// Returns the description of the request for the message of a failure.
fn probe_request(url_base: UrlBase) -> HttpRequest<'static> {
    HttpRequest {
        operation: "doctor",
        url_base,
        has_key: false,
        method: Method::GET,
        path_and_query: String::new(),
        part: None,
        body: None,
        kind: RequestKind::Repeatable,
        subject: None,
        project: None,
        hints: FailureHints::default(),
    }
}
