//! Whether a host can be reached at all, by what way, and whether its clock is ours. Sends no key.

use std::time::{Duration, Instant};

use http::{Method, header};
use hyper_util::client::proxy::matcher::Matcher;
use jiff::Timestamp;
use serde::Serialize;

use super::{Repeat, Request, Transport, transport::TransportError};
use crate::{client::HostUrl, failure::Failure, service::operation::UrlBase};

/// How a host was reached.
#[derive(Clone, Debug, Serialize)]
pub struct Reached {
    /// Any status: the host is there.
    pub status: u16,
    /// From the request to the head of the answer.
    pub milliseconds: u128,
    /// How far the host's clock is ahead of ours, in seconds; negative: behind.
    pub clock_ahead_s: Option<i64>,
}

/// The proxy that requests to `url` go through, without its credentials.
pub fn proxy_of(url: &HostUrl) -> Option<String> {
    if url.is_loopback() {
        return None;
    }

    let address = url.as_str().parse().ok()?;
    let proxy = Matcher::from_system().intercept(&address)?;
    let authority = proxy.uri().authority().map(|authority| authority.as_str().rsplit('@').next())?;

    Some(format!("{}://{}", proxy.uri().scheme_str().unwrap_or("http"), authority.unwrap_or_default()))
}

impl Transport {
    /// Asks for the address itself.
    pub(super) async fn reach(&self, place: UrlBase, limit: Duration) -> Result<Reached, Failure> {
        let request = Request {
            operation: "doctor",
            place,
            has_key: false,
            method: Method::GET,
            target: String::new(),
            part: None,
            body: None,
            repeat: Repeat::Safe,
            in_doubt: None,
        };

        let started = Instant::now();
        let asking = async {
            let pool = self.pools().of(self.url().is_plain(), self.url().is_loopback())?;
            Ok(pool.get(self.url().as_str()).send().await?)
        };
        let response =
            tokio::time::timeout(limit, asking).await.unwrap_or(Err(TransportError::Timeout(limit)));
        let response = response.map_err(|error| error.into_failure(&request, None, 1))?;
        let date = response.headers().get(header::DATE).and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());

        Ok(Reached {
            status: response.status().as_u16(),
            milliseconds: started.elapsed().as_millis(),
            clock_ahead_s: date.map(|date| (date.timestamp() - Timestamp::now()).get_seconds()),
        })
    }
}
