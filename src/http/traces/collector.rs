//! The HTTP client of the exporter.

use std::{pin::Pin, time::Duration};

use bytes::Bytes;
use http::{Request, Response, header};
use opentelemetry_http::{HttpClient, HttpError};
use reqwest::Client;
use tokio::runtime::Handle;

use crate::{
    client::{client_builder, read_certificates},
    settings::{TraceSettings, is_loopback_host},
};

/// Time limit of one request.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// Sends requests on the runtime of the server. The thread of the exporter has none.
#[derive(Debug)]
pub(super) struct CollectorClient {
    client: Client,
    runtime: Handle,
}

impl CollectorClient {
    /// Creates the client. Call it in a Tokio runtime.
    ///
    /// # Errors
    /// Describes why the certificates cannot be used.
    pub(super) fn new(settings: &TraceSettings) -> Result<Self, String> {
        let mut builder = client_builder(REQUEST_LIMIT).timeout(REQUEST_LIMIT);
        if settings.endpoint.scheme() == "http" {
            // Plain HTTP verifies no certificate: the system's certificates are not read.
            builder = builder.tls_certs_only([]);
        } else if let Some(path) = &settings.ca_file {
            builder = builder.tls_certs_merge(read_certificates(path)?);
        }
        // A proxy cannot reach the loopback addresses of this machine.
        if settings.endpoint.host_str().is_some_and(is_loopback_host) {
            builder = builder.no_proxy();
        }

        let client = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { client, runtime: Handle::current() })
    }
}

impl HttpClient for CollectorClient {
    fn send_bytes<'client, 'sending>(
        &'client self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sending>>
    where
        'client: 'sending,
        Self: 'sending,
    {
        let client = self.client.clone();
        let sending = self.runtime.spawn(async move { send(&client, request).await });
        Box::pin(async move { sending.await? })
    }
}

/// Sends a request. The body of the response is not read, because a collector may send one of any length.
async fn send(client: &Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let received = client.execute(request.try_into()?).await?;
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = received.status();
    if let Some(pause) = received.headers().get(header::RETRY_AFTER) {
        response.headers_mut().insert(header::RETRY_AFTER, pause.clone());
    }

    Ok(response)
}
