//! Listening, and the end of the process.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::body::Body;
use http::Request;
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{rt::TokioIo, server::graceful::GracefulShutdown};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::OwnedSemaphorePermit,
};

use super::{
    admin,
    application::Application,
    connection::{CountedBody, TimedStream},
    exchange::respond,
};

/// How long further connections are accepted after the signal to stop, but at most half of the time that calls have to
/// end. In this time a proxy notices that the process is not ready, and clients close their connections after a response.
const ANNOUNCEMENT: Duration = Duration::from_secs(5);

/// How long a connection that was opened last may take to send its request, after the server has stopped to listen.
const LAST_REQUEST_LIMIT: Duration = Duration::from_secs(1);

/// How long cancelled calls may take to send their answers.
const CANCELLATION_LIMIT: Duration = Duration::from_secs(1);

/// Largest number of connections that wait to be accepted. The system may have a lower limit.
const MAX_WAITING_CONNECTIONS: u32 = 1024;

/// Pause after a connection could not be accepted. For example, no file descriptor is free.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

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
    ///
    /// # Errors
    /// The error of the system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns the address of the admin listener, if there is one.
    ///
    /// # Errors
    /// The error of the system.
    pub fn admin_address(&self) -> io::Result<Option<SocketAddr>> {
        self.admin.as_ref().map(TcpListener::local_addr).transpose()
    }

    /// Serves requests until `stop` completes and the calls under way have ended.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let Self { application, listener, admin } = self;
        if let Some(admin) = admin {
            tokio::spawn(admin::serve(admin, application.clone()));
        }
        let checked = application.clone();
        tokio::spawn(async move { checked.check_store().await });

        let connections = GracefulShutdown::new();
        tokio::select! {
            () = accept(&listener, &application, &connections) => {}
            () = stop => {}
        }

        drain(listener, &application, connections).await;
        #[cfg(feature = "otlp")]
        if let Some(traces) = &application.0.traces {
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

/// Accepts connections forever.
async fn accept(listener: &TcpListener, application: &Application, connections: &GracefulShutdown) {
    let mut is_failing = false;
    loop {
        // Further clients wait until a connection ends. No code closes the semaphore, so that the wait cannot fail.
        let Ok(place) = Arc::clone(&application.0.connections).acquire_owned().await else { return };

        match listener.accept().await {
            Ok((stream, peer)) => {
                is_failing = false;
                serve_connection(stream, peer, application.clone(), connections, place);
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

/// Starts to serve a connection.
fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    application: Application,
    connections: &GracefulShutdown,
    place: OwnedSemaphorePermit,
) {
    // Without this option, small responses wait for a full packet. If it cannot be set, responses are only slower.
    drop(stream.set_nodelay(true));
    let count = application.0.metrics.count_connection();
    let stream = TimedStream::new(stream);
    let phase = stream.phase();

    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let application = application.clone();
        let open = phase.begin_request();
        // The library reserves the memory of this future for each connection, also between two requests.
        Box::pin(async move {
            let response = respond(&application, peer.ip(), request.map(Body::new)).await;
            // The request lasts until its response is sent.
            let response = response.map(|body| CountedBody { body, _open: open });
            Ok::<_, std::convert::Infallible>(response)
        })
    });

    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD_BYTES).header_read_timeout(None);
    let connection = connections.watch(builder.serve_connection(TokioIo::new(stream), service));
    tokio::spawn(async move {
        // Errors of a connection are the client's: it may close the connection at any time.
        drop(connection.await);
        drop((count, place));
    });
}

/// Closes the listener. The system has already confirmed the waiting connections to their clients, which may have sent
/// requests. They are served, because the system would reset them together with the listener.
fn stop_listening(listener: TcpListener, application: &Application, connections: &GracefulShutdown) {
    // Without waiting, the time between the last connection and the end of the listener is as short as possible.
    let Ok(listener) = listener.into_std() else { return };

    while let Ok(place) = Arc::clone(&application.0.connections).try_acquire_owned()
        && let Ok((stream, peer)) = listener.accept()
    {
        let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
        if let Ok(stream) = stream {
            serve_connection(stream, peer, application.clone(), connections, place);
        }
    }
}

/// Ends the server without losing requests.
async fn drain(listener: TcpListener, application: &Application, connections: GracefulShutdown) {
    let limit = application.settings().drain;
    let deadline = tokio::time::Instant::now() + limit;
    application.drain();
    let announcement = tokio::time::sleep(ANNOUNCEMENT.min(limit / 2));
    tokio::select! {
        () = accept(&listener, application, &connections) => {}
        () = announcement => {}
    }

    application.end_waits();
    stop_listening(listener, application, &connections);
    let last_requests = deadline.min(tokio::time::Instant::now() + LAST_REQUEST_LIMIT);
    tokio::time::sleep_until(last_requests).await;

    let mut ended = std::pin::pin!(connections.shutdown());
    if tokio::time::timeout_at(deadline, &mut ended).await.is_ok() {
        return;
    }

    application.cancel_calls();
    drop(tokio::time::timeout(CANCELLATION_LIMIT, ended).await);
}
