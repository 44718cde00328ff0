//! Metadata of results: the name of the server, and how long hosts may cache a result (SEP-2549).

use rmcp::{
    RoleServer,
    model::{
        CacheScope, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, MetaObject, ReadResourceResult,
    },
    service::RequestContext,
};

use super::{request_extensions::WithoutSession, revision::is_stateless};

/// Cache lifetime, in milliseconds, of results that do not change while the server runs.
pub(super) const STATIC_LIFETIME_MS: u64 = 3_600_000;

/// A result that can state its cache lifetime.
pub(super) trait CacheableResult: Sized {
    /// Returns the result with a cache lifetime, a cache scope and the name of the server.
    fn with_cache_metadata(self, lifetime_ms: u64, scope: CacheScope) -> Self;

    /// Returns the result as the revision of the request defines it: older revisions have no cache metadata.
    fn for_request(self, context: &RequestContext<RoleServer>, lifetime_ms: u64, scope: CacheScope) -> Self {
        if is_stateless(context) { self.with_cache_metadata(lifetime_ms, scope) } else { self }
    }
}

macro_rules! implement_cacheable_result {
    ($($result:ty),* $(,)?) => {
        $(impl CacheableResult for $result {
            fn with_cache_metadata(self, lifetime_ms: u64, scope: CacheScope) -> Self {
                let mut result = self.with_ttl_ms(lifetime_ms).with_cache_scope(scope);
                add_server_info(&mut result.meta);
                result
            }
        })*
    };
}
implement_cacheable_result!(
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
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

/// Returns the name and the version of this server.
pub(super) fn server_info() -> Implementation {
    Implementation::new("tas-mcp", env!("CARGO_PKG_VERSION")).with_title("Test Automation Service")
}

/// Adds the name and the version of this server to the metadata of a result.
pub(super) fn add_server_info(meta: &mut Option<MetaObject>) {
    if let Ok(info) = serde_json::to_value(server_info()) {
        meta.get_or_insert_default().0.insert("io.modelcontextprotocol/serverInfo".to_owned(), info);
    }
}

/// Adds the name and the version of this server if the revision of the request requires them.
pub(super) fn add_server_info_for(context: &RequestContext<RoleServer>, meta: &mut Option<MetaObject>) {
    if is_stateless(context) {
        add_server_info(meta);
    }
}
