//! The peer of requests over HTTP.
//!
//! The library passes each request handler a peer, through which a handler sends messages to the host of its session. A
//! request over HTTP has no session: it states the capabilities of its host itself, and its progress goes to the response.
//! All requests share one peer that is connected to nothing.

use std::io::{Error, ErrorKind};

use rmcp::{
    Peer, RoleServer, ServerHandler,
    service::{RunningService, RxJsonRpcMessage, TxJsonRpcMessage, serve_directly},
    transport::Transport,
};

/// The session of the peer. The peer works as long as this value exists.
pub(super) struct DetachedPeer(RunningService<RoleServer, NoHandler>);

impl DetachedPeer {
    pub(super) fn new() -> Self {
        Self(serve_directly(NoHandler, NoTransport, None))
    }

    /// Returns the peer.
    pub(super) fn peer(&self) -> &Peer<RoleServer> {
        self.0.peer()
    }
}

impl std::fmt::Debug for DetachedPeer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("DetachedPeer")
    }
}

#[derive(Debug)]
struct NoHandler;

impl ServerHandler for NoHandler {}

/// A transport that receives nothing and sends nothing.
#[derive(Debug)]
struct NoTransport;

impl Transport<RoleServer> for NoTransport {
    type Error = Error;

    fn send(
        &mut self,
        _: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'static {
        std::future::ready(Err(ErrorKind::NotConnected.into()))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        std::future::pending().await
    }

    async fn close(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
