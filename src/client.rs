//! The HTTP client for the hosts of the service: API key, addresses, limits, retries and TLS. It does not know tools or
//! projects.
//!
//! - [`ServiceClient`] sends a [`HttpRequest`] to a [`ServiceHost`] and returns a [`HttpResponse`], or opens a file as a
//!   [`DownloadStream`].
//! - [`KeySource`] gets the key: from a setting, a file, a command, or the [`KeyStore`] of the user.
//! - [`StorageClient`] sends to presigned addresses, without the key.
//! - [`RequestKind`] states which failures are transient; [`RETRY_POLICY`] states how often a request is repeated.

mod api_key;
mod byte_range;
mod certificates;
mod config;
mod connector;
mod document_client;
mod download_response;
mod download_stream;
mod file_address;
mod host_probe;
mod host_resolver;
mod host_url;
mod http_client;
mod http_clients;
mod http_date;
mod http_request;
mod http_response;
mod json;
mod key_command;
mod key_lookup;
mod key_source;
mod key_store;
mod limits;
mod lookup_failure;
mod named_address;
mod presigned_address;
mod proxy;
mod redirect;
mod request_kind;
mod response_body;
mod response_head;
mod retry;
mod service_client;
mod service_host;
mod service_refusal;
mod storage_client;
mod storage_error;
mod storage_xml;
mod stored_key;
mod tcp_connector;
mod transport;
mod transport_error;
mod transport_failure;

pub use api_key::{ApiKey, KeyKind};
pub use certificates::read_certificates;
pub use config::ClientConfig;
pub use document_client::{Document, DocumentClient};
pub use download_response::{DownloadResponse, OpenError};
pub use download_stream::{DownloadStream, ResumeFrom, StreamError};
pub use host_probe::HostProbe;
pub use host_url::HostUrl;
pub use http_client::HttpClient;
pub use http_request::{HttpRequest, Subject};
pub use http_response::{FileMetadata, HttpResponse};
pub use json::{parse_json, repaired_json};
pub use key_source::KeySource;
pub use key_store::{FoundKey, KeyPlace, KeyStore, KeyStoreError, StoredRecord};
pub use limits::{CALL_LIMIT, MAX_RESPONSE_BYTES};
pub use named_address::AddressPolicy;
pub use presigned_address::PresignedAddress;
pub use proxy::proxy_for;
pub use request_kind::RequestKind;
pub use retry::{RETRY_POLICY, RetryPolicy};
pub use service_client::ServiceClient;
pub use service_host::ServiceHost;
pub use service_refusal::refusal_failure;
pub use storage_client::StorageClient;
pub use storage_error::StorageError;
pub use storage_xml::reports_expired_address;
pub use stored_key::StoredKey;
