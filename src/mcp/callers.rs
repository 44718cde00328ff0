//! The callers of a server, of which one makes each call.

use std::fmt::Debug;

use futures_util::future::{BoxFuture, ready};
use rmcp::model::RequestStateCodec;

use crate::{
    call::{Caller, arguments::ToolArguments},
    failure::{Code, Failure},
    service::tool::ToolDefinition,
};

/// The callers of a server: one, or those of a user who may use several keys.
pub trait Callers: Debug + Send + Sync {
    /// Returns the caller of what belongs to no call: it derives the secrets of the server, and has its clock.
    ///
    /// # Errors
    /// The failure of every call, if the settings are unusable.
    fn first(&self) -> Result<&Caller, Failure>;

    /// Chooses the caller for a call of `tool`.
    ///
    /// # Errors
    /// The failure of every call, or the failure of a look-up.
    fn choose<'a>(
        &'a self,
        _: &'a ToolDefinition,
        _: &'a ToolArguments,
    ) -> BoxFuture<'a, Result<Caller, Failure>> {
        Box::pin(ready(self.first().cloned()))
    }

    /// Returns the projects that are known without a request.
    fn known_projects(&self) -> Vec<String> {
        self.first().map(Caller::known_projects).unwrap_or_default()
    }
}

/// One caller makes all calls, or none can.
impl Callers for Result<Caller, Failure> {
    fn first(&self) -> Result<&Caller, Failure> {
        self.as_ref().map_err(Clone::clone)
    }
}

/// Returns what seals the state that a host keeps for the server. The key is derived from the credential, so that every process
/// with the credential opens the state, and no other one.
///
/// # Errors
/// The failure of every call, or there is no key.
pub(super) async fn sealing(callers: &dyn Callers, purpose: &[u8]) -> Result<RequestStateCodec, Failure> {
    let key = callers.first()?.derived_key(purpose).await?;
    RequestStateCodec::try_new(key).map_err(|error| Failure::new(Code::NotConfigured, error.to_string()))
}
