//! What every request of a sandbox shares, and what an operation makes of a request.

use std::{
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use axum::{
    body::{Body, Bytes},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use serde_json::{Value, json};

use super::{
    Answered, Content, Endpoint, Exchange, Fault, Headers, Observer, Options, World, access,
    depot::Depot,
    faults::Faults,
    journal::{Journal, Seen},
    reading,
};
use crate::{
    fields::Fields,
    service::{
        operation::UrlBase,
        request,
        tool::{Access, PROJECT_ID},
    },
};

/// Where the main API begins.
pub(super) const BASE: &str = "/api/v1";

/// What every request of a sandbox shares.
pub(super) struct Service {
    pub(super) address: SocketAddr,
    pub(super) options: Options,
    /// Where the bytes of builds lie.
    pub(super) depot: Depot,
    observer: Option<Observer>,
    world: Mutex<World>,
    faults: Mutex<Faults>,
    journal: Mutex<Journal>,
}

impl Service {
    /// A service with the seed data.
    pub(super) fn new(address: SocketAddr, options: Options, observer: Option<Observer>) -> Self {
        let world = Mutex::new(World::new(&options, format!("http://{address}")));
        let (faults, journal, depot) = (Mutex::default(), Mutex::default(), Depot::default());
        Self { address, options, depot, observer, world, faults, journal }
    }

    /// Base address of the main API.
    pub(super) fn base_url(&self) -> String {
        format!("http://{}{BASE}", self.address)
    }

    /// Address of the knowledge host.
    pub(super) fn knowledge_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The world, for one request.
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        locked(&self.world)
    }

    /// The time of the world, as a header says it.
    pub(super) fn date(&self) -> HeaderValue {
        let mut world = self.world();
        world.look_at_clock();
        let date = world.now.timestamp().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        HeaderValue::try_from(date).unwrap_or_else(|_| HeaderValue::from_static(""))
    }

    /// The ordered faults.
    pub(super) fn faults(&self) -> MutexGuard<'_, Faults> {
        locked(&self.faults)
    }

    /// The latest requests.
    pub(super) fn journal(&self) -> MutexGuard<'_, Journal> {
        locked(&self.journal)
    }

    /// Everything as at the start.
    pub(super) fn reset(&self) {
        *self.world() = World::new(&self.options, self.knowledge_url());
        *self.faults() = Faults::default();
        self.journal().clear();
    }

    /// Notes a request in the journal; the number is for [`Journal::answered`].
    pub(super) fn arrived(&self, operation: Option<&'static str>, head: &Parts) -> usize {
        self.arrived_below("", operation, head)
    }

    /// As [`Self::arrived`], where the request has lost the beginning of its path.
    pub(super) fn arrived_below(&self, prefix: &str, operation: Option<&'static str>, head: &Parts) -> usize {
        self.journal().arrived(Seen {
            operation,
            method: head.method.to_string(),
            path: format!("{prefix}{}", path_and_query(head)),
            status: None,
            key: access::key_id(&head.headers),
        })
    }

    /// Does what a request asks for.
    pub(super) fn execute(&self, call: &Call) -> Reply {
        self.answer(call).unwrap_or_else(|fault| Reply::json(fault.status, &fault.body))
    }

    /// Shows an answer to the observer.
    pub(super) fn observed(&self, call: &Call, reply: Reply) -> Reply {
        if let Some(observer) = &self.observer {
            observer(&Exchange {
                method: call.head.method.clone(),
                path: path_and_query(&call.head),
                status: reply.status.as_u16(),
                content_type: reply.content_type(),
                body: reply.body.clone(),
            });
        }
        reply
    }

    fn answer(&self, call: &Call) -> Result<Reply, Fault> {
        let entry = call.entry;
        let project = self.project_of(call);
        let caller = access::admit(&call.head.headers, project.as_deref(), entry.access)?;
        let body = call.body.as_ref().ok_or_else(reading::too_large)?;
        let mut path = call.path.clone();

        path.shift_remove(PROJECT_ID);
        let mut fields = reading::fields(&entry, path, call.head.uri.query().unwrap_or_default(), body)?;
        request::rename(&entry, &mut fields, &self.options.tmsys_name, "tmsys");

        let mut world = self.world();
        world.look_at_clock();

        // Where there is no key, there is no 403 for an unknown project either: the operation has its own word for it.
        if entry.access != Access::NoKey {
            world.project(&caller)?;
        }

        let Answered { status, headers, body } = (entry.answer)(&mut world, fields, &caller)?;
        match body {
            Content::Json(mut body) => {
                rename_tmsys(&mut body, &self.options.tmsys_name);
                Ok(Reply::json(status, &body))
            }
            Content::Raw(body) => Ok(Reply { status, headers, body }),
        }
    }

    /// The project that a request names, or that owns the run which it is about where no path names one.
    fn project_of(&self, call: &Call) -> Option<String> {
        let text = |name| call.path.get(name).and_then(Value::as_str);
        if let Some(project) = text(PROJECT_ID) {
            return Some(project.to_owned());
        }

        let run = text("run_id").filter(|_| call.entry.request.url_base == UrlBase::Knowledge)?;
        let owner = self.world().project_with_run(run);
        // A run that nobody has is missing, whoever asks.
        let asker = access::key_of(&call.head.headers).filter(|key| key.is_of_organization());

        owner.or_else(|| asker.and_then(|_| self.world().projects().keys().next().cloned()))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request for an operation.
pub(super) struct Call {
    pub(super) entry: Endpoint,
    /// Decoded values of the path, the project among them.
    pub(super) path: Fields,
    pub(super) head: Parts,
    /// `None`: it was longer than is read.
    pub(super) body: Option<Bytes>,
}

/// An answer that can be looked at before it is sent.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: Headers,
    pub(super) body: Bytes,
}

impl Reply {
    /// An answer with a JSON body.
    pub(super) fn json(status: StatusCode, body: &Value) -> Self {
        let kind = HeaderValue::from_static("application/json");
        Self { status, headers: vec![(header::CONTENT_TYPE, kind)], body: body.to_string().into() }
    }

    fn content_type(&self) -> Option<String> {
        let (_, kind) = self.headers.iter().find(|(name, _)| name == header::CONTENT_TYPE)?;
        kind.to_str().ok().map(str::to_owned)
    }

    /// The general error body.
    pub(super) fn error(status: StatusCode, error: &str) -> Self {
        Self::json(status, &json!({"error": error}))
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        (self.status, HeaderMap::from_iter(self.headers), Body::from(self.body)).into_response()
    }
}

/// Names fields as a deployment does that calls the test-management system otherwise.
fn rename_tmsys(body: &mut Value, word: &str) {
    let Value::Object(fields) = body else { return };
    if word == "tmsys" {
        return;
    }

    let renamed = |name: String| match name.strip_prefix("tmsys") {
        Some(rest) if rest.is_empty() || rest.starts_with('_') => format!("{word}{rest}"),
        _ => name,
    };
    *fields = std::mem::take(fields).into_iter().map(|(name, value)| (renamed(name), value)).collect();
}

fn path_and_query(head: &Parts) -> String {
    head.uri.path_and_query().map_or_else(|| head.uri.path().to_owned(), ToString::to_string)
}
