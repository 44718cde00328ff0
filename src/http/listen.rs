//! Listening, the open connections and the end of the process.
//!
//! The number of connections has a limit, for all clients and for one address. A connection that is idle is closed for a new one,
//! and one whose client does not read ends.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{Router, body::Body};
use http::Request;
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::rt::{TokioIo, TokioTimer};
use indexmap::IndexMap;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::Notify,
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::{
    admin::{self, ACCEPT_PAUSE},
    app::{Application, PeerAddress},
    limits::{limited_address, with_write_limit},
};

/// How long further connections are accepted after the signal to stop, but at most half of the time that calls have to
/// end. In this time a proxy notices that the process is not ready, and clients close their connections after a response.
const ANNOUNCEMENT: Duration = Duration::from_secs(5);

/// How long connections that are just being opened may take, after the server has stopped to take new ones.
const HANDSHAKE_LIMIT: Duration = Duration::from_millis(500);

/// How long a connection that was opened last may take to send its request, after the server has stopped to listen.
const LAST_REQUEST_LIMIT: Duration = Duration::from_secs(1);

/// How long cancelled calls may take to send their answers.
const CANCELLATION_LIMIT: Duration = Duration::from_secs(1);

/// Largest number of connections that wait to be accepted. The system may have a lower limit.
const MAX_WAITING_CONNECTIONS: u32 = 1024;

/// How long a connection may be without the whole head of a further request after the last response. The span is longer than
/// that of common proxies, so that the proxy closes idle connections first.
const IDLE_LIMIT: Duration = Duration::from_secs(75);

/// Largest number of bytes of the head of a request.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Largest number of open connections, if the system allows so many.
const MAX_CONNECTIONS: usize = 16_384;

/// Open files that the connections leave to requests to the service, to the admin listener and to logs.
const RESERVED_FILES: u64 = 256;

/// How long a new connection may take to send the whole head of its first request.
const FIRST_HEAD_LIMIT: Duration = Duration::from_secs(10);

/// How long a connection may take to end for another one.
const CLOSING_PAUSE: Duration = Duration::from_secs(1);

/// How a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopRequest {
    /// Proxies and clients have some seconds to notice it.
    Announced,
    /// A user waits for it: no further connection is accepted.
    AtOnce,
}

/// The HTTP server with its open listeners.
#[derive(Debug)]
pub struct HttpServer {
    application: Application,
    listener: TcpListener,
    admin: Option<TcpListener>,
}

impl HttpServer {
    /// Opens the listeners of the settings. Call it in a Tokio runtime.
    ///
    /// # Errors
    /// The address that cannot be listened on.
    pub fn bind(application: Application) -> io::Result<Self> {
        let settings = application.settings();
        let listener = listen(settings.listen)?;
        let admin = settings.admin.map(listen).transpose()?;

        Ok(Self { application, listener, admin })
    }

    /// Returns the address of the endpoint.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns the address of the admin listener, if there is one.
    pub fn admin_address(&self) -> io::Result<Option<SocketAddr>> {
        self.admin.as_ref().map(TcpListener::local_addr).transpose()
    }

    /// Serves requests until `stop` completes and the calls under way have ended.
    pub async fn serve(self, stop: impl Future<Output = StopRequest>) {
        let Self { application, listener, admin } = self;
        let shared = Arc::clone(&application.shared);
        if let Some(admin) = admin {
            tokio::spawn(admin::serve(admin, Arc::clone(&shared)));
        }

        let connections = Connections::new(application);
        let request = tokio::select! {
            () = connections.accept(&listener) => return,
            request = stop => request,
        };

        connections.drain(listener, request).await;
        #[cfg(feature = "otlp")]
        if let Some(traces) = &shared.traces {
            traces.flush().await;
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let with_address =
        |error: io::Error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"));
    open_listener(address).map_err(with_address)
}

fn open_listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A server can listen again at once, although closed connections to its address are still known to the system.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(MAX_WAITING_CONNECTIONS)
}

/// The connections of an application.
struct Connections {
    application: Application,
    open: Arc<OpenConnections>,
}

impl Connections {
    fn new(application: Application) -> Self {
        Self { application, open: Arc::new(OpenConnections::new()) }
    }

