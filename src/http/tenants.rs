//! The servers of the callers, by credential. Nothing that one credential has caused is visible to another one.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use lru::LruCache;
use moka::{policy::EvictionPolicy, sync::Cache};

use super::{
    endpoint::Endpoint,
    grants::{Grant, GrantedCallers, ID_PURPOSE},
    limits::{ClientLimits, limited_address},
    oauth::Person,
};
use crate::{
    client::ApiKey,
    failure::Failure,
    mcp::{Callers as _, Confirmer, McpConfig, Server, ServerProfile},
    settings::HttpSettings,
    tools::{call_options::Stopping, context::CallerWithFiles},
};

/// Largest number of credentials, and of addresses without an accepted credential, that are remembered.
const MAX_TENANTS: u64 = 10_000;

/// How long an unused credential or address is remembered.
const MAX_IDLE: Duration = Duration::from_secs(15 * 60);

/// Largest number of profiles that are kept. Another profile is made for each request.
const MAX_PROFILES: u64 = 64;

/// Largest number of endpoints of one credential whose servers are kept.
const MAX_ENDPOINTS: NonZeroUsize = NonZeroUsize::new(8).expect("not zero");

/// Purpose of the derived key that identifies a person with grants.
const PERSON_PURPOSE: &str = "tas-mcp persons 1";

/// The servers of all callers.
#[derive(Debug)]
pub(super) struct Tenants {
    /// The callers without a credential.
    anonymous: Arc<Tenant>,
    /// Makes the calls of every credential, after its key is set.
    keyless: CallerWithFiles,
    config: McpConfig,
    settings: HttpSettings,
    stopping: Stopping,
    /// A yes counts once, whatever endpoint or headers the repeated call has.
    confirmer: Arc<Confirmer>,
    known: Cache<Vec<u8>, Arc<Tenant>>,
    /// The tenants of requests under way. Simultaneous first requests of a credential have one tenant.
    under_way: Mutex<BTreeMap<Vec<u8>, Weak<Tenant>>>,
    addresses: Cache<IpAddr, Arc<ClientLimits>>,
    profiles: Cache<Endpoint, Arc<ServerProfile>>,
}

/// One credential.
#[derive(Debug)]
pub(super) struct Tenant {
    /// Identifies the credential; empty without a credential.
    id: Vec<u8>,
    /// The person who is signed in; empty for a key.
    subject: String,
    callers: GrantedCallers,
    limits: Arc<ClientLimits>,
    servers: Mutex<LruCache<Endpoint, Server>>,
}

