//! One connection of a client, with time limits where a client sends or reads nothing.

use std::{
    future::Future as _,
    io::{Error, ErrorKind},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

/// Time limit of the head of a request, from its first byte. The head of the first request of a connection has this limit from
/// the beginning, because a client opens a connection to use it.
const HEAD_LIMIT: Duration = Duration::from_secs(10);

/// How long a connection may be without a request. The span is longer than that of the proxies in front of the server, so that
/// the proxy closes first.
const IDLE_LIMIT: Duration = Duration::from_secs(75);

/// How long a client may read nothing of a response.
const READER_LIMIT: Duration = Duration::from_secs(60);

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// The next request.
    Idle,
    /// The rest of the head of a request.
    Head,
    /// The end of the response. The request itself has time limits.
    Request,
}

/// The phase of a connection, which its requests change.
#[derive(Clone, Debug)]
pub(super) struct ConnectionPhase(Arc<AtomicU8>);

impl ConnectionPhase {
    fn new() -> Self {
        Self(Arc::new(AtomicU8::new(Phase::Idle as u8)))
    }

    /// Marks that a request is being served, until the returned value is dropped.
    pub(super) fn begin_request(&self) -> OpenRequest {
        self.set(Phase::Request);
        OpenRequest(self.clone())
    }

    fn set(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Relaxed);
    }

    fn get(&self) -> Phase {
        match self.0.load(Ordering::Relaxed) {
            phase if phase == Phase::Idle as u8 => Phase::Idle,
            phase if phase == Phase::Head as u8 => Phase::Head,
            _ => Phase::Request,
        }
    }
}

/// A request that is being served.
#[derive(Debug)]
pub(super) struct OpenRequest(ConnectionPhase);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.set(Phase::Idle);
    }
}

/// The body of a response, with which its request ends.
#[derive(Debug)]
pub(super) struct CountedBody {
    pub(super) body: Body,
    pub(super) _open: OpenRequest,
}

impl http_body::Body for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream that fails after the time limit of its phase.
#[derive(Debug)]
pub(super) struct TimedStream<S> {
    stream: S,
    phase: ConnectionPhase,
    /// The phase that `read_timer` belongs to.
    timed: Phase,
    read_timer: Pin<Box<Sleep>>,
    /// Runs while the client reads nothing.
    write_timer: Option<Pin<Box<Sleep>>>,
}

impl<S> TimedStream<S> {
    pub(super) fn new(stream: S) -> Self {
        let read_timer = Box::pin(tokio::time::sleep(HEAD_LIMIT));
        Self { stream, phase: ConnectionPhase::new(), timed: Phase::Idle, read_timer, write_timer: None }
    }

    pub(super) fn phase(&self) -> ConnectionPhase {
        self.phase.clone()
    }

    /// Fails if the client has sent nothing for too long.
    fn poll_read_limit(&mut self, context: &mut Context<'_>) -> Poll<Error> {
        let phase = self.phase.get();
        if phase != self.timed {
            self.timed = phase;
            let limit = if phase == Phase::Head { HEAD_LIMIT } else { IDLE_LIMIT };
            self.read_timer.as_mut().reset(Instant::now() + limit);
        }
        if phase == Phase::Request {
            return Poll::Pending;
        }

        self.read_timer.as_mut().poll(context).map(|()| ErrorKind::TimedOut.into())
    }

    /// Passes the outcome of a write on, or fails if the client has read nothing for too long.
    fn limit_write<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<Result<T, Error>>,
    ) -> Poll<Result<T, Error>> {
        if written.is_ready() {
            self.write_timer = None;
            return written;
        }

        let timer = self.write_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(READER_LIMIT)));
        timer.as_mut().poll(context).map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<(), Error>> {
        let filled = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() {
            return Poll::Ready(Err(ready!(self.poll_read_limit(context))));
        }

        if buffer.filled().len() > filled && self.phase.get() == Phase::Idle {
            self.phase.set(Phase::Head);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize, Error>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limit_write(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[std::io::IoSlice<'_>],
    ) -> Poll<Result<usize, Error>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.limit_write(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;

    /// Returns the stream of a server and the end of its client. The pipe between them holds `capacity` unread bytes.
    fn stream(capacity: usize) -> (TimedStream<DuplexStream>, DuplexStream) {
        let (own, other) = duplex(capacity);
        (TimedStream::new(own), other)
    }

    /// Reads a byte that never comes. Returns how long the stream waited, in seconds.
    async fn seconds_until_failure(stream: &mut TimedStream<DuplexStream>) -> u64 {
        let started = Instant::now();
        let error = stream.read_u8().await.expect_err("no byte comes");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        started.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_must_be_complete_within_its_limit() {
        let (mut silent, _other) = stream(16);
        assert_eq!(seconds_until_failure(&mut silent).await, 10);

        let (mut slow, mut other) = stream(16);
        other.write_u8(b'P').await.expect("space");
        slow.read_u8().await.expect("a byte");
        let started = Instant::now();
        // Each byte comes soon after the one before.
        let error = loop {
            other.write_u8(b'x').await.expect("space");
            slow.read_u8().await.expect("a byte");
            if let Ok(read) = tokio::time::timeout(Duration::from_secs(3), slow.read_u8()).await {
                break read.expect_err("no further byte");
            }
        };
        assert_eq!((error.kind(), started.elapsed().as_secs()), (ErrorKind::TimedOut, 10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_between_requests_has_a_longer_limit_and_a_request_has_none() {
        let (mut stream, mut other) = stream(16);
        other.write_u8(b'P').await.expect("space");
        stream.read_u8().await.expect("a byte");

        let open = stream.phase().begin_request();
        let reading = tokio::time::timeout(Duration::from_secs(3_600), stream.read_u8());
        assert!(reading.await.is_err(), "the request itself has time limits");

        drop(open);
        assert_eq!(seconds_until_failure(&mut stream).await, 75);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_ends_its_connection() {
        let (mut stream, mut other) = stream(4);
        let _open = stream.phase().begin_request();
        let started = Instant::now();
        let error = stream.write_all(b"more than the client reads").await.expect_err("nobody reads");
        assert_eq!((error.kind(), started.elapsed().as_secs()), (ErrorKind::TimedOut, 60));

        let mut some = [0; 4];
        other.read_exact(&mut some).await.expect("bytes");
        stream.write_all(b"more").await.expect("a client that reads again");
    }
}
