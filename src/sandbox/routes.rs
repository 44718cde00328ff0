//! The operations of the catalog as routes, and the one handler of them all.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{RawPathParams, Request, rejection::RawPathParamsRejection},
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
};
use http::{StatusCode, header, request::Parts};
use serde_json::{Value, json};

use super::{
    Exchange, Fault, Observer, Options, World, access, control,
    faults::{Faults, Order},
    journal::{Journal, Seen},
    reading,
};
use crate::{
    catalog::{Entry, OPERATIONS},
    operation::{Fields, TMSYS},
    wire::encoded,
};

/// Where the main API begins.
const BASE: &str = "/api/v1";

/// Placeholder of the project in routes that name it.
const PROJECT: &str = "project";

/// Largest body that is read, in bytes.
const LARGEST_BODY: usize = 16 * 1024 * 1024;

/// What every request of a sandbox shares.
pub(super) struct Service {
    pub(super) address: SocketAddr,
    options: Options,
    observer: Option<Observer>,
    world: Mutex<World>,
    faults: Mutex<Faults>,
    journal: Mutex<Journal>,
}

impl Service {
    /// A service with the seed data.
    pub(super) fn new(address: SocketAddr, options: Options, observer: Option<Observer>) -> Self {
        let world = Mutex::new(World::new(options.speed, format!("http://{address}")));
        let (faults, journal) = (Mutex::default(), Mutex::default());
        Self { address, options, observer, world, faults, journal }
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
        *self.world() = World::new(self.options.speed, self.knowledge_url());
        *self.faults() = Faults::default();
        self.journal().clear();
    }

    fn arrived(&self, operation: Option<&'static str>, head: &Parts) -> usize {
        self.journal().arrived(Seen {
            operation,
            method: head.method.to_string(),
            path: path_and_query(head),
            status: None,
            key: access::key_of(&head.headers).map(|key| key.id),
        })
    }

    /// Does what a request asks for.
    fn execute(&self, call: &Call) -> Reply {
        self.answer(call).unwrap_or_else(|fault| Reply::json(fault.status, &fault.body))
    }

    /// Shows an answer to the observer.
    fn observed(&self, call: &Call, reply: Reply) -> Reply {
        if let Some(observer) = &self.observer {
            observer(&Exchange {
                method: call.head.method.clone(),
                path: path_and_query(&call.head),
                status: reply.status.as_u16(),
                content_type: Some(reply.content_type.to_owned()),
                body: reply.body.clone(),
            });
        }
        reply
    }

    fn answer(&self, call: &Call) -> Result<Reply, Fault> {
        let entry = call.entry;
        let project = call.path.get(PROJECT).and_then(Value::as_str);
        let caller = access::admit(&call.head.headers, project, entry.permission)?;
        let body = call.body.as_ref().ok_or_else(reading::too_large)?;
        let mut path = call.path.clone();
        path.shift_remove(PROJECT);
        let fields = reading::fields(entry, path, call.head.uri.query().unwrap_or_default(), body)?;
        let mut world = self.world();
        world.look_at_clock();
        world.project(&caller)?;
        let (status, mut body) = (entry.answer)(&mut world, fields, &caller)?;
        rename_tmsys(&mut body, &self.options.tmsys_name);
        Ok(Reply::json(status, &body))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request for an operation.
struct Call {
    entry: &'static Entry,
    /// Decoded values of the path, the project among them.
    path: Fields,
    head: Parts,
    /// `None`: it was longer than is read.
    body: Option<Bytes>,
}

/// An answer that can be looked at before it is sent.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) content_type: &'static str,
    pub(super) body: Bytes,
}

impl Reply {
    /// An answer with a JSON body.
    pub(super) fn json(status: StatusCode, body: &Value) -> Self {
        Self { status, content_type: "application/json", body: body.to_string().into() }
    }

    /// The general error body.
    pub(super) fn error(status: StatusCode, error: &str) -> Self {
        Self::json(status, &json!({"error": error}))
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        (self.status, [(header::CONTENT_TYPE, self.content_type)], Body::from(self.body)).into_response()
    }
}

/// Every route of the sandbox.
pub(super) fn router(service: &Arc<Service>) -> Router {
    let mut router = Router::new();
    for entry in &OPERATIONS {
        let path = entry.path.replace(TMSYS, &encoded(&service.options.tmsys_name));
        let Ok(method) = MethodFilter::try_from(entry.method.clone()) else { continue };
        for prefix in [format!("{BASE}/project/{{{PROJECT}}}"), BASE.to_owned()] {
            let service = Arc::clone(service);
            let handler = move |path: Result<RawPathParams, RawPathParamsRejection>, request: Request| {
                serve(Arc::clone(&service), entry, path, request)
            };
            router = router.route(&format!("{prefix}{path}"), on(method, handler));
        }
    }
    let refusing = |status: StatusCode, error: &'static str| {
        let service = Arc::clone(service);
        move |request: Request| std::future::ready(refuse(&service, request, status, error))
    };
    router
        .fallback(refusing(StatusCode::NOT_FOUND, "route not found"))
        .method_not_allowed_fallback(refusing(StatusCode::METHOD_NOT_ALLOWED, "method not allowed"))
        .nest("/_sandbox", control::router(service))
}

fn refuse(service: &Service, request: Request, status: StatusCode, error: &str) -> Response {
    let (head, _) = request.into_parts();
    let number = service.arrived(None, &head);
    service.journal().answered(number, status.as_u16());
    Reply::error(status, error).into_response()
}

async fn serve(
    service: Arc<Service>,
    entry: &'static Entry,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let number = service.arrived(Some(entry.name), &head);
    let path = match &path {
        Ok(path) => path.iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect(),
        // Bytes that are no text: no id of ours.
        Err(_) => unreadable(entry, head.uri.path()),
    };
    let body = to_bytes(body, LARGEST_BODY).await.ok();
    let call = Call { entry, path, head, body };
    let fault = service.faults().take(entry.name);
    let response = match fault {
        None => service.observed(&call, service.execute(&call)).into_response(),
        Some(order) => under_order(&service, &call, &order).await,
    };
    if response.extensions().get::<super::server::Reset>().is_none() {
        service.journal().answered(number, response.status().as_u16());
    }
    response
}

/// The answer of a request that meets an ordered fault.
async fn under_order(service: &Service, call: &Call, order: &Order) -> Response {
    let first = order.after.then(|| service.execute(call));
    order.wait().await;
    if order.replaces() {
        return order.apply(first);
    }
    let reply = first.unwrap_or_else(|| service.execute(call));
    order.apply(Some(service.observed(call, reply)))
}

fn unreadable(entry: &Entry, path: &str) -> Fields {
    let named = path.starts_with(&format!("{BASE}/project/")).then_some(PROJECT);
    entry.path_fields().chain(named).map(|name| (name.to_owned(), Value::from("\u{fffd}"))).collect()
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
