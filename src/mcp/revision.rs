//! What the protocol revision and the transport of a request change in its answer.
//!
//! Since the revision 2026-07-28 there is no `initialize`: every request carries the capabilities of its host. Every result
//! carries the name of the server, and lists and resources say how long hosts may cache them (SEP-2549).

use rmcp::{
    RoleServer,
    model::{
        CacheScope, GetSkillResult, Implementation, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListSkillsResult, ListToolsResult, MetaObject, ProtocolVersion,
        ReadResourceResult,
    },
    service::RequestContext,
};

/// Mark, in the extensions of a request, of a transport without sessions.
#[derive(Clone, Copy, Debug)]
pub struct WithoutSession;

pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Cache lifetime, in milliseconds, of results that do not change while the server runs.
pub(super) const STATIC_LIFETIME_MS: u64 = 3_600_000;

/// A result that hosts may cache.
pub(super) trait CacheableResult {
    /// Adds the cache lifetime, the cache scope and the name of the server if the revision of the request defines them.
    fn for_request(self, context: &RequestContext<RoleServer>, lifetime_ms: u64, scope: CacheScope) -> Self;
}

macro_rules! implement_cacheable_result {
    ($($result:ty),* $(,)?) => {
        $(impl CacheableResult for $result {
            fn for_request(
                self,
                context: &RequestContext<RoleServer>,
                lifetime_ms: u64,
                scope: CacheScope,
            ) -> Self {
                if !is_stateless(context) {
                    return self;
                }

                let mut result = self.with_ttl_ms(lifetime_ms).with_cache_scope(scope);
                add_server_info(context, &mut result.meta);
                result
            }
        })*
    };
}
implement_cacheable_result!(
    GetSkillResult,
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
    ListSkillsResult,
    ListToolsResult,
    ReadResourceResult,
);

/// Returns the cache scope of a result that is the same for all callers of one session. Over HTTP, headers and credentials
/// choose what a result contains.
pub(super) fn shared_scope(context: &RequestContext<RoleServer>) -> CacheScope {
    match context.extensions.get::<WithoutSession>() {
        Some(WithoutSession) => CacheScope::Private,
        None => CacheScope::Public,
    }
}

/// Adds the name and the version of this server to the metadata of a result if the revision of the request requires them.
pub(super) fn add_server_info(context: &RequestContext<RoleServer>, meta: &mut Option<MetaObject>) {
    if is_stateless(context)
        && let Ok(info) = serde_json::to_value(server_info())
    {
        meta.get_or_insert_default().0.insert("io.modelcontextprotocol/serverInfo".to_owned(), info);
    }
}

pub(super) fn server_info() -> Implementation {
    Implementation::new("tas-mcp", env!("CARGO_PKG_VERSION")).with_title("Test Automation Service")
}
