//! Listening, and the end of the process.

use std::{future::pending, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    serve::{Listener, ListenerExt as _},
};
use tokio::{
    net::{TcpListener, TcpStream},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{app::Application, metrics::serve_admin, state::SharedState};

/// How long further connections are accepted after the signal to stop, but at most half of the time that calls have to end. In
/// this time a proxy notices that the process is not ready, and clients close their connections after a response.
const ANNOUNCEMENT: Duration = Duration::from_secs(5);

/// How long an opened connection may bring its first request after no further one is accepted.
const FIRST_REQUEST_LIMIT: Duration = Duration::from_millis(200);

/// How long cancelled calls may take to send their answers.
const CANCELLATION_LIMIT: Duration = Duration::from_secs(1);

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
        let settings = &application.shared.settings;
        let listener = listen(settings.listen)?;
        let admin = settings.admin.map(listen).transpose()?;
        let address = listener.local_addr()?;
        application.shared.origin.get_or_init(|| format!("http://{address}"));

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
        let Application { shared, router } = self.application;
        if let Some(admin) = self.admin {
            tokio::spawn(serve_admin(admin, Arc::clone(&shared)));
        }
        let issuer = Arc::clone(&shared);
        tokio::spawn(async move {
            if let Some(authorization) = &issuer.authorization {
                authorization.log_issuer().await;
            }
        });

        tokio::select! {
            () = serve_until(self.listener, router, shared.stopping.waits.clone()) => {}
            () = drain(&shared, stop) => {}
        }
        #[cfg(feature = "otlp")]
        super::traces::flush().await;
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = std::net::TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    });
    listener.map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")))
}

/// Serves connections until `closing`, and then until the requests under way have ended.
async fn serve_until(listener: TcpListener, router: Router, closing: CancellationToken) {
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let listener = ClosingListener { open: Some(listener), closing: closing.clone(), waiting: Vec::new() };
    // Without this option, small responses wait for a full packet. If it cannot be set, responses are only slower.
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap_or_default());
    let closed = async move {
        closing.cancelled().await;
        sleep(FIRST_REQUEST_LIMIT).await;
    };
    if let Err(error) = axum::serve(listener, service).with_graceful_shutdown(closed).await {
        tracing::error!("the server has ended: {error}");
    }
}

/// A listener that loses no connection when it closes: the system opens connections before they are accepted.
struct ClosingListener {
    /// `None` after `closing`.
    open: Option<TcpListener>,
    closing: CancellationToken,
    /// The connections that were open already when the listener was closed.
    waiting: Vec<(TcpStream, SocketAddr)>,
}

impl Listener for ClosingListener {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        if let Some(listener) = &mut self.open {
            tokio::select! {
                connection = Listener::accept(listener) => return connection,
                () = self.closing.cancelled() => {}
            }
        }

        self.waiting.extend(self.open.take().into_iter().flat_map(close));
        let Some(connection) = self.waiting.pop() else { return pending().await };
        connection
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.open.as_ref().map_or(Err(io::ErrorKind::NotConnected.into()), TcpListener::local_addr)
    }
}

/// Closes a listener, and returns the connections that are open but not accepted.
fn close(listener: TcpListener) -> Vec<(TcpStream, SocketAddr)> {
    let Ok(listener) = listener.into_std() else { return Vec::new() };
    let waiting = std::iter::from_fn(|| listener.accept().ok());
    let connections = waiting.map(|(stream, address)| {
        stream.set_nonblocking(true)?;
        Ok::<_, io::Error>((TcpStream::from_std(stream)?, address))
    });
    connections.flatten().collect()
}

/// Ends the server without losing requests, after `stop`. Returns when the calls under way have no more time.
async fn drain(shared: &SharedState, stop: impl Future<Output = StopRequest>) {
    let request = stop.await;
    let limit = shared.settings.drain;
    let deadline = Instant::now() + limit;
    shared.draining.cancel();
    if request == StopRequest::Announced {
        sleep(ANNOUNCEMENT.min(limit / 2)).await;
    }

    shared.stopping.waits.cancel();
    sleep_until(deadline).await;
    shared.stopping.calls.cancel();
    sleep(CANCELLATION_LIMIT).await;
}