    /// Accepts connections forever.
    async fn accept(&self, listener: &TcpListener) {
        let mut is_failing = false;
        loop {
            self.open.wait_for_place().await;

            match listener.accept().await {
                Ok((stream, peer)) => {
                    is_failing = false;
                    self.serve(stream, peer.ip());
                }
                Err(error) => {
                    // One line is enough for a cause that lasts.
                    if !std::mem::replace(&mut is_failing, true) {
                        tracing::warn!("a connection cannot be accepted: {error}");
                    }
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Starts to serve a connection. One above the share of its address is closed.
    fn serve(&self, stream: TcpStream, peer: IpAddr) {
        let shared = &self.application.shared;
        let is_proxy = shared.settings.trusted_proxies.iter().any(|known| known.contains(&peer));
        let Some(place) = self.open.enter(peer, is_proxy) else { return };
        // Without this option, small responses wait for a full packet. If it cannot be set, responses are only slower.
        drop(stream.set_nodelay(true));

        let count = shared.metrics.count_connection();
        let router = self.application.router.clone();
        tokio::spawn(async move {
            serve_connection(stream, peer, &router, &place).await;
            drop((count, place));
        });
    }

    /// Closes the listener. The system has already confirmed the waiting connections to their clients, which may have sent
    /// requests. They are served, because the system would reset them together with the listener.
    async fn stop_listening(&self, listener: TcpListener, deadline: Instant) {
        // A client that connects between the last accepted connection and the end of the listener would lose its request. Where
        // the system cannot ignore new connections, that time is only kept short.
        if ignore_new_connections(&listener).is_ok() {
            let last_handshakes = deadline.min(Instant::now() + HANDSHAKE_LIMIT);
            drop(timeout_at(last_handshakes, self.accept(&listener)).await);
        }

        let Ok(listener) = listener.into_std() else { return };

        while let Ok((stream, peer)) = listener.accept() {
            let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
            if let Ok(stream) = stream {
                self.serve(stream, peer.ip());
            }
        }
    }

    /// Ends the server without losing requests, except for a user who stops it and waits for its end.
    async fn drain(self, listener: TcpListener, request: StopRequest) {
        let shared = Arc::clone(&self.application.shared);
        let limit = shared.settings.drain;
        let deadline = Instant::now() + limit;
        shared.drain();
        if request == StopRequest::AtOnce {
            shared.stopping.waits.cancel();
            drop(listener);
            return self.end_calls(deadline).await;
        }

        let announcement = sleep(ANNOUNCEMENT.min(limit / 2));
        tokio::select! {
            () = self.accept(&listener) => {}
            () = announcement => {}
        }

        shared.stopping.waits.cancel();
        self.stop_listening(listener, deadline).await;
        let last_requests = deadline.min(Instant::now() + LAST_REQUEST_LIMIT);
        sleep_until(last_requests).await;
        self.end_calls(deadline).await;
    }

    /// Lets the calls under way end until `deadline`, and then cancels them.
    async fn end_calls(self, deadline: Instant) {
        let stopping = &self.application.shared.stopping;
        let mut ended = std::pin::pin!(self.open.end_all());
        if timeout_at(deadline, &mut ended).await.is_ok() {
            return;
        }

        stopping.calls.cancel();
        drop(timeout(CANCELLATION_LIMIT, ended).await);
    }
}

/// Lets the system drop the first packet of every new connection. The client sends it again after a second, and is refused
/// then, because the listener is closed.
#[cfg(target_os = "linux")]
fn ignore_new_connections(listener: &TcpListener) -> io::Result<()> {
    use socket2::{SockFilter, SockRef};

    // The codes are those of classic BPF, which sees the packet from its TCP header on.
    const LOAD_BYTE: u16 = 0x30;
    const JUMP_IF_SET: u16 = 0x45;
    const RETURN: u16 = 0x06;
    const FLAGS_OFFSET: u32 = 13;
    const SYN: u32 = 0x02;

    SockRef::from(listener).attach_filter(&[
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS_OFFSET),
        SockFilter::new(JUMP_IF_SET, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, 0),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
    ])
}

#[cfg(not(target_os = "linux"))]
fn ignore_new_connections(_listener: &TcpListener) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Serves the requests of a connection until it ends.
async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Send,
    peer: IpAddr,
    router: &Router,
    place: &Place,
) {
    let service = hyper::service::service_fn(|request: Request<Incoming>| async {
        place.begin_request();
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(PeerAddress(peer));
        let response = router.clone().oneshot(request).await;
        place.end_request();
        response
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_LIMIT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(with_write_limit(stream)), service);

    // Errors of a connection are the client's: it may close the connection at any time.
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        outcome = connection.as_mut() => return drop(outcome),
        () = place.end() => {}
    }
    if place.has_begun() {
        connection.as_mut().graceful_shutdown();
        drop(connection.await);
    }
}

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
            drop(timeout(CLOSING_PAUSE, ended).await);
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
            if timeout(FIRST_HEAD_LIMIT, self.begun.cancelled()).await.is_ok() {
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
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;
    use crate::http::limits::WRITE_LIMIT;

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
        assert!(timeout(FIRST_HEAD_LIMIT * 6, place.end()).await.is_err());
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

    /// Serves two requests that arrive together, for at most three hours. Returns how long that took.
    async fn serve_requests(router: Router, client: impl AsyncFnOnce(DuplexStream)) -> Duration {
        let (mut client_side, server_side) = tokio::io::duplex(1024);
        client_side.write_all(&b"GET / HTTP/1.1\r\n\r\n".repeat(2)).await.expect("a connection");
        let place = connections(1).enter(ONE, false).expect("a place");
        let started = Instant::now();

        let serving = async {
            let serving = serve_connection(server_side, ONE, &router, &place);
            timeout(Duration::from_secs(3 * 3600), serving).await.expect("the connection ends");
            started.elapsed()
        };
        tokio::join!(serving, client(client_side)).0
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_whose_client_does_not_read_ends() {
        let router = Router::new().fallback(async || vec![0; 1024 * 1024]);
        let time = serve_requests(router, async |mut client| {
            sleep(WRITE_LIMIT / 2).await;
            client.read_exact(&mut [0; 10]).await.expect("progress");
            sleep(WRITE_LIMIT * 2).await;
        });
        assert_eq!(time.await, WRITE_LIMIT / 2 + WRITE_LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_has_nothing_to_send_may_take_hours() {
        const HOUR: Duration = Duration::from_secs(3600);
        let router = Router::new().fallback(async || {
            let events = futures_util::stream::once(async {
                sleep(HOUR).await;
                Ok::<_, io::Error>("late")
            });
            Body::from_stream(events)
        });
        let time = serve_requests(router, async |mut client| {
            client.read_exact(&mut [0; 64]).await.expect("a head");
            sleep(2 * HOUR + Duration::from_secs(1)).await;
        });
        assert_eq!(time.await, 2 * HOUR + Duration::from_secs(1));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_listener_that_ignores_new_connections_still_hands_out_the_waiting_ones() {
        let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a listener");
        let address = listener.local_addr().expect("an address");
        let _waiting = TcpStream::connect(address).await.expect("a connection");

        ignore_new_connections(&listener).expect("the system can do it");

        let ignored = timeout(Duration::from_millis(200), TcpStream::connect(address)).await;
        assert!(ignored.is_err(), "it neither opens nor is refused: {ignored:?}");
        listener.accept().await.expect("the waiting connection");

        drop(listener);
        TcpStream::connect(address).await.expect_err("a closed listener refuses");
    }
}
