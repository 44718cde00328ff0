//! The issuer of tokens: its metadata and its keys (RFC 8414, `OpenID` Connect Discovery).

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use jsonwebtoken::Algorithm;
use serde::Deserialize;
use tokio::time::Instant;

use super::key_set::KeySet;
use crate::{
    client::{Document, DocumentClient, HostUrl},
    settings::OauthSettings,
};

/// How long keys are used if the issuer states nothing.
const DEFAULT_MAX_AGE: Duration = Duration::from_secs(3600);

/// The shortest and the longest time that keys are used, whatever the issuer states.
const MAX_AGE_LIMITS: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(24 * 3600));

/// How long keys are used after their time if the issuer cannot be reached.
const GRACE: Duration = Duration::from_secs(3600);

/// Pause before the keys are read again because a token names an unknown key, or because reading has failed.
const REFRESH_PAUSE: Duration = Duration::from_secs(10);

/// The issuer cannot be asked, so that no token can be verified.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct IssuerUnavailable(String);

/// What an examination of the issuer has found.
#[derive(Debug)]
pub(in crate::http) struct IssuerReport {
    pub(in crate::http) name: String,
    /// Number of keys that can sign tokens.
    pub(in crate::http) keys: usize,
    /// How much the clock of the issuer is ahead of the clock of this machine, in seconds.
    pub(in crate::http) clock_ahead_s: Option<i64>,
}

