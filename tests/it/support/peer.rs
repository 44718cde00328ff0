//! A listener that sends raw bytes and records the requests, for answers that no HTTP server would give.

use std::{net::SocketAddr, sync::Arc};

use tas_mcp::settings::Settings;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::AbortHandle,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::bytes::Bytes;

use super::{HANG_LIMIT, service::settings};

/// An event on a connection.
#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    /// A request, head and body.
    Request(String),
    /// The other side closed the connection.
    Closed,
}

/// A step of an answer.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends these bytes.
    Send(Bytes),
    /// Sends these bytes again and again, until the other side closes the connection.
    Repeat(Bytes),
    /// Leaves the connection open until the other side closes it. Other answers end with the connection.
    Hold,
}

/// Returns the steps that answer a request.
pub(crate) type Answers = Arc<dyn Fn(&str) -> Vec<Step> + Send + Sync>;

/// A listener on the loopback. It ends when this value is dropped.
pub(crate) struct Peer {
    address: SocketAddr,
    events: UnboundedReceiver<Event>,
    accepting: AbortHandle,
}

impl Peer {
    /// Answers every request with these bytes and closes the connection. Without bytes it never answers.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        Self::serving(same_answer(answer.into())).await
    }

    /// Answers each request with these steps and closes the connection.
    pub(crate) async fn serving(answers: Answers) -> Self {
        Self::start(answers, None).await
    }

    /// Does the same over TLS, if there is an acceptor.
    pub(super) async fn start(answers: Answers, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (sender, events) = unbounded_channel();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answers, sender) = (Arc::clone(&answers), sender.clone());
                match &tls {
                    None => drop(tokio::spawn(converse(stream, answers, sender))),
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            tokio::spawn(converse(stream, answers, sender));
                        }
                    }
                }
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
        let event = tokio::time::timeout(HANG_LIMIT, self.events.recv()).await.expect("an event in time");
        event.expect("the listener is there")
    }

    /// Returns the requests so far.
    pub(crate) fn requests(&mut self) -> Vec<String> {
        let events = std::iter::from_fn(|| self.events.try_recv().ok());
        let request = |event| if let Event::Request(request) = event { Some(request) } else { None };
        events.filter_map(request).collect()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Returns the answer with these bytes to every request. Without bytes there is no answer.
pub(crate) fn same_answer(answer: Vec<u8>) -> Answers {
    let step = if answer.is_empty() { Step::Hold } else { Step::Send(answer.into()) };
    Arc::new(move |_| vec![step.clone()])
}

/// Reads a request, answers it, and waits for the other side to close.
async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answers: Answers,
    sender: UnboundedSender<Event>,
) {
    let mut received = Vec::new();
    while !is_complete(&received) {
        match stream.read_buf(&mut received).await {
            Ok(count) if count > 0 => {}
            _ => return drop(sender.send(Event::Closed)),
        }
    }

    let request = String::from_utf8_lossy(&received).into_owned();
    let steps = answers(&request);
    drop(sender.send(Event::Request(request)));

    perform(&mut stream, steps).await;

    while stream.read_buf(&mut received).await.is_ok_and(|count| count > 0) {}
    drop(sender.send(Event::Closed));
}

async fn perform(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), steps: Vec<Step>) {
    for step in steps {
        match step {
            // A write fails if the other side has closed the connection already.
            Step::Send(bytes) => drop(stream.write_all(&bytes).await),
            Step::Repeat(bytes) => while stream.write_all(&bytes).await.is_ok() {},
            Step::Hold => return,
        }
    }

    drop(stream.shutdown().await);
}

fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |length| length.trim().parse().expect("a length"))
}
