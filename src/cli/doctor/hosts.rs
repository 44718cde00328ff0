//! Whether the hosts of the service can be reached.

use serde::Serialize;

use crate::{
    call::gateway::Gateway,
    client::{HostUrl, Reached, proxy_of},
    failure::Failure,
    service::operation::UrlBase,
    settings::Settings,
};

/// How far clocks may be apart, in seconds, before presigned addresses and limits go wrong.
pub(super) const CLOCK_TOLERANCE_S: i64 = 120;

/// A host of the service.
#[derive(Serialize)]
pub(super) struct Host {
    pub(super) name: &'static str,
    /// `None`: not set.
    pub(super) address: Option<String>,
    pub(super) proxy: Option<String>,
    pub(super) tls: Option<&'static str>,
    pub(super) reached: Option<Reached>,
    pub(super) failure: Option<Failure>,
}

impl Host {
    /// Whether the host's clock and ours are too far apart.
    pub(super) fn has_other_time(&self) -> bool {
        let ahead = self.reached.as_ref().and_then(|reached| reached.clock_ahead_s);
        ahead.is_some_and(|ahead| ahead.abs() > CLOCK_TOLERANCE_S)
    }
}

/// Asks both hosts, side by side.
pub(super) async fn reach_all(gateway: &Gateway, settings: &Settings) -> Vec<Host> {
    let Ok(config) = settings.tools_config() else { return Vec::new() };
    let (main, knowledge) = tokio::join!(
        reach(gateway, "main", UrlBase::Base, Some(&config.call.client.base_url)),
        reach(gateway, "knowledge", UrlBase::Knowledge, config.call.client.knowledge_url.as_ref()),
    );
    vec![main, knowledge]
}

async fn reach(gateway: &Gateway, name: &'static str, place: UrlBase, url: Option<&HostUrl>) -> Host {
    let outcome = gateway.check_host(place).await;
    let (reached, failure) = match outcome {
        None => (None, None),
        Some(Ok(reached)) => (Some(reached), None),
        Some(Err(failure)) => (None, Some(failure)),
    };
    let tls = |url: &HostUrl| {
        let is_verified = reached.is_some() && !url.is_plain();
        if url.is_plain() { Some("none: loopback") } else { is_verified.then_some("certificate verified") }
    };

    Host {
        name,
        address: url.map(|url| url.as_str().to_owned()),
        proxy: url.and_then(proxy_of),
        tls: url.and_then(tls),
        reached,
        failure,
    }
}
