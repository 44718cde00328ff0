//! Sends HTTP requests on connections that are kept for later requests.

use std::{path::Path, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, header};
use http_body::Body;
use http_body_util::{BodyExt as _, Either, Full, combinators::UnsyncBoxBody};
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use url::Url;

use super::{
    certificates::{no_tls, system_tls},
    connector::Connector,
    host_url::ConnectionKind,
    response_body::ResponseBody,
    response_head::ResponseHead,
    transport_error::{BoxError, TransportError},
};

/// Time limit of opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Share of the request's time limit that opening a connection may take. A connection that does not open fails before the
/// request does, so that it is certain that nothing was sent.
const CONNECT_SHARE: f64 = 0.8;

/// How long an idle connection is kept. The span is shorter than that of most servers, so that a request seldom meets a
/// connection that the server is closing.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// The header `User-Agent`.
const USER_AGENT: &str = concat!("tas-mcp/", env!("CARGO_PKG_VERSION"));

/// The body of a request: bytes, or a stream.
pub(super) type RequestBody = Either<Full<Bytes>, UnsyncBoxBody<Bytes, BoxError>>;

/// Sends requests on one kind of connection. Redirects are not followed: a request that is sent elsewhere must not contain
/// the API key.
#[derive(Debug)]
pub struct HttpClient {
    client: Client<Connector, RequestBody>,
}

/// A response whose body has not been read.
#[derive(Debug)]
pub(super) struct IncomingResponse {
    pub(super) head: ResponseHead,
    pub(super) body: ResponseBody,
}

impl HttpClient {
    /// Creates a client that trusts the certificates of `ca_file` in addition to the system's. `timeout` is the time limit
    /// of one request, which the caller sets.
    ///
    /// # Errors
    /// Describes why the certificates cannot be used.
    pub(super) fn new(
        kind: ConnectionKind,
        ca_file: Option<&Path>,
        timeout: Duration,
    ) -> Result<Self, String> {
        let tls = if kind == ConnectionKind::Plain { no_tls() } else { system_tls(ca_file) }?;
        let limit = CONNECT_TIMEOUT.min(timeout.mul_f64(CONNECT_SHARE));

        let mut builder = Client::builder(TokioExecutor::new());
        builder.pool_idle_timeout(IDLE_TIMEOUT).pool_timer(TokioTimer::new());

        Ok(Self { client: builder.build(Connector::new(kind, tls, limit)) })
    }

    /// Creates a client for requests to the host of `url`. Plain HTTP uses no proxy.
    ///
    /// # Errors
    /// Describes why the certificates cannot be used.
    pub fn for_host(url: &Url, ca_file: Option<&Path>, timeout: Duration) -> Result<Self, String> {
        Self::new(ConnectionKind::from_url(url), ca_file, timeout)
    }

    /// Sends a request, and returns status and headers of the response. The body is not read.
    ///
    /// # Errors
    /// Describes why there is no response.
    pub async fn exchange(&self, request: Request<Bytes>) -> Result<Response<()>, String> {
        let request = request.map(bytes_body);
        let received = self.send(request).await.map_err(|error| error.to_string())?;

        let mut response = Response::new(());
        *response.status_mut() = received.head.status;
        *response.headers_mut() = received.head.headers;

        Ok(response)
    }

    /// Reads from `address`.
    pub(super) async fn get(
        &self,
        address: &str,
        headers: HeaderMap,
    ) -> Result<IncomingResponse, TransportError> {
        let mut request = Request::get(address).body(bytes_body(Bytes::new()))?;
        *request.headers_mut() = headers;

        self.send(request).await
    }

    /// Sends a request.
    pub(super) async fn send(
        &self,
        mut request: Request<RequestBody>,
    ) -> Result<IncomingResponse, TransportError> {
        let address = request.uri().clone();
        let headers = request.headers_mut();
        headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));

        let (parts, body) = self.client.request(request).await?.into_parts();
        let head = ResponseHead::new(address, parts);

        Ok(IncomingResponse { head, body: ResponseBody::new(body) })
    }
}

/// Returns a body of these bytes.
pub(super) fn bytes_body(bytes: Bytes) -> RequestBody {
    Either::Left(Full::new(bytes))
}

/// Returns a body that is read while it is sent.
pub(super) fn streamed_body(
    body: impl Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
) -> RequestBody {
    Either::Right(body.map_err(Into::into).boxed_unsync())
}
