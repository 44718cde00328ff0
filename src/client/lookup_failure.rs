//! Why the look-up of a key has found none.

use crate::failure::{Code, Failure};

/// Why there is no key.
#[derive(Clone, Debug)]
pub(super) struct LookupFailure {
    /// The failure of the call.
    pub(super) failure: Failure,
    /// Whether the next call looks again without a pause, because a look-up costs nothing and disturbs nobody.
    pub(super) is_cheap: bool,
}

impl LookupFailure {
    /// Returns the failure of a look-up that the next call repeats.
    pub(super) fn cheap(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { failure: Failure::new(Code::NotConfigured, message).hint(hint), is_cheap: true }
    }

    /// Returns the failure of a look-up that is repeated after a pause.
    pub(super) fn costly(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { is_cheap: false, ..Self::cheap(message, hint) }
    }
}
