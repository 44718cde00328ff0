//! A listener that sends raw bytes and records the requests, for answers that no HTTP server would give.

use std::{net::SocketAddr, time::Duration};

use tas_mcp::settings::Settings;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::AbortHandle,
};

use super::service::settings;

/// Longest wait for an event. After this a test fails instead of hanging.
const EVENT_LIMIT: Duration = Duration::from_secs(10);

/// An event on a connection.
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

/// A listener on the loopback. It ends when this value is dropped.
pub(crate) struct Peer {
    address: SocketAddr,
    events: UnboundedReceiver<Event>,
    accepting: AbortHandle,
}

impl Peer {
    /// Answers every request with these bytes and closes the connection. Without bytes it never answers.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.expect("a free port"), answer.into())
    }

    /// Does the same as [`Self::answering`] on this listener.
    pub(crate) fn on(listener: TcpListener, answer: Vec<u8>) -> Self {
        let address = listener.local_addr().expect("an address");
        let (sender, events) = unbounded_channel();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, answer.clone(), sender.clone()));
            }
        });

        Self { address, events, accepting: accepting.abort_handle() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns settings with this key and these variables.
    pub(crate) fn settings(&self, key: &str, more: &[(&str, &str)]) -> Settings {
        let base_url = format!("http://{}/api/v1", self.address);
        settings(&[&[("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", key)], more].concat())
    }

    /// Returns the next event.
    pub(crate) async fn next(&mut self) -> Event {
        let event = tokio::time::timeout(EVENT_LIMIT, self.events.recv()).await.expect("an event in time");
        event.expect("the listener is there")
    }

    /// Returns the requests so far.
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
    sender: UnboundedSender<Event>,
) {
    let mut received = Vec::new();
    while !is_complete(&received) {
        match stream.read_buf(&mut received).await {
            Ok(count) if count > 0 => {}
            _ => return drop(sender.send(Event::Closed)),
        }
    }

    drop(sender.send(Event::Request(String::from_utf8_lossy(&received).into_owned())));
    if !answer.is_empty() {
        // The write fails if the other side has closed the connection already.
        drop(stream.write_all(&answer).await);
        drop(stream.shutdown().await);
    }

    while stream.read_buf(&mut received).await.is_ok_and(|count| count > 0) {}
    drop(sender.send(Event::Closed));
}

fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |length| length.trim().parse().expect("a length"))
}
