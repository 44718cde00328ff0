//! The open connections: how many there may be, of all clients and of one address, and which one is closed for a new one.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use indexmap::IndexMap;
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;

use super::limits::limited_address;

/// Largest number of open connections, if the system allows so many.
const MAX_CONNECTIONS: usize = 16_384;

/// Open files that the connections leave to requests to the service, to the admin listener and to logs.
const RESERVED_FILES: u64 = 256;

/// Pause after a connection could not be accepted. For example, no file descriptor is free.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// How long a new connection may take to send the whole head of its first request.
const FIRST_HEAD_LIMIT: Duration = Duration::from_secs(10);

/// How long a connection may take to end for another one.
const CLOSING_PAUSE: Duration = Duration::from_secs(1);

/// The open connections.
#[derive(Debug)]
pub(super) struct OpenConnections {
    max: usize,
    state: Mutex<State>,
    /// Notified when a connection has ended.
    ended: Notify,
    /// Cancelled when all connections are to end.
    stopping: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    next_id: u64,
    open: IndexMap<u64, Entry>,
}

/// One connection.
#[derive(Debug)]
struct Entry {
    address: IpAddr,
    /// When the last request was answered, or the connection was opened; `None` during a request.
    idle_since: Option<Instant>,
    closing: CancellationToken,
}

/// The place of a connection, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    connections: Arc<OpenConnections>,
    id: u64,
    begun: CancellationToken,
    closing: CancellationToken,
}

impl OpenConnections {
    /// Raises the number of files that the process may open, and returns the places that this leaves.
    pub(super) fn new() -> Self {
        // A process that may not raise the number goes on with what it has.
        let files = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(RESERVED_FILES);
        let most = usize::try_from(files.saturating_sub(RESERVED_FILES)).unwrap_or(usize::MAX);
        Self::with_places(most.clamp(1, MAX_CONNECTIONS))
    }

    fn with_places(max: usize) -> Self {
        Self { max, state: Mutex::default(), ended: Notify::new(), stopping: CancellationToken::new() }
    }

    /// Waits until a further connection may be accepted. If all places are taken, the connection that is idle longest is closed.
    pub(super) async fn wait_for_place(&self) {
        loop {
            let ended = self.ended.notified();
            if self.lock().open.len() < self.max {
                return;
            }
            self.lock().close_longest_idle(|_| true);
            // A connection that still sends a response may take long, so that another one is closed then.
            drop(tokio::time::timeout(CLOSING_PAUSE, ended).await);
        }
    }

    /// Returns the place of a connection from `address`; `None` if one address has its share of the places, and none of its
    /// connections is idle. A proxy `is_trusted` and has no share: it serves many clients.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr, is_trusted: bool) -> Option<Place> {
        let address = limited_address(address);
        let mut state = self.lock();
        let is_same = |entry: &Entry| entry.address == address;
        let share = self.max - self.max / 4;
        if !is_trusted && state.open.values().filter(|entry| is_same(entry)).count() >= share {
            state.close_longest_idle(is_same).then_some(())?;
        }

        let (id, closing) = (state.next_id, self.stopping.child_token());
        state.next_id += 1;
        state.open.insert(id, Entry { address, idle_since: Some(Instant::now()), closing: closing.clone() });
        Some(Place { connections: Arc::clone(self), id, begun: CancellationToken::new(), closing })
    }

    /// Asks all connections to end after their requests, and waits for it.
    pub(super) async fn end_all(&self) {
        self.stopping.cancel();
        loop {
            let ended = self.ended.notified();
            if self.lock().open.is_empty() {
                return;
            }
            ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Closes the connection that is idle longest of those that `may_close` names. Returns whether there is one.
    fn close_longest_idle(&mut self, may_close: impl Fn(&Entry) -> bool) -> bool {
        let idle = self.open.values_mut().filter(|entry| entry.idle_since.is_some() && may_close(entry));
        let Some(longest) = idle.min_by_key(|entry| entry.idle_since) else { return false };

        longest.closing.cancel();
        // The next one is another connection, although this one may not have ended yet.
        longest.idle_since = None;
        true
    }
}

impl Place {
    /// Notes that a request has begun.
    pub(super) fn begin_request(&self) {
        self.begun.cancel();
        self.set_idle_since(None);
    }

    /// Notes that a request was answered.
    pub(super) fn end_request(&self) {
        self.set_idle_since(Some(Instant::now()));
    }

    /// Returns whether the connection has ever begun a request.
    pub(super) fn has_begun(&self) -> bool {
        self.begun.is_cancelled()
    }

    /// Completes when the connection is to end: the server stops, another connection needs the place, or no request has begun in
    /// time.
    pub(super) async fn end(&self) {
        let silence = async {
            if tokio::time::timeout(FIRST_HEAD_LIMIT, self.begun.cancelled()).await.is_ok() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = self.closing.cancelled() => {}
            () = silence => {}
        }
    }

    fn set_idle_since(&self, idle_since: Option<Instant>) {
        if let Some(entry) = self.connections.lock().open.get_mut(&self.id) {
            entry.idle_since = idle_since;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.lock().open.swap_remove(&self.id);
        self.connections.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn connections(places: usize) -> Arc<OpenConnections> {
        Arc::new(OpenConnections::with_places(places))
    }

    #[tokio::test(start_paused = true)]
    async fn the_connection_that_is_idle_longest_ends_for_a_new_one() {
        let open = connections(3);
        let places = [ONE, OTHER, OTHER].map(|address| open.enter(address, false).expect("a place"));
        for place in &places {
            place.begin_request();
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        // The first one is busy.
        for place in [&places[2], &places[1]] {
            place.end_request();
            tokio::time::advance(Duration::from_secs(1)).await;
        }

        let [busy, later, longest] = places;
        tokio::join!(open.wait_for_place(), async {
            longest.end().await;
            drop(longest);
        });
        assert!(!busy.closing.is_cancelled() && !later.closing.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_three_quarters_of_the_places() {
        let open = connections(4);
        let places = [(); 3].map(|()| open.enter(ONE, false).expect("a place"));
        for place in &places {
            place.begin_request();
        }

        assert!(open.enter(ONE, false).is_none(), "none of its connections is idle");
        assert!(open.enter(ONE, true).is_some(), "a proxy has no share");
        assert!(open.enter(OTHER, false).is_some());

        places[1].end_request();
        assert!(open.enter(ONE, false).is_some());
        assert!(places[1].closing.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_begins_its_first_request_within_ten_seconds() {
        let place = connections(1).enter(ONE, false).expect("a place");
        let started = Instant::now();
        place.end().await;
        assert_eq!(started.elapsed(), FIRST_HEAD_LIMIT);

        place.begin_request();
        assert!(tokio::time::timeout(FIRST_HEAD_LIMIT * 6, place.end()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_every_connection() {
        let open = connections(2);
        let place = open.enter(ONE, false).expect("a place");
        tokio::join!(open.end_all(), async {
            place.end().await;
            drop(place);
        });
    }
}
