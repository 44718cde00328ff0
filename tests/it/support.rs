//! What the subjects share.

pub(crate) mod contract;
