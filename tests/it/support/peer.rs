//! A listener that speaks bytes and tells what it saw: for what no HTTP server would do.

use std::{net::SocketAddr, time::Duration};

use tas_mcp::settings::Settings;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::AbortHandle,
};

use super::service::settings;

/// Longest wait for something that happens at once.
const SOON: Duration = Duration::from_secs(10);

/// What happens on a connection.
#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    /// A request, head and body.
    Request(String),
    /// The other side closed the connection.
    Closed,
}

impl Event {
    pub(crate) fn into_request(self) -> Option<String> {
        if let Self::Request(request) = self { Some(request) } else { None }
    }
}

/// A listener on the loopback; it ends with this value.
pub(crate) struct Peer {
    address: SocketAddr,
    events: UnboundedReceiver<Event>,
    accepting: AbortHandle,
}

impl Peer {
    /// Answers every request with these bytes and closes the connection; with none, it never answers.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.expect("a free port"), answer.into())
    }

    /// As [`Self::answering`], on this listener.
    pub(crate) fn on(listener: TcpListener, answer: Vec<u8>) -> Self {
        let address = listener.local_addr().expect("an address");
        let (happened, events) = unbounded_channel();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, answer.clone(), happened.clone()));
            }
        });

        Self { address, events, accepting: accepting.abort_handle() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Settings with this key, and these variables.
    pub(crate) fn settings(&self, key: &str, more: &[(&str, &str)]) -> Settings {
        let base_url = format!("http://{}/api/v1", self.address);
        settings(&[&[("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", key)], more].concat())
    }

    /// The next thing that happens.
    pub(crate) async fn next(&mut self) -> Event {
        let event = tokio::time::timeout(SOON, self.events.recv()).await.expect("something happens soon");
        event.expect("the listener is there")
    }

    /// The requests so far.
    pub(crate) fn requests(&mut self) -> Vec<String> {
        let events = std::iter::from_fn(|| self.events.try_recv().ok());
        events.filter_map(Event::into_request).collect()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Reads a request, answers it, and waits for the other side to close where there is no answer.
pub(crate) async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: Vec<u8>,
    happened: UnboundedSender<Event>,
) {
    let mut seen = Vec::new();
    while !is_complete(&seen) {
        match stream.read_buf(&mut seen).await {
            Ok(count) if count > 0 => {}
            _ => return drop(happened.send(Event::Closed)),
        }
    }

    drop(happened.send(Event::Request(String::from_utf8_lossy(&seen).into_owned())));
    if !answer.is_empty() {
        // The other side may have read enough.
        drop(stream.write_all(&answer).await);
        drop(stream.shutdown().await);
    }

    while stream.read_buf(&mut seen).await.is_ok_and(|count| count > 0) {}
    drop(happened.send(Event::Closed));
}

fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |length| length.trim().parse().expect("a length"))
}
