//! The state that all requests of a sandbox share.

use std::{
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use http::{HeaderValue, request::Parts};

use crate::sandbox::{
    http::{
        authentication,
        exchange::Observer,
        fault_queue::FaultQueue,
        request_log::{LoggedRequest, RequestLog},
    },
    model::{blob_store::BlobStore, world::World},
    options::Options,
    seed,
};

/// Path prefix of the main API.
pub(super) const API_PREFIX: &str = "/api/v1";

/// The state that all requests of a sandbox share.
pub(super) struct SandboxState {
    pub(super) address: SocketAddr,
    pub(super) options: Options,
    /// The bytes of builds.
    pub(super) blob_store: BlobStore,
    pub(super) observer: Option<Observer>,
    world: Mutex<World>,
    fault_queue: Mutex<FaultQueue>,
    request_log: Mutex<RequestLog>,
}

impl SandboxState {
    /// Creates a state with the seed data.
    pub(super) fn new(address: SocketAddr, options: Options, observer: Option<Observer>) -> Self {
        Self {
            address,
            world: Mutex::new(seeded_world(&options, knowledge_url(address))),
            options,
            blob_store: BlobStore::default(),
            observer,
            fault_queue: Mutex::default(),
            request_log: Mutex::default(),
        }
    }

    /// Returns the base URL of the main API.
    pub(super) fn base_url(&self) -> String {
        format!("http://{}{API_PREFIX}", self.address)
    }

    pub(super) fn knowledge_url(&self) -> String {
        knowledge_url(self.address)
    }

    /// Locks the world for one request.
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        lock(&self.world)
    }

    /// Locks the queue of injected faults.
    pub(super) fn fault_queue(&self) -> MutexGuard<'_, FaultQueue> {
        lock(&self.fault_queue)
    }

    pub(super) fn request_log(&self) -> MutexGuard<'_, RequestLog> {
        lock(&self.request_log)
    }

    /// Returns the simulated time as a `Date` header.
    pub(super) fn date(&self) -> HeaderValue {
        let mut world = self.world();
        world.update_now();
        let date = world.now.timestamp().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();

        HeaderValue::try_from(date).unwrap_or_else(|_| HeaderValue::from_static(""))
    }

    /// Restores the state of a new sandbox. Uploaded bytes are dropped with the world that refers to them.
    pub(super) fn reset(&self) {
        *self.world() = seeded_world(&self.options, self.knowledge_url());
        *self.fault_queue() = FaultQueue::default();
        self.request_log().clear();
    }

    /// Adds a request to the log and returns its number, which [`RequestLog::set_status`] takes.
    ///
    /// `prefix` is the start of the path that a nested router has removed from the request.
    pub(super) fn log_request(&self, prefix: &str, operation: Option<&'static str>, head: &Parts) -> usize {
        self.request_log().add(LoggedRequest {
            operation,
            method: head.method.to_string(),
            path: format!("{prefix}{}", path_and_query(head)),
            status: None,
            key: authentication::key_id(&head.headers),
        })
    }
}

fn seeded_world(options: &Options, knowledge_url: String) -> World {
    World::new(options, knowledge_url, [seed::demo::project(), seed::arena::project()])
}

fn knowledge_url(address: SocketAddr) -> String {
    format!("http://{address}")
}

pub(super) fn path_and_query(head: &Parts) -> String {
    head.uri.path_and_query().map_or_else(|| head.uri.path().to_owned(), ToString::to_string)
}

/// Locks a mutex. A poisoned lock is ignored: after a panic, the records of a sandbox need no protection.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
