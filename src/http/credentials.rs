//! The state of each credential. Nothing that one credential has caused is visible to another one.

use std::{
    hash::Hash,
    net::IpAddr,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use lru::LruCache;
use tokio::time::Instant;

use super::{
    endpoint::Endpoint,
    grants::{Grant, GrantedCallers, ID_PURPOSE},
    limits::{ClientLimits, limited_address},
    oauth::Person,
};
use crate::{
    client::ApiKey,
    mcp::{Callers as _, Confirmer, McpConfig, Server, ServerProfile},
    settings::HttpSettings,
    tools::context::{CallerWithFiles, Stopping},
};

/// Largest number of credentials, and of addresses without an accepted credential, that are remembered.
const MAX_REMEMBERED: NonZeroUsize = NonZeroUsize::new(10_000).expect("not zero");

/// How long an unused credential, address or profile is remembered.
const MAX_IDLE: Duration = Duration::from_secs(15 * 60);

/// Largest number of profiles that are kept. Another profile is made for each request.
const MAX_PROFILES: NonZeroUsize = NonZeroUsize::new(64).expect("not zero");

/// Purpose of the derived key that identifies a person with grants.
const PERSON_PURPOSE: &str = "tas-mcp persons 1";

/// The credentials that the service has accepted, and what makes the state of others.
#[derive(Debug)]
pub(super) struct Credentials {
    /// The callers without a credential.
    pub(super) anonymous: Arc<Credential>,
    /// Makes the calls of every credential, after its key is set.
    keyless: CallerWithFiles,
    config: McpConfig,
    settings: HttpSettings,
    stopping: Stopping,
    /// A yes counts once, whatever endpoint or headers the repeated call has.
    confirmer: Arc<Confirmer>,
    accepted: RecentlyUsed<Vec<u8>, Arc<Credential>>,
    addresses: RecentlyUsed<IpAddr, Arc<ClientLimits>>,
    profiles: RecentlyUsed<Endpoint, Arc<ServerProfile>>,
}

#[derive(Debug)]
pub(super) struct Credential {
    /// Identifies the credential; empty without a credential.
    id: Vec<u8>,
    /// The person who is signed in; empty for a key.
    pub(super) subject: String,
    callers: GrantedCallers,
    limits: Arc<ClientLimits>,
}

impl Credentials {
    /// Creates the state of a process. `anonymous` makes the calls of requests without a credential, and `keyless` of those with
    /// one.
    pub(super) fn new(
        anonymous: GrantedCallers,
        keyless: CallerWithFiles,
        config: McpConfig,
        settings: HttpSettings,
        stopping: Stopping,
    ) -> Self {
        Self {
            anonymous: Arc::new(Credential::new(Vec::new(), anonymous, &settings)),
            keyless,
            config,
            settings,
            stopping,
            confirmer: Arc::default(),
            accepted: RecentlyUsed(LruCache::new(MAX_REMEMBERED).into()),
            addresses: RecentlyUsed(LruCache::new(MAX_REMEMBERED).into()),
            profiles: RecentlyUsed(LruCache::new(MAX_PROFILES).into()),
        }
    }

    /// Returns the state of a key. That of a key which the service has not accepted yet is forgotten after its request.
    pub(super) fn of_key(&self, key: &ApiKey) -> Arc<Credential> {
        let id = key.derive_key(ID_PURPOSE);
        self.accepted.get(&id).unwrap_or_else(|| {
            let caller = self.keyless.caller.with_key(key.clone());
            Arc::new(Credential::new(id, GrantedCallers::one(Ok(caller)), &self.settings))
        })
    }

    pub(super) fn of_person(&self, person: &Person) -> Arc<Credential> {
        let id = person_id(person);
        self.accepted.get(&id).unwrap_or_else(|| {
            let callers = GrantedCallers::of_user(&self.keyless.caller, &person.principal, &person.grants);
            let credential = Credential::new(id, callers, &self.settings);
            Arc::new(Credential { subject: person.subject.clone(), ..credential })
        })
    }

    pub(super) fn serves_anonymous(&self) -> bool {
        self.anonymous.callers.first().is_ok()
    }

    /// Remembers a credential after a request, if the service has accepted its key. A key that the service refuses takes no memory.
    pub(super) fn remember(&self, credential: &Arc<Credential>) {
        if !credential.id.is_empty() && credential.callers.is_key_accepted() {
            self.accepted.get_or_create(&credential.id, || Arc::clone(credential));
        }
    }

    pub(super) fn count(&self) -> usize {
        self.accepted.values().len()
    }

    /// Returns the limits of a request: those of its credential, or those of its address if the service has not accepted the
    /// credential.
    pub(super) fn limits(&self, credential: &Credential, address: IpAddr) -> Arc<ClientLimits> {
        if credential.is_accepted() {
            Arc::clone(&credential.limits)
        } else {
            self.limits_of_address(address)
        }
    }

    /// Returns the limits of the requests from an address whose credential is not accepted yet.
    pub(super) fn limits_of_address(&self, address: IpAddr) -> Arc<ClientLimits> {
        let create = || Arc::new(ClientLimits::new(&self.settings));
        self.addresses.get_or_create(&limited_address(address), create)
    }

    pub(super) fn server(&self, credential: &Credential, endpoint: &Endpoint) -> Server {
        let scope = endpoint.project.as_deref();
        let callers = credential.callers.with_scope(scope, endpoint.selection.is_read_only());
        let selection = endpoint.selection.clone().permitted_by(|tool| callers.permit(tool));
        let profile = self.profile(&Endpoint { selection, ..endpoint.clone() });
        let (files, confirmer) = (Arc::clone(&self.keyless.files), Arc::clone(&self.confirmer));
        Server::with_profile(Arc::new(callers), files, profile, confirmer, self.stopping.clone())
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
        self.profiles.get_or_create(endpoint, create)
    }
}

impl Credential {
    fn new(id: Vec<u8>, callers: GrantedCallers, settings: &HttpSettings) -> Self {
        Self { id, subject: String::new(), callers, limits: Arc::new(ClientLimits::new(settings)) }
    }

    pub(super) fn is_accepted(&self) -> bool {
        self.callers.is_key_accepted()
    }

    /// Returns a name of the credential for logs, from which the credential cannot be computed. It is empty without a
    /// credential.
    pub(super) fn log_name(&self) -> String {
        self.id.first_chunk().map(|start| format!("{:08x}", u32::from_be_bytes(*start))).unwrap_or_default()
    }
}

fn person_id(person: &Person) -> Vec<u8> {
    let ids: Vec<_> = person.grants.iter().map(Grant::identity).collect();
    let purpose = format!("{PERSON_PURPOSE} {:?}", (&person.principal, ids));
    person.grants.first().map(|grant| grant.key.derive_key(purpose.as_bytes())).unwrap_or_default()
}

/// Values with the time of their last use. The one that was not used for the longest time makes room for a new one.
#[derive(Debug)]
struct RecentlyUsed<K: Eq + Hash, V>(Mutex<LruCache<K, (Instant, V)>>);

impl<K: Clone + Eq + Hash, V: Clone> RecentlyUsed<K, V> {
    fn get(&self, key: &K) -> Option<V> {
        self.values().get_mut(key).map(used_now)
    }

    fn get_or_create(&self, key: &K, create: impl FnOnce() -> V) -> V {
        used_now(self.values().get_or_insert_mut_ref(key, || (Instant::now(), create())))
    }

    /// The values that were used within `MAX_IDLE`.
    fn values(&self) -> MutexGuard<'_, LruCache<K, (Instant, V)>> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while values.peek_lru().is_some_and(|(_, (last_use, _))| last_use.elapsed() > MAX_IDLE) {
            values.pop_lru();
        }
        values
    }
}

fn used_now<V: Clone>((last_use, value): &mut (Instant, V)) -> V {
    *last_use = Instant::now();
    value.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_was_not_used_for_longest_or_for_15_minutes_is_forgotten() {
        let values = RecentlyUsed(LruCache::new(MAX_PROFILES).into());
        let created = (0..=MAX_PROFILES.get()).map(|key| values.get_or_create(&key, || key));
        assert_eq!((created.last(), values.get(&0)), (Some(64), None));

        tokio::time::advance(MAX_IDLE).await;
        assert_eq!(values.get_or_create(&1, || 100), 1);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((values.get(&1), values.get(&2), values.values().len()), (Some(1), None, 1));
    }
}
