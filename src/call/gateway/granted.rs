//! The gateways of the keys of one caller.

use super::configured::ConfiguredGateway;

/// The gateways of all keys, in the order in which they are preferred.
#[derive(Clone, Debug)]
pub(super) struct GrantedGateways {
    /// The gateway of the first key. What does not depend on the key is the same in all gateways.
    pub(super) first: ConfiguredGateway,
    others: Vec<ConfiguredGateway>,
}

impl From<ConfiguredGateway> for GrantedGateways {
    fn from(only: ConfiguredGateway) -> Self {
        Self { first: only, others: Vec::new() }
    }
}

impl GrantedGateways {
    /// Collects gateways; `None` if there is none.
    pub(super) fn collect(mut gateways: impl Iterator<Item = ConfiguredGateway>) -> Option<Self> {
        Some(Self { first: gateways.next()?, others: gateways.collect() })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ConfiguredGateway> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub(super) fn map(&self, map: impl Fn(&ConfiguredGateway) -> ConfiguredGateway) -> Self {
        Self { first: map(&self.first), others: self.others.iter().map(map).collect() }
    }
}