/// The issuer of tokens, with its keys.
#[derive(Debug)]
pub(super) struct Issuer {
    name: String,
    url: HostUrl,
    client: DocumentClient,
    known: Mutex<KnownKeys>,
    /// Held while keys are read, so that one reader serves all requests.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug, Default)]
struct KnownKeys {
    keys: Arc<KeySet>,
    /// When the keys have to be read again; `None` before they were read.
    expires_at: Option<Instant>,
    /// The last attempt to read keys, and why it failed.
    attempt: Option<(Instant, Result<(), String>)>,
}

impl Issuer {
    pub(super) fn new(settings: &OauthSettings) -> Self {
        Self {
            name: settings.issuer.clone(),
            url: settings.issuer_url.clone(),
            client: DocumentClient::new(&settings.issuer_url, settings.ca_file.clone()),
            known: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the issuer as tokens name it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the keys of the issuer. They are read again if they are old, or if none of them fits a token.
    ///
    /// # Errors
    /// The keys cannot be read.
    pub(super) async fn keys_for(
        &self,
        key_id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Arc<KeySet>, IssuerUnavailable> {
        if let Some(keys) = self.usable_keys(key_id, algorithm)? {
            return Ok(keys);
        }

        let _reading = self.reading.lock().await;
        // Another request may have read the keys meanwhile.
        if let Some(keys) = self.usable_keys(key_id, algorithm)? {
            return Ok(keys);
        }

        let outcome = self.read_keys().await;
        self.remember(outcome)
    }

    /// Returns the known keys; `None` if they have to be read.
    fn usable_keys(
        &self,
        key_id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Option<Arc<KeySet>>, IssuerUnavailable> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let now = Instant::now();
        let is_fresh = known.expires_at.is_some_and(|end| now < end);
        if is_fresh && known.keys.candidates(key_id, algorithm).next().is_some() {
            return Ok(Some(known.keys));
        }

        let recent = known.attempt.filter(|(at, _)| now.saturating_duration_since(*at) < REFRESH_PAUSE);
        match (recent, known.expires_at) {
            (Some(_), Some(end)) if now < end + GRACE => Ok(Some(known.keys)),
            (Some((_, Err(reason))), _) => Err(IssuerUnavailable(reason)),
            _ => Ok(None),
        }
    }

    /// Remembers what an attempt to read keys has led to.
    fn remember(
        &self,
        outcome: Result<(KeySet, Duration), String>,
    ) -> Result<Arc<KeySet>, IssuerUnavailable> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();

        match outcome {
            Ok((keys, max_age)) => {
                let keys = Arc::new(keys);
                *known = KnownKeys {
                    keys: Arc::clone(&keys),
                    expires_at: Some(now + max_age),
                    attempt: Some((now, Ok(()))),
                };
                Ok(keys)
            }
            Err(reason) => {
                tracing::warn!("the keys of the issuer cannot be read: {reason}");
                known.attempt = Some((now, Err(reason.clone())));
                let is_usable = known.expires_at.is_some_and(|end| now < end + GRACE);
                if is_usable { Ok(Arc::clone(&known.keys)) } else { Err(IssuerUnavailable(reason)) }
            }
        }
    }

    /// Reads the keys, and how long they may be used.
    async fn read_keys(&self) -> Result<(KeySet, Duration), String> {
        let Document { body, max_age, .. } = self.read_key_document().await?;
        let (least, most) = MAX_AGE_LIMITS;
        Ok((KeySet::parse(&body)?, max_age.unwrap_or(DEFAULT_MAX_AGE).clamp(least, most)))
    }

    async fn read_key_document(&self) -> Result<Document, String> {
        let address = self.key_address().await?;
        let document = self.client.read(&address).await;
        let document = document.and_then(|document| document.ok_or_else(|| "the status is 404".to_owned()));
        document.map_err(|reason| format!("the keys at {address}: {reason}"))
    }

    /// Reads the metadata and the keys.
    ///
    /// # Errors
    /// Describes why they cannot be read.
    pub(super) async fn examine(&self) -> Result<IssuerReport, String> {
        let document = self.read_key_document().await?;
        let keys = KeySet::parse(&document.body)?.count();
        let ahead = document.date.map(|date| date.duration_since(Timestamp::now()).as_secs());
        Ok(IssuerReport { name: self.name.clone(), keys, clock_ahead_s: ahead })
    }

    /// Returns the address of the keys, from the metadata of the issuer.
    ///
    /// # Errors
    /// Describes why the metadata cannot be read, or is that of another issuer.
    async fn key_address(&self) -> Result<String, String> {
        #[derive(Deserialize)]
        struct Metadata {
            issuer: String,
            jwks_uri: String,
        }

        for address in metadata_addresses(self.url.as_str()) {
            let read = self.client.read(&address).await;
            let Some(document) = read.map_err(|reason| format!("{address}: {reason}"))? else { continue };

            let metadata: Metadata = serde_json::from_slice(&document.body)
                .map_err(|error| format!("{address}: unusable metadata: {error}"))?;
            // Metadata of another issuer would let that one sign in persons (RFC 8414, 3.3).
            if metadata.issuer != self.name {
                return Err(format!(
                    "{address}: metadata of the issuer `{}`, not of `{}`",
                    metadata.issuer, self.name
                ));
            }
            return Ok(metadata.jwks_uri);
        }

        Err(format!("{}: the issuer has no metadata (RFC 8414, OpenID Connect Discovery)", self.url.as_str()))
    }
}

/// Returns the addresses at which an issuer may have its metadata, in the order of the protocol.
fn metadata_addresses(issuer: &str) -> Vec<String> {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";

    let path_start = issuer.find("://").map_or(0, |scheme| scheme + 3);
    let rest = issuer.get(path_start..).unwrap_or_default();
    let Some(slash) = rest.find('/') else {
        return vec![format!("{issuer}{OAUTH}"), format!("{issuer}{OPENID}")];
    };

    let (origin, path) = issuer.split_at(path_start + slash);
    vec![format!("{origin}{OAUTH}{path}"), format!("{origin}{OPENID}{path}"), format!("{issuer}{OPENID}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_of_an_issuer_with_a_path_has_three_addresses() {
        assert_eq!(
            metadata_addresses("https://id.example/realms/qa"),
            [
                "https://id.example/.well-known/oauth-authorization-server/realms/qa",
                "https://id.example/.well-known/openid-configuration/realms/qa",
                "https://id.example/realms/qa/.well-known/openid-configuration",
            ]
        );
        assert_eq!(metadata_addresses("https://id.example").len(), 2);
    }
}
