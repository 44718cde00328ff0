//! The choice of the key that serves a call. A signed-in person may have several keys, each for a part of the calls.

use super::{configured::ConfiguredGateway, granted::GrantedGateways, handle::Gateway};
use crate::{
    call::grant::{ASK_OPERATOR, Grant},
    failure::{Code, Failure},
    service::{result_kind::ResultId, tool::Tool},
};

impl Gateway {
    /// Returns a gateway for the calls of the person `principal`, which the keys of `grants` serve. The gateways share
    /// connections, but nothing that they remember. Without a grant every call is refused.
    #[must_use]
    pub fn with_grants(&self, principal: &str, grants: &[Grant]) -> Self {
        let granted = self.granted().and_then(|granted| {
            let gateways = grants.iter().map(|grant| granted.first.with_grant(grant));
            GrantedGateways::collect(gateways).ok_or_else(no_grant)
        });
        self.with_granted(granted).of_principal(principal)
    }

    /// Returns whether some key may serve calls of `tool` in the scope of this gateway. If the settings are unusable, every
    /// call explains this.
    pub fn covers(&self, tool: &Tool) -> bool {
        self.granted().map_or(true, |granted| granted.iter().any(|gateway| gateway.covers(tool, None)))
    }

    /// Returns the gateway of the first key that may serve a call of `tool`. Of several keys, the project of the call or its
    /// `ids` decide.
    ///
    /// # Errors
    /// `permission_denied` if no key may serve the call, or the failure of a look-up.
    pub(super) async fn serving(
        &self,
        tool: &Tool,
        requested: Option<&str>,
        ids: impl FnOnce() -> Vec<ResultId>,
    ) -> Result<&ConfiguredGateway, Failure> {
        let first = self.first_covering(tool, requested)?;
        let covering = || self.covering(tool, requested);
        if covering()?.nth(1).is_none() {
            return Ok(first);
        }

        let project = first.scope.bound_project().or(requested);
        let ids = if project.is_some() { Vec::new() } else { ids() };
        for gateway in covering()? {
            let is_able = match project {
                Some(project) => gateway.has_key_of(project).await?,
                None => gateway.has_records(&ids).await?,
            };
            if is_able {
                return Ok(gateway);
            }
        }

        // If no key can read the records, the call itself reports this.
        Ok(first)
    }

    /// Returns the gateway of the first key that may serve a call of `tool`.
    ///
    /// # Errors
    /// `permission_denied` if no key may serve the call.
    pub(super) fn first_covering(
        &self,
        tool: &Tool,
        requested: Option<&str>,
    ) -> Result<&ConfiguredGateway, Failure> {
        self.covering(tool, requested)?.next().ok_or_else(|| not_covered(tool, requested))
    }

    fn covering(
        &self,
        tool: &Tool,
        requested: Option<&str>,
    ) -> Result<impl Iterator<Item = &ConfiguredGateway>, Failure> {
        Ok(self.granted()?.iter().filter(move |gateway| gateway.covers(tool, requested)))
    }
}

/// Returns the failure for a person whom no grant names.
fn no_grant() -> Failure {
    Failure::new(Code::PermissionDenied, "no grant of this server names the person").hint(ASK_OPERATOR)
}

/// Returns the failure for a call that no grant of the person covers.
fn not_covered(tool: &Tool, requested: Option<&str>) -> Failure {
    let project = requested.map(|project| format!(" in project `{project}`")).unwrap_or_default();
    let message = format!("{}: no grant of the person covers {}{project}", tool.name, tool.access);
    Failure::new(Code::PermissionDenied, message).hint(ASK_OPERATOR)
}
