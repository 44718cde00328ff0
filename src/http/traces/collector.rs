//! The HTTP client of the exporter.

use std::{pin::Pin, sync::Arc, time::Duration};

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
    client: Arc<client::HttpClient>,
    runtime: Handle,
}

impl CollectorClient {
    /// Creates the client. Call it in a Tokio runtime.
    ///
    /// # Errors
    /// Describes why the certificates cannot be used.
    pub(super) fn new(settings: &TraceSettings) -> Result<Self, String> {
        let ca_file = settings.ca_file.as_deref();
        let client = client::HttpClient::for_host(&settings.endpoint, ca_file, REQUEST_LIMIT)?;

        Ok(Self { client: Arc::new(client), runtime: Handle::current() })
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
        let client = Arc::clone(&self.client);
        // The time limit is set in the task, because only a task of the runtime has a clock.
        let exchange = async move { tokio::time::timeout(REQUEST_LIMIT, client.exchange(request)).await };
        let sending = self.runtime.spawn(exchange);

        Box::pin(async move { Ok(sending.await???.map(|()| Bytes::new())) })
    }
}
