//! The state of a gateway whose settings are usable.

use tokio::time::Instant;

use crate::{
    call::{
        config::CallConfig, context::CallContext, duplicate_guard::AttemptMemory, reply::ReplyLimits,
        scope::Scope,
    },
    client::{CALL_LIMIT, ServiceClient},
    failure::Failure,
};

/// A gateway whose settings are usable.
#[derive(Debug)]
pub(super) struct ConfiguredGateway {
    pub(super) client: ServiceClient,
    pub(super) scope: Scope,
    /// Address of the main API.
    pub(super) base_url: String,
    /// The name that the deployment uses for the test-management system.
    pub(super) tmsys_name: String,
    max_reply_chars: usize,
    /// Whether irreversible or costly calls need the agreement of a person.
    pub(super) requires_confirmation: bool,
    pub(super) is_read_only: bool,
    /// Calls of unknown outcome.
    pub(super) attempts: AttemptMemory,
}

impl ConfiguredGateway {
    pub(super) fn new(config: CallConfig) -> Self {
        Self {
            scope: Scope::new(config.project, config.projects),
            base_url: config.client.base_url.as_str().to_owned(),
            tmsys_name: config.tmsys_name,
            max_reply_chars: config.max_reply_chars,
            requires_confirmation: config.asks_first,
            is_read_only: config.read_only,
            client: ServiceClient::new(config.client),
            attempts: AttemptMemory::default(),
        }
    }

    /// Starts a call: reads the key and sets the deadline.
    ///
    /// # Errors
    /// `not_configured` if the key cannot be read.
    pub(super) fn begin_call(&self) -> Result<CallContext<'_>, Failure> {
        Ok(CallContext {
            client: &self.client,
            key: self.client.key()?,
            deadline: Instant::now() + CALL_LIMIT,
            tmsys_name: &self.tmsys_name,
        })
    }

    pub(super) fn reply_limits(&self) -> ReplyLimits<'_> {
        ReplyLimits {
            tmsys_name: &self.tmsys_name,
            max_reply_chars: self.max_reply_chars,
            address_policy: self.client.address_policy(),
        }
    }
}
