//! Refusals that tell a client how to get a token (RFC 6750, RFC 9728).

use http::{HeaderValue, StatusCode, header};

use super::resource::Resource;
use crate::http::refusal::Refusal;

/// The parts of a challenge besides the address of the metadata.
#[derive(Clone, Copy, Debug)]
pub(super) struct Challenge<'a> {
    pub(super) resource: &'a Resource,
    /// The scopes that every token must have.
    pub(super) scopes: &'a [String],
}

impl Challenge<'_> {
    /// Returns the refusal of a request without a credential.
    pub(super) fn sign_in(self) -> Refusal {
        let message = "the request has no credential: the client must sign in, or send an API key in the header X-Api-Key";
        self.refuse(StatusCode::UNAUTHORIZED, message, "")
    }

    /// Returns the refusal of a token.
    pub(super) fn invalid_token(self, problem: &str) -> Refusal {
        let message = format!("the user token is not accepted: {problem}");
        self.refuse(StatusCode::UNAUTHORIZED, &message, "invalid_token")
    }

    /// Returns the refusal of a token that lacks scopes.
    pub(super) fn insufficient_scope(self) -> Refusal {
        let message = format!("the user token needs the scopes {}", self.scopes.join(" "));
        self.refuse(StatusCode::FORBIDDEN, &message, "insufficient_scope")
    }

    fn refuse(self, status: StatusCode, message: &str, error: &str) -> Refusal {
        let refusal = Refusal::new(status, message);
        match HeaderValue::from_str(&self.header(message, error)) {
            Ok(challenge) => refusal.header(header::WWW_AUTHENTICATE, challenge),
            // The host of the request cannot be in a header.
            Err(_) => refusal,
        }
    }

    fn header(self, message: &str, error: &str) -> String {
        let mut parameters = vec![("resource_metadata", self.resource.metadata_address())];
        if !self.scopes.is_empty() {
            parameters.push(("scope", self.scopes.join(" ")));
        }
        if !error.is_empty() {
            parameters.push(("error", error.to_owned()));
            parameters.push(("error_description", message.to_owned()));
        }

        let parameters = parameters.iter().map(|(name, value)| format!("{name}=\"{}\"", quotable(value)));
        format!("Bearer {}", parameters.collect::<Vec<_>>().join(", "))
    }
}

/// Returns the characters of a text that a quoted value may contain.
fn quotable(text: &str) -> String {
    text.chars().filter(|character| (' '..='~').contains(character) && !"\"\\".contains(*character)).collect()
}
