//! Limits of the number of requests: at the same time and per second, of one credential or address, and of all clients.

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use crate::settings::HttpSettings;

/// How many seconds of the allowed rate may arrive at once.
const BURST_SECONDS: u32 = 3;

/// How long a client waits after a refusal because of too many simultaneous requests, in seconds.
const CONCURRENCY_PAUSE_S: u64 = 1;

/// A limit that a request exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exceeded {
    /// Too many requests per second of one client. Holds the number of seconds to wait.
    Rate(u64),
    /// Too many simultaneous requests of one client.
    Concurrency,
    /// Too many simultaneous requests of all clients.
    AllClients,
}

impl Exceeded {
    /// Returns how long the client waits before it repeats the request, in seconds.
    pub(super) fn pause_seconds(self) -> u64 {
        match self {
            Self::Rate(seconds) => seconds,
            Self::Concurrency | Self::AllClients => CONCURRENCY_PAUSE_S,
        }
    }

    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Rate(_) => "too many requests per second with this credential or from this address",
            Self::Concurrency => "too many simultaneous requests with this credential or from this address",
            Self::AllClients => "the server is busy: too many simultaneous requests of all clients",
        }
    }
}

/// The places that an admitted request occupies until it has ended.
#[derive(Debug)]
pub(super) struct Admission {
    _of_client: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

/// The limits of one client: a credential, or an address without an accepted credential.
#[derive(Debug)]
pub(super) struct ClientLimits {
    places: Arc<Semaphore>,
    tokens: Mutex<TokenBucket>,
}

impl ClientLimits {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        Self {
            places: semaphore(settings.concurrency),
            tokens: Mutex::new(TokenBucket::new(settings.rate, Instant::now())),
        }
    }

    /// Admits a request within the limits of this client and within those of `all` clients.
    ///
    /// # Errors
    /// The limit that the request exceeds.
    pub(super) fn admit(&self, all: &Arc<Semaphore>) -> Result<Admission, Exceeded> {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.take(Instant::now()).map_err(|pause| Exceeded::Rate(pause.as_secs() + 1))?;
        drop(tokens);

        let place = |places: &Arc<Semaphore>| Arc::clone(places).try_acquire_owned();
        Ok(Admission {
            _of_client: place(&self.places).map_err(|_| Exceeded::Concurrency)?,
            _of_all: place(all).map_err(|_| Exceeded::AllClients)?,
        })
    }
}

/// Returns a semaphore with this number of places.
pub(super) fn semaphore(places: NonZeroU32) -> Arc<Semaphore> {
    let places = usize::try_from(places.get()).unwrap_or(usize::MAX);
    Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)))
}

/// Allows a number of requests per second, and a burst of [`BURST_SECONDS`].
#[derive(Debug)]
struct TokenBucket {
    rate: f64,
    tokens: f64,
    filled_at: Instant,
}

impl TokenBucket {
    fn new(rate: NonZeroU32, now: Instant) -> Self {
        Self {
            rate: f64::from(rate.get()),
            tokens: f64::from(rate.get()) * f64::from(BURST_SECONDS),
            filled_at: now,
        }
    }

    /// Takes a token.
    ///
    /// # Errors
    /// The time until the next token, if there is none.
    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let gained = now.saturating_duration_since(self.filled_at).as_secs_f64() * self.rate;
        self.tokens = (self.tokens + gained).min(self.rate * f64::from(BURST_SECONDS));
        self.filled_at = now;

        if self.tokens < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - self.tokens) / self.rate));
        }
        self.tokens -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_three_seconds_is_allowed_and_then_the_rate() {
        let start = Instant::now();
        let mut bucket = TokenBucket::new(NonZeroU32::new(2).expect("not zero"), start);
        let mut taken = |after_ms: u64| {
            let now = start + Duration::from_millis(after_ms);
            std::iter::repeat_with(|| bucket.take(now)).take_while(Result::is_ok).count()
        };

        assert_eq!(taken(0), 6);
        assert_eq!(taken(400), 0);
        assert_eq!(taken(600), 1);
        assert_eq!(taken(60_000), 6);
    }

    #[test]
    fn the_pause_lasts_until_the_next_token() {
        let start = Instant::now();
        let mut bucket = TokenBucket::new(NonZeroU32::MIN, start);
        while bucket.take(start).is_ok() {}

        assert_eq!(bucket.take(start + Duration::from_millis(250)), Err(Duration::from_millis(750)));
    }
}
