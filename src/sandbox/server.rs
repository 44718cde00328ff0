//! Listening and answering. A hyper service below axum: an ordered reset has to end a connection without an answer.

use std::{io, net::SocketAddr, sync::Arc};

use axum::{Router, body::Body};
use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http1, service::Service as _};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};

use super::{Observer, Options, guide, routes, service::Service};

/// Starts a sandbox that listens on `listen`; port 0 takes a free one.
pub async fn start(listen: SocketAddr, options: Options, observer: Option<Observer>) -> io::Result<Sandbox> {
    let listener = TcpListener::bind(listen).await?;
    let address = listener.local_addr()?;
    let service = Arc::new(Service::new(address, options, observer));
    let router = routes::router(&service);
    let accepting = tokio::spawn(accept(listener, router)).abort_handle();
    Ok(Sandbox { service, accepting })
}

/// A running sandbox. Dropping it closes every connection.
pub struct Sandbox {
    service: Arc<Service>,
    accepting: AbortHandle,
}

impl Sandbox {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.service.address
    }

    /// Base address of the main API.
    pub fn base_url(&self) -> String {
        self.service.base_url()
    }

    /// Address of the knowledge host.
    pub fn knowledge_url(&self) -> String {
        self.service.knowledge_url()
    }

    /// What a person needs to try it out.
    pub fn guide(&self) -> String {
        guide::text(&self.service)
    }

    /// Moves the clock ahead.
    pub fn advance(&self, seconds: f64) {
        self.service.world().advance(seconds);
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.accepting.abort();
        self.service.depot.close();
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sandbox").field("address", &self.address()).finish_non_exhaustive()
    }
}

/// Accepts connections until it is aborted; its connections end with it.
async fn accept(listener: TcpListener, router: Router) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, router.clone()));
                }
                // Out of file descriptors, for example: others may close one meanwhile.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, router: Router) {
    // Answers are small: waiting to fill a packet only delays them. Failing to say so costs nothing else.
    drop(stream.set_nodelay(true));
    let router = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let answer = router.call(request);
        async move {
            match answer.await {
                Ok(response) => unless_reset(response),
                Err(never) => match never {},
            }
        }
    });
    // What a client does to its connection is its own affair.
    drop(http1::Builder::new().keep_alive(true).serve_connection(TokioIo::new(stream), service).await);
}

/// Mark of a response instead of which the connection is closed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reset;

fn unless_reset(response: Response<Body>) -> io::Result<Response<Body>> {
    if response.extensions().get::<Reset>().is_some() {
        Err(io::ErrorKind::ConnectionReset.into())
    } else {
        Ok(response)
    }
}
