//! What is wrong with the certificate of a server, in words, and what helps.

use std::{error::Error, fmt};

use jiff::Timestamp;
use rustls::{CertificateError, pki_types::UnixTime};

use crate::text::shorten_line;

/// Longest name in a certificate that a message repeats, in characters.
const MAX_NAME_CHARS: usize = 100;

/// Largest number of names in a certificate that a message repeats.
const MAX_NAMES: usize = 3;

/// The name that the TLS library gives to this error: the server uses the certificate of a certificate authority.
const AUTHORITY_AS_SERVER: &str = "CaUsedAsEndEntity";

/// The reason why a TLS handshake failed.
#[derive(Debug)]
pub(super) struct TlsProblem {
    kind: Kind,
    /// What is wrong, as a clause.
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Expired,
    NotYetValid,
    OtherName,
    UnknownIssuer,
    NotOfServer,
    /// No certificate, or one that is wrong in another way.
    Other,
}

impl TlsProblem {
    /// Describes an error of the handshake. `text` describes it in the words of the library.
    pub(super) fn of(error: &rustls::Error, text: String) -> Self {
        let described = match error {
            rustls::Error::InvalidCertificate(problem) => describe(problem),
            _ => None,
        };
        let (kind, text) = described.unwrap_or((Kind::Other, text));
        Self { kind, text }
    }

    /// Returns what helps. `setting` names the address of the server.
    pub(super) fn hint(&self, setting: &str) -> String {
        match self.kind {
            Kind::Expired => "the operator of the server must renew the certificate; if the date is in the future, correct the clock of this machine".to_owned(),
            Kind::NotYetValid => "correct the clock of this machine if it is behind; otherwise, the operator of the server must replace the certificate".to_owned(),
            Kind::OtherName => format!("correct the host in {setting}, or let the operator of the server add the host to the certificate"),
            Kind::UnknownIssuer => "set TAS_CA_FILE to the certificate of the private authority, or of the proxy that inspects connections, if you trust it".to_owned(),
            Kind::NotOfServer => "the operator must give the server a certificate that is issued for servers".to_owned(),
            Kind::Other => format!("check the address in {setting}, and that the server speaks TLS 1.2 or 1.3 there"),
        }
    }
}

impl fmt::Display for TlsProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Returns the error of the handshake that led to an error of a request.
pub(super) fn find_tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    // `source` of an I/O error skips the error that it wraps, and the connector wraps TLS errors in I/O errors.
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);

    error
        .downcast_ref()
        .or_else(|| wrapped.and_then(|wrapped| find_tls_error(wrapped)))
        .or_else(|| error.source().and_then(find_tls_error))
}

fn describe(problem: &CertificateError) -> Option<(Kind, String)> {
    use CertificateError::{
        Expired, ExpiredContext, InvalidPurpose, InvalidPurposeContext, NotValidForName,
        NotValidForNameContext, NotValidYet, NotValidYetContext, Other, UnknownIssuer,
    };

    Some(match problem {
        Expired => (Kind::Expired, "the certificate of the server has expired".to_owned()),
        ExpiredContext { not_after, .. } => (
            Kind::Expired,
            format!("the certificate of the server has expired: it was valid until {}", date(*not_after)),
        ),
        NotValidYet => (Kind::NotYetValid, "the certificate of the server is not valid yet".to_owned()),
        NotValidYetContext { not_before, .. } => (
            Kind::NotYetValid,
            format!("the certificate of the server is not valid yet: it is valid from {}", date(*not_before)),
        ),
        NotValidForName => (Kind::OtherName, "the certificate of the server is for another name".to_owned()),
        NotValidForNameContext { expected, presented } => {
            let (expected, presented) = (expected.to_str(), names(presented));
            (
                Kind::OtherName,
                format!("the certificate of the server is not for `{expected}`, but for {presented}"),
            )
        }
        UnknownIssuer => (
            Kind::UnknownIssuer,
            "the certificate of the server is issued by an authority that this machine does not trust"
                .to_owned(),
        ),
        InvalidPurpose | InvalidPurposeContext { .. } => (
            Kind::NotOfServer,
            "the certificate is not a server certificate: it is issued for another purpose".to_owned(),
        ),
        Other(error) if error.to_string().contains(AUTHORITY_AS_SERVER) => (
            Kind::NotOfServer,
            "the certificate is not a server certificate: it is that of a certificate authority".to_owned(),
        ),
        _ => return None,
    })
}

fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(|_| "an unknown time".to_owned(), |time| time.to_string())
}

/// Returns the first names in a certificate. Whoever runs the server chooses them.
fn names(presented: &[String]) -> String {
    let shown =
        presented.iter().take(MAX_NAMES).map(|name| format!("`{}`", shorten_line(name, MAX_NAME_CHARS)));
    match presented.len().saturating_sub(MAX_NAMES) {
        _ if presented.is_empty() => "no name".to_owned(),
        0 => shown.collect::<Vec<_>>().join(", "),
        more => format!("{} and {more} more", shown.collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::pki_types::ServerName;

    use super::*;

    #[test]
    fn a_problem_of_a_certificate_is_said_in_words_and_only_an_unknown_issuer_needs_a_file() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let expected = ServerName::try_from("tas.example").expect("a name");
        let presented = ["a", "b", "c", "d"].map(str::to_owned).to_vec();

        for (problem, kind, words) in [
            (
                CertificateError::ExpiredContext { time: at(9), not_after: at(0) },
                Kind::Expired,
                "has expired: it was valid until 1970-01-01T00:00:00Z",
            ),
            (
                CertificateError::NotValidYetContext { time: at(0), not_before: at(9) },
                Kind::NotYetValid,
                "is not valid yet: it is valid from 1970-01-01T00:00:09Z",
            ),
            (
                CertificateError::NotValidForNameContext { expected, presented },
                Kind::OtherName,
                "is not for `tas.example`, but for `a`, `b`, `c` and 1 more",
            ),
            (CertificateError::UnknownIssuer, Kind::UnknownIssuer, "that this machine does not trust"),
            (CertificateError::InvalidPurpose, Kind::NotOfServer, "is not a server certificate"),
            (CertificateError::BadEncoding, Kind::Other, "as the library says"),
        ] {
            let problem = TlsProblem::of(&problem.into(), "as the library says".to_owned());
            assert_eq!(problem.kind, kind);
            assert!(problem.to_string().contains(words), "{problem}");
            let names_file = problem.hint("TAS_BASE_URL").contains("TAS_CA_FILE");
            assert_eq!(names_file, kind == Kind::UnknownIssuer, "{problem}");
        }
    }
}