impl Tenants {
    /// Creates the servers. `anonymous` makes the calls of requests without a credential, and `keyless` of those with one.
    pub(super) fn new(
        anonymous: GrantedCallers,
        keyless: CallerWithFiles,
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
            confirmer: Arc::default(),
            known: recently_used(),
            under_way: Mutex::default(),
            addresses: recently_used(),
            profiles: Cache::new(MAX_PROFILES),
        }
    }

    /// Returns the tenant of a key. The tenant of a key that the service has not accepted yet is forgotten after its requests.
    pub(super) fn tenant(&self, key: &ApiKey) -> Arc<Tenant> {
        self.find_or_create(key.derive_key(ID_PURPOSE), |id| {
            let caller = self.keyless.caller.with_key(key.clone());
            Tenant::new(id, GrantedCallers::one(Ok(caller)), &self.settings)
        })
    }

    /// Returns the tenant of a person. A person whose grants have changed is another tenant.
    pub(super) fn tenant_of_person(&self, person: &Person) -> Arc<Tenant> {
        self.find_or_create(person_id(person), |id| {
            let callers = GrantedCallers::of_user(&self.keyless.caller, &person.principal, &person.grants);
            let tenant = Tenant::new(id, callers, &self.settings);
            Tenant { subject: person.subject.clone(), ..tenant }
        })
    }

    fn find_or_create(&self, id: Vec<u8>, create: impl FnOnce(Vec<u8>) -> Tenant) -> Arc<Tenant> {
        if let Some(known) = self.known.get(&id) {
            return known;
        }

        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.retain(|_, tenant| tenant.strong_count() > 0);
        // A request may have ended, and its tenant be remembered, since the first look.
        let tenant = under_way.get(&id).and_then(Weak::upgrade).or_else(|| self.known.get(&id));
        if let Some(tenant) = tenant {
            return tenant;
        }
        let tenant = Arc::new(create(id.clone()));
        under_way.insert(id, Arc::downgrade(&tenant));
        tenant
    }

    /// Returns whether calls without a credential are made, with a key of the server.
    pub(super) fn serves_anonymous(&self) -> bool {
        self.anonymous.callers.first().is_ok()
    }

    pub(super) fn anonymous(&self) -> Arc<Tenant> {
        Arc::clone(&self.anonymous)
    }

    /// Remembers a tenant after a request, if the service has accepted its key. A key that the service refuses takes no
    /// memory.
    pub(super) fn remember(&self, tenant: &Arc<Tenant>) {
        let callers = &tenant.callers;
        if !tenant.id.is_empty() && callers.is_key_accepted() {
            self.known.get_with_by_ref(&tenant.id, || Arc::clone(tenant));
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.known.run_pending_tasks();
        self.known.entry_count()
    }

    /// Returns the limits of a request: those of its credential, or those of its address if the service has not accepted the
    /// credential.
    pub(super) fn limits(&self, tenant: &Tenant, address: IpAddr) -> Arc<ClientLimits> {
        if tenant.callers.is_key_accepted() {
            return Arc::clone(&tenant.limits);
        }

        self.limits_of_address(address)
    }

    /// Returns the limits of the requests from an address whose credential is not accepted yet.
    pub(super) fn limits_of_address(&self, address: IpAddr) -> Arc<ClientLimits> {
        self.addresses.get_with(limited_address(address), || Arc::new(ClientLimits::new(&self.settings)))
    }

    /// Returns the server for the requests of `tenant` to an endpoint.
    pub(super) fn server(&self, tenant: &Tenant, endpoint: &Endpoint) -> Server {
        let create = || {
            let scope = endpoint.project.as_deref();
            let callers = tenant.callers.with_scope(scope, endpoint.selection.is_read_only());
            let selection = endpoint.selection.clone().permitted_by(|tool| callers.permit(tool));
            let profile = self.profile(&Endpoint { selection, ..endpoint.clone() });
            let files = Arc::clone(&self.keyless.files);
            let confirmer = Arc::clone(&self.confirmer);
            Server::with_profile(Arc::new(callers), files, profile, confirmer, self.stopping.clone())
        };
        let mut servers = tenant.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.get_or_insert(endpoint.clone(), create).clone()
    }

    fn profile(&self, endpoint: &Endpoint) -> Arc<ServerProfile> {
        let create = || {
            let config = McpConfig {
                project: endpoint.project.clone(),
                known_projects: endpoint.project.iter().cloned().collect(),
                selection: Arc::new(endpoint.selection.clone()),
                ..self.config.clone()
            };
            Arc::new(ServerProfile::new(config))
        };
        self.profiles.get_with_by_ref(endpoint, create)
    }
}

impl Tenant {
    fn new(id: Vec<u8>, callers: GrantedCallers, settings: &HttpSettings) -> Self {
        Self {
            id,
            subject: String::new(),
            callers,
            limits: Arc::new(ClientLimits::new(settings)),
            servers: Mutex::new(LruCache::new(MAX_ENDPOINTS)),
        }
    }

    /// Returns a name of the credential for logs, from which the credential cannot be computed. It is empty without a
    /// credential.
    pub(super) fn log_name(&self) -> String {
        self.id.first_chunk().map(|start| format!("{:08x}", u32::from_be_bytes(*start))).unwrap_or_default()
    }

    /// Asks the service whether it accepts the credential, unless this is known. The issuer knows a person who is signed in.
    ///
    /// # Errors
    /// Why the credential cannot be used, or why the service cannot be asked.
    pub(super) async fn confirm(&self, endpoint: &Endpoint) -> Result<(), Failure> {
        if !self.subject.is_empty() || self.callers.is_key_accepted() {
            return Ok(());
        }

        self.callers.with_scope(endpoint.project.as_deref(), true).confirm_key().await
    }

    /// Returns the person who is signed in; empty for a key.
    pub(super) fn subject(&self) -> &str {
        &self.subject
    }
}

/// Returns what identifies a person with these grants.
fn person_id(person: &Person) -> Vec<u8> {
    let ids: Vec<_> = person.grants.iter().map(Grant::identity).collect();
    let purpose = format!("{PERSON_PURPOSE} {:?}", (&person.principal, ids));
    person.grants.first().map(|grant| grant.key.derive_key(purpose.as_bytes())).unwrap_or_default()
}

/// Returns a cache from which the value is removed that was not used for the longest time.
fn recently_used<K, V>() -> Cache<K, V>
where
    K: std::hash::Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    Cache::builder()
        .max_capacity(MAX_TENANTS)
        .eviction_policy(EvictionPolicy::lru())
        .time_to_idle(MAX_IDLE)
        .build()
}
