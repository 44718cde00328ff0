//! Listening, and the end of the process.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body};
use http::Request;
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    time::Instant,
};
use tower::ServiceExt as _;

use super::{
    admin,
    app::{Application, PeerAddress},
    connections::{ACCEPT_PAUSE, OpenConnections, Place},
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
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let Self { application, listener, admin } = self;
        let shared = Arc::clone(&application.shared);
        if let Some(admin) = admin {
            tokio::spawn(admin::serve(admin, Arc::clone(&shared)));
        }
        if let Some(store) = shared.store.clone() {
            tokio::spawn(async move { store.check().await });
        }

        let connections = Connections::new(application);
        tokio::select! {
            () = connections.accept(&listener) => {}
            () = stop => {}
        }

        connections.drain(listener).await;
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
                    tokio::time::sleep(ACCEPT_PAUSE).await;
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
            drop(tokio::time::timeout_at(last_handshakes, self.accept(&listener)).await);
        }

        let Ok(listener) = listener.into_std() else { return };

        while let Ok((stream, peer)) = listener.accept() {
            let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
            if let Ok(stream) = stream {
                self.serve(stream, peer.ip());
            }
        }
    }

    /// Ends the server without losing requests.
    async fn drain(self, listener: TcpListener) {
        let shared = Arc::clone(&self.application.shared);
        let limit = shared.settings.drain;
        let deadline = Instant::now() + limit;
        shared.drain();
        let announcement = tokio::time::sleep(ANNOUNCEMENT.min(limit / 2));
        tokio::select! {
            () = self.accept(&listener) => {}
            () = announcement => {}
        }

        shared.stopping.waits.cancel();
        self.stop_listening(listener, deadline).await;
        let last_requests = deadline.min(Instant::now() + LAST_REQUEST_LIMIT);
        tokio::time::sleep_until(last_requests).await;

        let mut ended = std::pin::pin!(self.open.end_all());
        if tokio::time::timeout_at(deadline, &mut ended).await.is_ok() {
            return;
        }

        shared.stopping.calls.cancel();
        drop(tokio::time::timeout(CANCELLATION_LIMIT, ended).await);
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
async fn serve_connection(stream: TcpStream, peer: IpAddr, router: &Router, place: &Place) {
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
        .serve_connection(TokioIo::new(stream), service);

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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_listener_that_ignores_new_connections_still_hands_out_the_waiting_ones() {
        let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a listener");
        let address = listener.local_addr().expect("an address");
        let _waiting = TcpStream::connect(address).await.expect("a connection");

        ignore_new_connections(&listener).expect("the system can do it");

        let ignored = tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(address)).await;
        assert!(ignored.is_err(), "it neither opens nor is refused: {ignored:?}");
        listener.accept().await.expect("the waiting connection");

        drop(listener);
        TcpStream::connect(address).await.expect_err("a closed listener refuses");
    }
}
