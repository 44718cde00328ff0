//! Transport errors as failures of calls.

use super::{ApiKey, HttpRequest, RequestKind, ServiceHost, transport_error::TransportError};
use crate::failure::{Code, Failure, quote};

/// Advice for a writing request without a recovery hint of its own.
const CHECK_FIRST: &str = "check the current state before you call again";

impl TransportError {
    /// Converts the error of a request, after `attempts` requests, into a failure. `key` is masked in the message.
    pub(super) fn into_failure(
        self,
        request: &HttpRequest<'_>,
        key: Option<&ApiKey>,
        attempts: u32,
    ) -> Failure {
        let attempts = attempts_note(attempts);
        let message = format!("{}: {self}{attempts}", request.label());
        let message = key.map_or(message.clone(), |key| key.mask_text(message));
        let message = quote(&message);

        if request.kind == RequestKind::NotRepeatable && self.may_have_been_sent() {
            let advice = request.hints.recovery.unwrap_or(CHECK_FIRST);
            return Failure::new(Code::OutcomeUnknown, message)
                .uncertain(format!("it may have happened: {advice}"));
        }

        let (code, hint) = self.code_and_hint(ServiceHost::for_url_base(request.url_base));

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
            Self::TooLong => (Code::BadResponse, "ask for less, for example with a smaller `page_size`"),
            Self::Setup(_) => (Code::NotConfigured, "check TAS_CA_FILE and the proxy variables"),
            Self::Tls(_) => (
                Code::ServiceUnavailable,
                "check the address; set TAS_CA_FILE to trust a private certificate authority",
            ),
            Self::Connect(_) | Self::Lost(_) => {
                let hint = format!(
                    "check that the service is up and that {setting} and the proxy variables are right, then call again"
                );
                return (Code::ServiceUnavailable, hint);
            }
        };

        (code, hint.to_owned())
    }
}

/// Returns the number of requests for use in a message, or nothing for a single request.
pub(super) fn attempts_note(attempts: u32) -> String {
    if attempts > 1 { format!(" ({attempts} attempts)") } else { String::new() }
}
