//! Small JSON documents of hosts other than the service: the metadata and the keys of an issuer.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use jiff::Timestamp;

use super::{
    AddressPolicy, HostUrl,
    host_url::ConnectionKind,
    http_client::IncomingResponse,
    http_clients::HttpClients,
    http_date::parse_http_date,
    response_head::header_text,
    transport_error::{TransportError, error_chain},
};

/// Time limit of reading one document.
const READ_LIMIT: Duration = Duration::from_secs(5);

/// Longest document, in bytes.
const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// A document with the facts that its response states.
#[derive(Debug)]
pub struct Document {
    /// The content.
    pub body: Bytes,
    /// How long the content is valid, if the response states it.
    pub max_age: Option<Duration>,
    /// The date and time of the host.
    pub date: Option<Timestamp>,
}

/// Reads documents of one host and of the addresses that it names. No redirect is followed.
#[derive(Debug)]
pub struct DocumentClient {
    http_clients: HttpClients,
}

impl DocumentClient {
    /// Creates a client that trusts the certificates of `ca_file` in addition to the system's. Only a `host` on this machine
    /// may name addresses of this machine.
    pub fn new(host: &HostUrl, ca_file: Option<PathBuf>) -> Self {
        let policy = AddressPolicy::for_service(host);
        Self { http_clients: HttpClients::new(ca_file, READ_LIMIT, policy) }
    }

    /// Reads the document at `address`; `None` if the host does not have it.
    ///
    /// # Errors
    /// Describes why the document cannot be read.
    pub async fn read(&self, address: &str) -> Result<Option<Document>, String> {
        let url = self.http_clients.policy().parse(address)?;
        let reading = async {
            let client = self.http_clients.get(ConnectionKind::from_url(&url));
            let client = client.map_err(|error| error.to_string())?;
            let accepted =
                HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static("application/json"))]);
            let response = client.get(url.as_str(), accepted).await.map_err(|error| error.to_string())?;
            read_response(response).await
        };

        let outcome = tokio::time::timeout(READ_LIMIT, reading).await;
        outcome.unwrap_or_else(|_| Err(format!("no response came within {} s", READ_LIMIT.as_secs())))
    }
}

async fn read_response(response: IncomingResponse) -> Result<Option<Document>, String> {
    let IncomingResponse { head, body } = response;
    let status = head.status;
    if matches!(status.as_u16(), 404 | 405 | 410) {
        return Ok(None);
    }
    if !status.is_success() {
        return Err(format!("the status is {}", status.as_u16()));
    }

    let (max_age, date) = (max_age(&head.headers), head.text(header::DATE).and_then(parse_http_date));
    let body = body.read_up_to(MAX_DOCUMENT_BYTES).await.map_err(|error| match error {
        TransportError::TooLong => format!("the document is longer than {} KiB", MAX_DOCUMENT_BYTES / 1024),
        error => error_chain(&error),
    })?;

    Ok(Some(Document { body, max_age, date }))
}

/// Reads `max-age` of the header `Cache-Control`.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let directives = header_text(headers, header::CACHE_CONTROL)?.split(',');
    let seconds = directives.filter_map(|directive| directive.trim().strip_prefix("max-age="));
    seconds.filter_map(|seconds| seconds.parse().ok()).map(Duration::from_secs).next()
}
