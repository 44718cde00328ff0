//! The client of the service.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::{
    AddressPolicy, ApiKey, ClientConfig, HostProbe, HttpRequest, HttpResponse, KeySource, RETRY_POLICY,
    RetryPolicy, ServiceHost, transport::Transport,
};
use crate::{
    failure::{Code, Failure},
    service::operation::UrlBase,
};

/// Time limit of [`ServiceClient::probe`].
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// Sends requests to the hosts of the service.
#[derive(Debug)]
pub struct ServiceClient {
    key: KeySource,
    /// The clients of all keys share the connections.
    hosts: Arc<Hosts>,
    retry_policy: RetryPolicy,
    is_key_accepted: AtomicBool,
}

/// The hosts of the service.
#[derive(Debug)]
struct Hosts {
    main: Transport,
    /// The failure says why the host cannot be used.
    knowledge: Result<Option<Transport>, Failure>,
}

impl ServiceClient {
    /// Creates a client. It opens no connection before the first request.
    pub fn new(config: ClientConfig) -> Self {
        let ClientConfig { base_url, knowledge_url, key, ca_file, timeout } = config;
        let policy = AddressPolicy::for_service(&base_url);
        let transport = |url| Transport::new(url, ca_file.clone(), timeout, policy);

        let hosts =
            Hosts { main: transport(base_url), knowledge: knowledge_url.map(|url| url.map(transport)) };
        Self::with_hosts(key, Arc::new(hosts))
    }

    fn with_hosts(key: KeySource, hosts: Arc<Hosts>) -> Self {
        Self { key, hosts, retry_policy: RETRY_POLICY, is_key_accepted: AtomicBool::new(false) }
    }

    /// Returns a client with another key that shares the connections of this client.
    #[must_use]
    pub fn with_key(&self, key: ApiKey) -> Self {
        Self::with_hosts(KeySource::Fixed(key), Arc::clone(&self.hosts))
    }

    /// Returns whether the service has answered a request of this client successfully.
    pub fn is_key_accepted(&self) -> bool {
        self.is_key_accepted.load(Ordering::Relaxed)
    }

    /// Returns the policy for addresses that the service names.
    pub fn address_policy(&self) -> AddressPolicy {
        self.hosts.main.policy()
    }

    /// Returns the current API key. A key in a file is read anew, and a key elsewhere is looked up when it is first needed.
    ///
    /// # Errors
    /// `not_configured` if there is no usable key.
    pub async fn key(&self) -> Result<ApiKey, Failure> {
        self.key.key().await
    }

    /// Notes that the service has refused the key, so that a later call may get another one.
    pub fn note_refused_key(&self) {
        self.key.note_refusal();
    }

    /// Sends a request, and repeats it as the retry policy allows. Any status is a success here.
    ///
    /// # Errors
    /// No response came within the allowed attempts and before `deadline`, or the host is not configured.
    pub async fn send(
        &self,
        request: &HttpRequest<'_>,
        key: &ApiKey,
        deadline: Instant,
    ) -> Result<HttpResponse, Failure> {
        let transport = self.transport(request)?;
        let mut attempt = 1;

        loop {
            let outcome = transport.send(request, key, deadline).await;
            let pause = self.retry_policy.pause_after(attempt, request.kind, &outcome, deadline);

            let Some(pause) = pause else {
                return match outcome {
                    Ok(response) => {
                        self.is_key_accepted.fetch_or(response.is_success(), Ordering::Relaxed);
                        Ok(response.with_attempts(attempt))
                    }
                    Err(error) => Err(error.into_failure(request, Some(key), attempt)),
                };
            };

            tracing::debug!(operation = request.operation, attempt, pause_ms = pause.as_millis(), "retrying");
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// Requests the address of a host without the key, to find out whether the host responds. Returns `None` if the host
    /// is not configured.
    pub async fn probe(&self, url_base: UrlBase) -> Option<Result<HostProbe, Failure>> {
        let transport = self.transport_to(ServiceHost::for_url_base(url_base))?;
        Some(transport.probe(url_base, PROBE_LIMIT).await)
    }

    /// Returns the transport to the host of a request.
    pub(super) fn transport(&self, request: &HttpRequest<'_>) -> Result<&Transport, Failure> {
        let host = ServiceHost::for_url_base(request.url_base);
        if let (ServiceHost::Knowledge, Err(failure)) = (host, &self.hosts.knowledge) {
            return Err(failure.clone());
        }

        self.transport_to(host).ok_or_else(|| {
            let message = format!("{}: the setting {} is not set", request.operation, host.setting());
            Failure::new(Code::NotConfigured, message)
                .hint("set the address of the knowledge host, and restart the server")
        })
    }

    fn transport_to(&self, host: ServiceHost) -> Option<&Transport> {
        match host {
            ServiceHost::Main => Some(&self.hosts.main),
            ServiceHost::Knowledge => self.hosts.knowledge.as_ref().ok()?.as_ref(),
        }
    }
}
