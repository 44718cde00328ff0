//! Checks whether the hosts of the service can be reached.

use serde::Serialize;

use crate::{
    call::Caller,
    client::{HostProbe, HostUrl, proxy_for},
    failure::Failure,
    service::operation::UrlBase,
};

/// Maximum difference between the clocks, in seconds. A larger difference invalidates presigned addresses and time
/// limits.
pub(super) const CLOCK_TOLERANCE_S: i64 = 120;

/// Result of the check of one host.
#[derive(Serialize)]
pub(in crate::cli) struct HostCheck {
    pub(super) name: &'static str,
    /// URL of the host; `None` if it is not set.
    pub(super) address: Option<String>,
    pub(super) proxy: Option<String>,
    pub(super) tls: Option<&'static str>,
    pub(super) reached: Option<HostProbe>,
    pub(super) failure: Option<Failure>,
}

impl HostCheck {
    /// Returns whether the clock of the host differs too much from the clock of this machine.
    pub(super) fn has_wrong_clock(&self) -> bool {
        let ahead = self.reached.as_ref().and_then(|reached| reached.clock_ahead_s);
        ahead.is_some_and(|ahead| ahead.abs() > CLOCK_TOLERANCE_S)
    }
}

/// Checks both hosts at the same time.
pub(super) async fn reach_all(
    caller: &Caller,
    base_url: &HostUrl,
    knowledge_url: Option<&HostUrl>,
) -> Vec<HostCheck> {
    let (main, knowledge) = tokio::join!(
        reach(caller, "main", UrlBase::Base, Some(base_url)),
        reach(caller, "knowledge", UrlBase::Knowledge, knowledge_url),
    );
    vec![main, knowledge]
}

async fn reach(caller: &Caller, name: &'static str, url_base: UrlBase, url: Option<&HostUrl>) -> HostCheck {
    let (reached, failure) = match caller.check_host(url_base).await {
        None => (None, None),
        Some(Ok(reached)) => (Some(reached), None),
        Some(Err(failure)) => (None, Some(failure)),
    };

    HostCheck {
        name,
        address: url.map(|url| url.as_str().to_owned()),
        proxy: url.and_then(proxy_for),
        tls: url.and_then(|url| describe_tls(url, reached.is_some())),
        reached,
        failure,
    }
}

/// Describes the encryption of the connection; `None` if it is not known because the host was not reached.
fn describe_tls(url: &HostUrl, is_reached: bool) -> Option<&'static str> {
    match (url.is_plain(), is_reached) {
        (true, _) => Some("none: loopback"),
        (false, true) => Some("certificate verified"),
        (false, false) => None,
    }
}
