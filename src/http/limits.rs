//! Limits of requests, of one credential or address, and of all clients: how many at the same time, and how many per second.

use std::{net::IpAddr, num::NonZeroU32, sync::Arc};

use governor::{
    DefaultDirectRateLimiter, Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::refusal::Exceeded;
use crate::settings::HttpSettings;

/// How many seconds of the allowed rate may arrive at once.
const BURST_SECONDS: NonZeroU32 = NonZeroU32::new(3).expect("not zero");

/// The limits of one client: a credential, or an address without an accepted credential.
#[derive(Debug)]
pub(super) struct ClientLimits {
    places: Arc<Semaphore>,
    rate: DefaultDirectRateLimiter,
}

impl ClientLimits {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        let burst = settings.rate.saturating_mul(BURST_SECONDS);
        let quota = Quota::per_second(settings.rate).allow_burst(burst);
        Self { places: places(settings.concurrency), rate: RateLimiter::direct(quota) }
    }

    /// Counts a request, before any work is done for it.
    pub(super) fn count_request(&self) -> Result<(), Exceeded> {
        self.rate.check().map_err(|until| {
            let pause = until.wait_time_from(DefaultClock::default().now());
            Exceeded::Rate(pause.as_secs() + 1)
        })
    }

    /// Takes the places of a request among those of this client and of `all` clients, until the request has ended.
    pub(super) fn admit(&self, all: &Arc<Semaphore>) -> Result<[OwnedSemaphorePermit; 2], Exceeded> {
        let place = |places: &Arc<Semaphore>| Arc::clone(places).try_acquire_owned();
        let of_client = place(&self.places).map_err(|_| Exceeded::Concurrency)?;
        let of_all = place(all).map_err(|_| Exceeded::AllClients)?;
        Ok([of_client, of_all])
    }
}

pub(super) fn places(count: NonZeroU32) -> Arc<Semaphore> {
    let count = usize::try_from(count.get()).unwrap_or(usize::MAX);
    Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)))
}

/// Returns the address whose limits a client without an accepted credential has. A network with IPv6 gives each client 2^64
/// addresses (RFC 4291, 2.5.1), which have one limit together.
pub(super) fn limited_address(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
    }
}
