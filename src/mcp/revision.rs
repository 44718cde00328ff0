//! The protocol revision of a request, as far as answers depend on it.

use rmcp::{RoleServer, model::ProtocolVersion, service::RequestContext};

/// Returns whether the request uses a revision without `initialize`, that is 2026-07-28 or later. Such a request
/// carries the capabilities of the host itself.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
