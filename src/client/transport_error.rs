//! Why a request has no response, and the failure of its call.

use std::{error::Error, time::Duration};

use reqwest::Url;
use rustls::CertificateError;

use super::{MAX_RESPONSE_BYTES, ServiceHost, key::ApiKey, retry::RequestKind};
use crate::{
    failure::{Code, Failure, quote},
    service::request::Request,
};

/// Advice for a writing request without a recovery hint of its own.
const CHECK_FIRST: &str = "check the current state before you call again";

/// Why a request has no response.
#[derive(Debug, thiserror::Error)]
pub(super) enum TransportError {
    #[error("the request could not be set up: {0}")]
    Setup(String),
    #[error("no connection to {host}: {reason}")]
    Connect { host: String, reason: String },
    #[error("the secure connection could not be established: {reason}")]
    Tls { reason: String, cause: rustls::Error },
    #[error("no response came within {} s", .0.as_secs())]
    Timeout(Duration),
    #[error("the connection was lost before a response came: {0}")]
    Lost(String),
    #[error("the connection was lost before the response was complete: {0}")]
    Truncated(String),
    #[error("the response is longer than {} MiB", MAX_RESPONSE_BYTES / 1024 / 1024)]
    TooLong,
}

impl TransportError {
    pub(super) fn may_have_been_sent(&self) -> bool {
        !matches!(self, Self::Setup(_) | Self::Connect { .. } | Self::Tls { .. })
    }

    /// Converts the error of a request, after `attempts` requests, into a failure. The key is masked in the message.
    pub(super) fn into_failure(self, request: &Request, key: &ApiKey, attempts: u32) -> Failure {
        let message = format!("{}: {self}{}", request.label(), attempts_note(attempts));
        let message = quote(&key.mask_text(message));

        if RequestKind::of(request) == RequestKind::NotRepeatable && self.may_have_been_sent() {
            let advice = request.operation.failure_hints.recovery.unwrap_or(CHECK_FIRST);
            return Failure::new(Code::OutcomeUnknown, message)
                .uncertain(format!("it may have happened: {advice}"));
        }

        self.failure(message, ServiceHost::of(request))
    }

    /// Returns the failure of a request to `host` that has changed nothing.
    pub(super) fn failure(&self, message: String, host: ServiceHost) -> Failure {
        let (code, hint) = self.code_and_hint(host);
        Failure::new(code, message).hint(hint)
    }

    fn code_and_hint(&self, host: ServiceHost) -> (Code, String) {
        let setting = host.setting();

        let (code, hint) = match self {
            Self::Timeout(_) => (
                Code::Timeout,
                "call again later, or ask for less; the setting TAS_TIMEOUT_S is the time limit",
            ),
            Self::Truncated(_) => (
                Code::BadResponse,
                "call again later; if it fails again, a proxy or gateway cuts off responses of the service",
            ),
            Self::TooLong => {
                (Code::BadResponse, "ask for less, for example with a smaller `argument:page_size`")
            }
            Self::Setup(_) => (Code::NotConfigured, "check TAS_CA_FILE and the proxy variables"),
            Self::Tls { cause, .. } => return (Code::ServiceUnavailable, tls_hint(cause, setting)),
            Self::Connect { .. } | Self::Lost(_) => {
                let hint = format!(
                    "check that the service is up and that {setting} and the proxy variables are right, then call again"
                );
                return (Code::ServiceUnavailable, hint);
            }
        };

        (code, hint.to_owned())
    }
}

impl From<reqwest::Error> for TransportError {
    fn from(error: reqwest::Error) -> Self {
        let host = error.url().and_then(host_and_port).unwrap_or_else(|| "the service".to_owned());
        // The query of the address may be a secret.
        let error = error.without_url();
        if error.is_builder() {
            return Self::Setup(error_chain(&error));
        }

        // The errors of `reqwest` and of the client below it only name their kinds, which the variants name too.
        let cause = error.source().map(|error| error.source().unwrap_or(error));
        let text = error_chain(cause.unwrap_or(&error));

        // A TLS error is also a connect error, so that it is recognized first.
        if let Some(cause) = find_tls_error(&error) {
            Self::Tls { reason: text, cause: cause.clone() }
        } else if error.is_connect() {
            Self::Connect { host, reason: connect_reason(&error) }
        } else {
            Self::Lost(text)
        }
    }
}

/// Returns what helps against a TLS error. `setting` names the address of the server.
fn tls_hint(error: &rustls::Error, setting: &str) -> String {
    use CertificateError::{
        Expired, ExpiredContext, InvalidPurpose, InvalidPurposeContext, NotValidForName,
        NotValidForNameContext, NotValidYet, NotValidYetContext, UnknownIssuer,
    };

    let problem = if let rustls::Error::InvalidCertificate(problem) = error { Some(problem) } else { None };
    match problem {
        Some(Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. }) => "check the clock of this machine; if it is right, the operator of the server must renew the certificate".to_owned(),
        Some(NotValidForName | NotValidForNameContext { .. }) => format!("correct the host in {setting}, or let the operator of the server add the host to the certificate"),
        Some(UnknownIssuer) => "set TAS_CA_FILE to the certificate of the private authority, or of the proxy that inspects connections, if you trust it".to_owned(),
        Some(InvalidPurpose | InvalidPurposeContext { .. }) => "the operator must give the server a certificate that is issued for servers".to_owned(),
        _ => format!("check the address in {setting}, and that the server speaks TLS 1.2 or 1.3 there"),
    }
}

fn find_tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    // `source` of an I/O error skips the error that it wraps, and the connector wraps TLS errors in I/O errors.
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);

    error
        .downcast_ref()
        .or_else(|| wrapped.and_then(|wrapped| find_tls_error(wrapped)))
        .or_else(|| error.source().and_then(find_tls_error))
}

fn host_and_port(url: &Url) -> Option<String> {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}{port}", url.host_str()?))
}

/// Returns why a connection was not opened, without the names that libraries have for it.
fn connect_reason(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let kind = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);

    match (kind, cause.to_string()) {
        (Some(std::io::ErrorKind::ConnectionRefused), _) => "connection refused".to_owned(),
        (_, text) if text.starts_with("failed to lookup address") => "name not found".to_owned(),
        (_, text) => text,
    }
}

/// The number of requests for use in a message, if there was more than one.
pub(super) fn attempts_note(attempts: u32) -> String {
    if attempts > 1 { format!(" ({attempts} attempts)") } else { String::new() }
}

/// Returns the error and its sources in one line. A source that the text ends in already is not repeated.
pub(super) fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();

    while let Some(error) = source {
        let message = error.to_string();
        if !text.ends_with(&message) {
            text = format!("{text}: {message}");
        }
        source = error.source();
    }

    text
}
