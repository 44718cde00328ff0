//! Limits of requests, of one credential or address, and of all clients: how many at the same time, and how many and how long
//! ones per second. And the limit of a client that does not read.

use std::{net::IpAddr, num::NonZeroU32, pin::Pin, sync::Arc, time::Duration};

use governor::{
    DefaultDirectRateLimiter, Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
};
use tokio::{
    io::AsyncWrite,
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_io_timeout::TimeoutWriter;

use super::refusal::Exceeded;
use crate::settings::HttpSettings;

/// How many seconds of the allowed rate may arrive at once.
const BURST_SECONDS: u32 = 3;

/// How long a client that sends too much waits for the refusal, and with it for its next request.
pub(super) const REFUSAL_PAUSE: Duration = Duration::from_secs(1);

/// How long a client may accept nothing of what is sent to it.
pub(super) const WRITE_LIMIT: Duration = Duration::from_secs(30);

/// How many bytes of a long body count as one request more.
const BYTES_PER_REQUEST: usize = 256 * 1024;

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
    rate: DefaultDirectRateLimiter,
    /// Largest number of requests at once.
    burst: NonZeroU32,
}

impl ClientLimits {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        let burst = settings.rate.saturating_mul(NonZeroU32::MIN.saturating_add(BURST_SECONDS - 1));
        let quota = Quota::per_second(settings.rate).allow_burst(burst);
        Self { places: semaphore(settings.concurrency), rate: RateLimiter::direct(quota), burst }
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

/// Returns a stream that fails when the client has accepted nothing for too long. A stream with nothing to send may be silent.
pub(super) fn with_write_limit<S: AsyncWrite>(stream: S) -> Pin<Box<TimeoutWriter<S>>> {
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(WRITE_LIMIT));
    Box::pin(stream)
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
