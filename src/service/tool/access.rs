//! The permission that an API key needs.

use std::fmt::{Display, Formatter, Result};

/// What an API key must allow (specification, Authentication; supplement 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The key must have this permission.
    Permission(&'static str),
    /// Every valid key is accepted.
    AnyKey,
    /// The request is sent without a key.
    NoKey,
}

impl Display for Access {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.write_str(match self {
            Self::Permission(permission) => permission,
            Self::AnyKey => "any key",
            Self::NoKey => "no key",
        })
    }
}
