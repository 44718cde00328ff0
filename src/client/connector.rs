//! Opens connections: directly or through a proxy, and with TLS for `https` addresses.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::BoxFuture;
use http::Uri;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tower_service::Service;

use super::{
    host_resolver::HostResolver,
    host_url::ConnectionKind,
    proxy::SystemProxies,
    tcp_connector::{TcpConnector, tcp_connector},
    transport_error::BoxError,
};

/// A connection to a host or, if the host is reached through one, to a proxy. The connection to a proxy may have TLS of its
/// own.
type RouteStream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// Opens connections on which requests are sent.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    https: HttpsConnector<Route>,
    limit: Duration,
}

/// Opens a connection to a host or to a proxy.
#[derive(Clone, Debug)]
struct Route {
    tcp: TcpConnector,
    proxies: Option<Arc<SystemProxies>>,
}

impl Connector {
    /// Creates a connector. `limit` is the time limit of opening a connection, including TLS and the way through a proxy.
    pub(super) fn new(kind: ConnectionKind, tls: ClientConfig, limit: Duration) -> Self {
        let tls = Arc::new(tls);
        let resolver = match kind {
            ConnectionKind::PublicTls => HostResolver::PublicAddress,
            _ => HostResolver::AnyAddress,
        };
        let proxies = match kind {
            // A proxy cannot reach the loopback addresses of this machine.
            ConnectionKind::Plain | ConnectionKind::LoopbackTls => None,
            // A proxy may have a local address, although the hosts behind the proxy may not.
            ConnectionKind::RemoteTls | ConnectionKind::PublicTls => {
                let tcp = tcp_connector(HostResolver::AnyAddress);
                Some(Arc::new(SystemProxies::new(tcp, Arc::clone(&tls))))
            }
        };
        let route = Route { tcp: tcp_connector(resolver), proxies };

        Self { https: HttpsConnector::from((route, tls)), limit }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<RouteStream>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.https.poll_ready(context)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        let (opening, limit) = (self.https.call(address), self.limit);
        let timed_out = move |_| Err(format!("no connection was open after {limit:?}").into());

        Box::pin(async move { tokio::time::timeout(limit, opening).await.unwrap_or_else(timed_out) })
    }
}

impl Service<Uri> for Route {
    type Response = RouteStream;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<RouteStream, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(BoxError::from)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        if let Some(mut tunnel) = self.proxies.as_ref().and_then(|proxies| proxies.tunnel(&address)) {
            return Box::pin(async move { Ok(tunnel.call(address).await?) });
        }

        let opening = self.tcp.call(address);
        Box::pin(async move { Ok(MaybeHttpsStream::Http(opening.await?)) })
    }
}
