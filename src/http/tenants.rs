//! The servers of the callers, by credential. Nothing that one credential has caused is visible to another one.

use std::{
    hash::Hash,
    net::IpAddr,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{authorization::Person, endpoint::Endpoint, limits::ClientLimits};
use crate::{
    bounded_cache::BoundedCache,
    client::ApiKey,
    mcp::{McpConfig, Server, ServerProfile},
    settings::HttpSettings,
    tools::{caller::Stopping, dispatcher::Dispatcher},
};

/// Largest number of credentials, and of addresses without an accepted credential, that are remembered.
const MAX_TENANTS: NonZeroUsize = NonZeroUsize::new(10_000).expect("not zero");

/// How long an unused credential or address is remembered.
const MAX_IDLE: Duration = Duration::from_secs(15 * 60);

/// Largest number of profiles that are kept. Another profile is made for each request.
const MAX_PROFILES: NonZeroUsize = NonZeroUsize::new(64).expect("not zero");

/// Largest number of endpoints of one credential whose servers are kept.
const MAX_ENDPOINTS: NonZeroUsize = NonZeroUsize::new(8).expect("not zero");

/// Purpose of the derived key that identifies a credential.
const ID_PURPOSE: &[u8] = b"tas-mcp tenants 1";

/// Purpose of the derived key that identifies a person with grants.
const PERSON_PURPOSE: &str = "tas-mcp persons 1";

/// The servers of all callers.
#[derive(Debug)]
pub(super) struct Tenants {
    /// The callers without a credential.
    anonymous: Arc<Tenant>,
    /// Calls tools with the key of each caller, after its key is set.
    keyless: Dispatcher,
    config: McpConfig,
    settings: HttpSettings,
    stopping: Stopping,
    known: Mutex<BoundedCache<Vec<u8>, Recent<Tenant>>>,
    addresses: Mutex<BoundedCache<IpAddr, Recent<ClientLimits>>>,
    profiles: Mutex<BoundedCache<Endpoint, Arc<ServerProfile>>>,
}

/// A value, and when it was last used.
#[derive(Debug)]
struct Recent<T> {
    value: Arc<T>,
    used_at: Instant,
}

impl<T> Recent<T> {
    fn new(value: &Arc<T>) -> Self {
        Self { value: Arc::clone(value), used_at: Instant::now() }
    }
}

/// One credential.
#[derive(Debug)]
pub(super) struct Tenant {
    /// Identifies the credential; empty without a credential.
    id: Vec<u8>,
    /// The person who is signed in; empty for a key.
    subject: String,
    dispatcher: Dispatcher,
    limits: ClientLimits,
    servers: Mutex<BoundedCache<Endpoint, Server>>,
}

impl Tenants {
    /// Creates the servers. `anonymous` serves requests without a credential, and `keyless` those with one.
    pub(super) fn new(
        anonymous: Dispatcher,
        keyless: Dispatcher,
        config: McpConfig,
        settings: HttpSettings,
        stopping: Stopping,
    ) -> Self {
        let anonymous = Arc::new(Tenant::new(Vec::new(), anonymous, &settings));

        Self {
            anonymous,
            keyless,
            config,
            settings,
            stopping,
            known: Mutex::new(BoundedCache::new(MAX_TENANTS)),
            addresses: Mutex::new(BoundedCache::new(MAX_TENANTS)),
            profiles: Mutex::new(BoundedCache::new(MAX_PROFILES)),
        }
    }

    /// Returns the tenant of a key. The tenant of a key that the service has not accepted yet is a new one.
    pub(super) fn tenant(&self, key: &ApiKey) -> Arc<Tenant> {
        let id = key.derive_key(ID_PURPOSE);
        if let Some(known) = used(&mut lock(&self.known), &id) {
            return known;
        }

        let dispatcher = self.keyless.with_key(key.clone());
        Arc::new(Tenant::new(id, dispatcher, &self.settings))
    }

    /// Returns the tenant of a person. A person whose grants have changed is another tenant.
    pub(super) fn tenant_of_person(&self, person: &Person) -> Arc<Tenant> {
        let id = person_id(person);
        if let Some(known) = used(&mut lock(&self.known), &id) {
            return known;
        }

        let dispatcher = self.keyless.with_grants(&person.principal, &person.grants);
        let tenant = Tenant::new(id, dispatcher, &self.settings);
        Arc::new(Tenant { subject: person.subject.clone(), ..tenant })
    }

    /// Returns the tenant of requests without a credential.
    pub(super) fn anonymous(&self) -> Arc<Tenant> {
        Arc::clone(&self.anonymous)
    }

    /// Remembers a tenant after a request, if the service has accepted its key. A key that the service refuses takes no
    /// memory.
    pub(super) fn remember(&self, tenant: &Arc<Tenant>) {
        let gateway = tenant.dispatcher.gateway();
        if !tenant.id.is_empty() && (gateway.is_key_accepted() || gateway.has_uncertain_calls()) {
            let mut known = lock(&self.known);
            // A request at the same time may have remembered the credential already.
            if known.get(&tenant.id).is_none() {
                known.put(tenant.id.clone(), Recent::new(tenant));
            }
        }
    }

    /// Returns the number of remembered credentials.
    pub(super) fn count(&self) -> usize {
        lock(&self.known).len()
    }

    /// Returns the limits of a request: those of its credential, or those of its address if the service has not accepted the
    /// credential.
    pub(super) fn limits(&self, tenant: &Arc<Tenant>, address: IpAddr) -> Limits {
        if tenant.dispatcher.gateway().is_key_accepted() {
            return Limits::OfTenant(Arc::clone(tenant));
        }

        Limits::OfAddress(self.limits_of_address(address))
    }

    /// Returns the limits of the requests from an address whose credential is not accepted yet.
    pub(super) fn limits_of_address(&self, address: IpAddr) -> Arc<ClientLimits> {
        let mut addresses = lock(&self.addresses);
        used(&mut addresses, &address).unwrap_or_else(|| {
            let limits = Arc::new(ClientLimits::new(&self.settings));
            addresses.put(address, Recent::new(&limits));
            limits
        })
    }

    /// Returns the server for the requests of `tenant` to an endpoint.
    pub(super) fn server(&self, tenant: &Tenant, endpoint: &Endpoint) -> Server {
        let create = || {
            let scope = endpoint.project.as_deref();
            let dispatcher = tenant.dispatcher.with_scope(scope, endpoint.selection.is_read_only());
            let gateway = dispatcher.gateway();
            let selection = endpoint.selection.clone().permitted_by(|tool| gateway.covers(tool));
            let profile = self.profile(&Endpoint { selection, ..endpoint.clone() });
            Server::with_profile(dispatcher, profile, self.stopping.clone())
        };
        lock(&tenant.servers).get_or_insert(endpoint.clone(), create)
    }

    fn profile(&self, endpoint: &Endpoint) -> Arc<ServerProfile> {
        let create = || {
            let config = McpConfig {
                project: endpoint.project.clone(),
                known_projects: endpoint.project.iter().cloned().collect(),
                selection: endpoint.selection.clone(),
                ..self.config.clone()
            };
            Arc::new(ServerProfile::new(config))
        };
        lock(&self.profiles).get_or_insert(endpoint.clone(), create)
    }
}

impl Tenant {
    fn new(id: Vec<u8>, dispatcher: Dispatcher, settings: &HttpSettings) -> Self {
        Self {
            id,
            subject: String::new(),
            dispatcher,
            limits: ClientLimits::new(settings),
            servers: Mutex::new(BoundedCache::new(MAX_ENDPOINTS)),
        }
    }

    /// Returns a name of the credential for logs, from which the credential cannot be computed. It is empty without a
    /// credential.
    pub(super) fn log_name(&self) -> String {
        self.id.first_chunk().map(|start| format!("{:08x}", u32::from_be_bytes(*start))).unwrap_or_default()
    }

    /// Returns the person who is signed in; empty for a key.
    pub(super) fn subject(&self) -> &str {
        &self.subject
    }
}

/// Returns what identifies a person with these grants.
fn person_id(person: &Person) -> Vec<u8> {
    let ids: Vec<_> =
        person.grants.iter().map(|grant| (grant.key.derive_key(ID_PURPOSE), &grant.limits)).collect();
    let purpose = format!("{PERSON_PURPOSE} {:?}", (&person.principal, ids));
    person.grants.first().map(|grant| grant.key.derive_key(purpose.as_bytes())).unwrap_or_default()
}

/// The limits that count for a request.
#[derive(Debug)]
pub(super) enum Limits {
    OfTenant(Arc<Tenant>),
    OfAddress(Arc<ClientLimits>),
}

impl std::ops::Deref for Limits {
    type Target = ClientLimits;

    fn deref(&self) -> &ClientLimits {
        match self {
            Self::OfTenant(tenant) => &tenant.limits,
            Self::OfAddress(limits) => limits,
        }
    }
}

/// Returns the value of `key` and marks it as used now. Forgets the values that are idle for too long.
fn used<K: Hash + Eq + Clone, T>(cache: &mut BoundedCache<K, Recent<T>>, key: &K) -> Option<Arc<T>> {
    let now = Instant::now();
    cache.remove_oldest_while(|known| now.saturating_duration_since(known.used_at) > MAX_IDLE);

    let value = Arc::clone(&cache.get(key)?.value);
    cache.put(key.clone(), Recent::new(&value));
    Some(value)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
