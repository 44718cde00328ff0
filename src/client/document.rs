//! Small JSON documents of hosts other than the service: the metadata and the keys of an issuer.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, header};
use reqwest::Response;

use super::{
    address::{AddressPolicy, HostUrl},
    connection::Connections,
    response::{header_text, read_body},
    transport_error::TransportError,
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
}

/// Reads documents of one host and of the addresses that it names. No redirect is followed.
#[derive(Debug)]
pub struct DocumentClient {
    connections: Connections,
}

impl DocumentClient {
    /// Creates a client that trusts the certificates of `ca_file` in addition to the system's. Only a `host` on this
    /// machine may name addresses of this machine.
    pub fn new(host: &HostUrl, ca_file: Option<PathBuf>) -> Self {
        let policy = AddressPolicy::for_service(host);
        Self { connections: Connections::new(ca_file, READ_LIMIT, policy) }
    }

    /// Reads the document at `address`; `None` if the host does not have it.
    pub async fn read(&self, address: &str) -> Result<Option<Document>, String> {
        let url = self.connections.policy.parse(address)?;
        let reading = async {
            let client = self.connections.client(&url).map_err(|error| error.to_string())?;
            let sent = client.get(url).header(header::ACCEPT, "application/json").send().await;
            read_response(sent.map_err(|error| TransportError::from(error).to_string())?).await
        };

        let outcome = tokio::time::timeout(READ_LIMIT, reading).await;
        outcome.unwrap_or_else(|_| Err(format!("no response came within {} s", READ_LIMIT.as_secs())))
    }
}

async fn read_response(response: Response) -> Result<Option<Document>, String> {
    let status = response.status();
    if matches!(status.as_u16(), 404 | 405 | 410) {
        return Ok(None);
    }
    if !status.is_success() {
        return Err(format!("the status is {}", status.as_u16()));
    }

    let max_age = max_age(response.headers());
    let body = read_body(response, MAX_DOCUMENT_BYTES).await.map_err(|error| match error {
        TransportError::TooLong => format!("the document is longer than {} KiB", MAX_DOCUMENT_BYTES / 1024),
        error => error.to_string(),
    })?;

    Ok(Some(Document { body, max_age }))
}

/// Reads `max-age` of the header `Cache-Control`.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let directives = header_text(headers, header::CACHE_CONTROL)?.split(',');
    let seconds = directives.filter_map(|directive| directive.trim().strip_prefix("max-age="));
    seconds.filter_map(|seconds| seconds.parse().ok()).map(Duration::from_secs).next()
}
