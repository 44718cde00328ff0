//! The HTTP client of the exporter.

use std::{pin::Pin, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;

use crate::{client, settings::TraceSettings};

/// Time limit of one request.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// Sends requests on the runtime of the server. The thread of the exporter has none.
#[derive(Debug)]
pub(super) struct CollectorClient {
    client: reqwest::Client,
    runtime: Handle,
}

impl CollectorClient {
    /// Creates the client. Call it in a Tokio runtime.
    ///
    /// # Errors
    /// Describes why the certificates cannot be used.
    pub(super) fn new(settings: &TraceSettings) -> Result<Self, String> {
        let client = client::http_client(&settings.endpoint, settings.ca_file.clone(), REQUEST_LIMIT)?;
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
        // The time limit is set in the task, because only a task of the runtime has a clock.
        let exchange = async move {
            let sending = client.execute(request.try_into()?);
            Ok::<_, HttpError>(tokio::time::timeout(REQUEST_LIMIT, sending).await??)
        };
        let sending = self.runtime.spawn(exchange);

        Box::pin(async move {
            let received = sending.await??;
            let mut response = Response::new(Bytes::new());
            *response.status_mut() = received.status();
            *response.headers_mut() = received.headers().clone();

            Ok(response)
        })
    }
}
