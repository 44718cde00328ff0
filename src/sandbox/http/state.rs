//! The state that all requests of a sandbox share, and the log of the latest requests.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use axum::http::{HeaderValue, request::Parts};
use axum::response::Response;
use jiff::Timestamp;
use serde::Serialize;

use crate::sandbox::http::authentication;
use crate::sandbox::http::faults::FaultQueue;
use crate::sandbox::http::reply::{ConnectionReset, Observer};
use crate::sandbox::model::builds::BlobStore;
use crate::sandbox::model::time::Moment;
use crate::sandbox::model::world::{Options, World};
use crate::sandbox::seed;

pub(super) const API_PREFIX: &str = "/api/v1";

/// Number of requests that the log keeps.
const CAPACITY: usize = 1_000;

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
    pub(super) fn new(address: SocketAddr, options: Options, observer: Option<Observer>) -> io::Result<Self> {
        let start = Moment::at_second(options.start.unwrap_or_else(Timestamp::now));
        let projects = seed::projects(start).map_err(io::Error::other)?;
        let world = World::new(&options, knowledge_url(address), start, projects);
        Ok(Self {
            address,
            world: Mutex::new(world),
            options,
            blob_store: BlobStore::default(),
            observer,
            fault_queue: Mutex::default(),
            request_log: Mutex::default(),
        })
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://{}{API_PREFIX}", self.address)
    }

    pub(super) fn knowledge_url(&self) -> String {
        knowledge_url(self.address)
    }

    /// Locks the world at its current time.
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        let mut world = lock(&self.world);
        world.update_now();
        world
    }

    pub(super) fn fault_queue(&self) -> MutexGuard<'_, FaultQueue> {
        lock(&self.fault_queue)
    }

    pub(super) fn request_log(&self) -> MutexGuard<'_, RequestLog> {
        lock(&self.request_log)
    }

    pub(super) fn date(&self) -> HeaderValue {
        let date = self.world().now.timestamp().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();

        HeaderValue::try_from(date).unwrap_or_else(|_| HeaderValue::from_static(""))
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
            key: authentication::key_id(&head.headers, &self.options.secret),
        })
    }

    /// Adds the status of a response to the log, unless the connection is closed in place of the response.
    pub(super) fn log_response(&self, number: usize, response: &Response) {
        if response.extensions().get::<ConnectionReset>().is_none() {
            self.request_log().set_status(number, response.status().as_u16());
        }
    }
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

#[derive(Debug, Serialize)]
pub(super) struct LoggedRequest {
    /// Null for routes that do not exist.
    pub(super) operation: Option<&'static str>,
    pub(super) method: String,
    /// Path and query.
    pub(super) path: String,
    /// Null until the request is answered, and for requests that are never answered.
    pub(super) status: Option<u16>,
    /// Id of the key, `unknown` for a key that does not exist; null if no key was sent.
    pub(super) key: Option<&'static str>,
}

/// The latest requests that arrived, by their numbers.
#[derive(Debug, Default)]
pub(super) struct RequestLog(BTreeMap<usize, LoggedRequest>);

impl RequestLog {
    pub(super) fn add(&mut self, request: LoggedRequest) -> usize {
        let number = self.0.last_key_value().map_or(0, |(last, _)| last + 1);
        self.0.insert(number, request);
        if self.0.len() > CAPACITY {
            self.0.pop_first();
        }

        number
    }

    /// Sets the status of the answer to a request. Does nothing if the request is no longer in the log.
    pub(super) fn set_status(&mut self, number: usize, status: u16) {
        if let Some(request) = self.0.get_mut(&number) {
            request.status = Some(status);
        }
    }

    pub(super) fn requests(&self) -> Vec<&LoggedRequest> {
        self.0.values().collect()
    }
}
