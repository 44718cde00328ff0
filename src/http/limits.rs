//! Limits of requests, of one credential or address, and of all clients: how many at the same time, and how many and how long
//! ones per second.

use std::{net::IpAddr, num::NonZeroU32, sync::Arc, time::Duration};

use governor::{
    DefaultDirectRateLimiter, Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
};
use http::StatusCode;
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::refusal::Refusal;
use crate::{
    failure::{Code, Failure},
    settings::HttpSettings,
};

/// How many seconds of the allowed rate may arrive at once.
const BURST_SECONDS: u32 = 3;

/// How long a client that sends too much waits for the refusal, and with it for its next request.
pub(super) const REFUSAL_PAUSE: Duration = Duration::from_secs(1);

/// How long a client waits after a refusal because of too many simultaneous requests, in seconds.
const CONCURRENCY_PAUSE_S: u64 = 1;

/// How many bytes of a long body count as one request more.
const BYTES_PER_REQUEST: usize = 256 * 1024;

/// Largest size of all bodies that are held, in KiB.
pub(super) const MAX_BUFFERED_KIB: usize = 256 * 1024;

/// Largest size of the bodies of one accepted credential that are held, in KiB, unless one body may be longer.
const MAX_CREDENTIAL_KIB: usize = MAX_BUFFERED_KIB / 8;

/// A limit that a request exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exceeded {
    /// Too many requests per second of one client. Holds the number of seconds to wait.
    Rate(u64),
    /// Too many simultaneous requests of one client.
    Concurrency,
    /// Too many simultaneous requests of all clients.
    AllClients,
    /// Too many simultaneous waits of all clients.
    Waits,
}

impl Exceeded {
    /// The status of a response that programs read.
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Rate(_) | Self::Concurrency => StatusCode::TOO_MANY_REQUESTS,
            Self::AllClients | Self::Waits => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// How long the client waits before it repeats the request, in seconds.
    pub(super) fn pause_seconds(self) -> u64 {
        match self {
            Self::Rate(seconds) => seconds,
            Self::Concurrency | Self::AllClients | Self::Waits => CONCURRENCY_PAUSE_S,
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Rate(_) => "too many requests per second with this credential or from this address",
            Self::Concurrency => "too many simultaneous requests with this credential or from this address",
            Self::AllClients => "the server is busy: too many simultaneous requests of all clients",
            Self::Waits => "the server is busy: too many simultaneous waits of all clients",
        }
    }

    pub(super) fn refusal(self) -> Refusal {
        Refusal::retry_after(self.status(), self.message(), self.pause_seconds())
    }

    pub(super) fn error(self) -> ErrorData {
        ErrorData::invalid_request(self.message(), None)
    }

    /// Returns the result of a call of a tool: an error that the model reads.
    pub(super) fn tool_result(self) -> CallToolResult {
        let failure = Failure::new(Code::RateLimited, self.message())
            .hint("wait as long as `details.retry_after_s` says, and call again; nothing was sent")
            .retry_after(Duration::from_secs(self.pause_seconds()));
        CallToolResult::error(vec![ContentBlock::text(failure.to_json())])
    }
}

/// The places of the requests of all clients.
#[derive(Debug)]
pub(super) struct Places {
    all: Arc<Semaphore>,
    /// A wait lasts minutes, so that waits take at most half of the places.
    waits: Arc<Semaphore>,
}

impl Places {
    pub(super) fn new(places: NonZeroU32) -> Self {
        let half = NonZeroU32::new(places.get() / 2).unwrap_or(NonZeroU32::MIN);
        Self { all: semaphore(places), waits: semaphore(half) }
    }
}

/// The places that an admitted request occupies until it has ended.
#[derive(Debug)]
pub(super) struct Admission {
    _of_client: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
    _wait: Option<OwnedSemaphorePermit>,
}

/// The limits of one client: a credential, or an address without an accepted credential.
#[derive(Debug)]
pub(super) struct ClientLimits {
    places: Arc<Semaphore>,
    /// The memory that its bodies may take, in KiB.
    pub(super) body_kib: Arc<Semaphore>,
    rate: DefaultDirectRateLimiter,
    /// Largest number of requests at once.
    burst: NonZeroU32,
}

impl ClientLimits {
    /// Returns the limits of a credential that the service has accepted.
    pub(super) fn of_credential(settings: &HttpSettings) -> Self {
        Self::new(settings, MAX_CREDENTIAL_KIB.max(longest_body_kib(settings)))
    }

    /// Returns the limits of the clients at one address without an accepted credential. Their bodies have room for one of the
    /// longest bodies.
    pub(super) fn of_address(settings: &HttpSettings) -> Self {
        Self::new(settings, longest_body_kib(settings))
    }

    fn new(settings: &HttpSettings, body_kib: usize) -> Self {
        let burst = settings.rate.saturating_mul(NonZeroU32::MIN.saturating_add(BURST_SECONDS - 1));
        let quota = Quota::per_second(settings.rate).allow_burst(burst);
        Self {
            places: semaphore(settings.concurrency),
            body_kib: Arc::new(Semaphore::new(body_kib)),
            rate: RateLimiter::direct(quota),
            burst,
        }
    }

    /// Counts a request, before any work is done for it.
    ///
    /// # Errors
    /// The client sends too many requests.
    pub(super) fn count_request(&self) -> Result<(), Exceeded> {
        self.count(NonZeroU32::MIN)
    }

    /// Counts the body of a request that is counted already: a long body as several requests.
    ///
    /// # Errors
    /// The client sends too much.
    pub(super) fn count_body(&self, length: usize) -> Result<(), Exceeded> {
        let requests = u32::try_from(length / BYTES_PER_REQUEST).unwrap_or(u32::MAX);
        // The request itself is counted already, and together they may be as many as may arrive at once.
        NonZeroU32::new(requests.min(self.burst.get() - 1)).map_or(Ok(()), |requests| self.count(requests))
    }

    fn count(&self, requests: NonZeroU32) -> Result<(), Exceeded> {
        // More than the burst is never counted.
        let outcome = self.rate.check_n(requests).unwrap_or(Ok(()));
        outcome.map_err(|until| {
            let pause = until.wait_time_from(DefaultClock::default().now());
            Exceeded::Rate(pause.as_secs() + 1)
        })
    }

    /// Takes the places of a request, which may be a wait, among those of this client and of `all` clients.
    ///
    /// # Errors
    /// The limit that the request exceeds.
    pub(super) fn admit(&self, all: &Places, is_wait: bool) -> Result<Admission, Exceeded> {
        let place = |places: &Arc<Semaphore>| Arc::clone(places).try_acquire_owned();
        let wait = if is_wait { Some(place(&all.waits).map_err(|_| Exceeded::Waits)?) } else { None };
        Ok(Admission {
            _of_client: place(&self.places).map_err(|_| Exceeded::Concurrency)?,
            _of_all: place(&all.all).map_err(|_| Exceeded::AllClients)?,
            _wait: wait,
        })
    }
}

/// Returns the memory that the longest body takes.
fn longest_body_kib(settings: &HttpSettings) -> usize {
    settings.max_body / 1024 + 1
}

/// Returns a semaphore with this number of places.
fn semaphore(places: NonZeroU32) -> Arc<Semaphore> {
    let places = usize::try_from(places.get()).unwrap_or(usize::MAX);
    Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)))
}

/// Returns the address whose limits a client without an accepted credential has. A network with IPv6 gives each client 2^64
/// addresses (RFC 4291, 2.5.1), which have one limit together.
pub(super) fn limited_address(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
    }
}
