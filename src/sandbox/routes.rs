//! The operations of the catalog as routes, and the one handler of them all.

use std::sync::Arc;

use axum::{
    Router,
    body::to_bytes,
    extract::{RawPathParams, Request, rejection::RawPathParamsRejection},
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
};
use http::{StatusCode, header};
use serde_json::Value;

use super::{
    Endpoint, control, endpoints,
    faults::Order,
    server::Reset,
    service::{BASE, Call, Reply, Service},
    storage,
};
use crate::{
    fields::Fields,
    service::{
        catalog::OperationEntry,
        operation::{PROJECT, TMSYS, UrlBase},
        request::encoded,
        tool::{Access, PROJECT_ID},
    },
};

/// Largest body that is read, in bytes.
const LARGEST_BODY: usize = 16 * 1024 * 1024;

/// Every route of the sandbox.
pub(super) fn router(service: &Arc<Service>) -> Router {
    let mut router = Router::new();
    for entry in endpoints() {
        let path = entry.request.path.replace(TMSYS, &encoded(&service.options.tmsys_name));
        let Ok(method) = MethodFilter::try_from(entry.request.method.clone()) else { continue };

        for prefix in prefixes(&entry) {
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
        .nest(storage::PREFIX, storage::router(service))
}

/// Where the path of an operation begins. Without a key only the path can say the project.
fn prefixes(entry: &OperationEntry) -> Vec<String> {
    let below_project = format!("{BASE}/project/{PROJECT}");
    match entry.request.url_base {
        UrlBase::Project | UrlBase::NamedProject if entry.access == Access::NoKey => vec![below_project],
        UrlBase::Project | UrlBase::NamedProject => vec![below_project, BASE.to_owned()],
        UrlBase::Base => vec![BASE.to_owned()],
        UrlBase::Knowledge => vec![String::new()],
    }
}

fn refuse(service: &Service, request: Request, status: StatusCode, error: &str) -> Response {
    let (head, _) = request.into_parts();
    let number = service.arrived(None, &head);
    service.journal().answered(number, status.as_u16());
    Reply::error(status, error).into_response()
}

async fn serve(
    service: Arc<Service>,
    entry: Endpoint,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let number = service.arrived(Some(entry.name), &head);
    let path = match &path {
        Ok(path) => path.iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect(),
        // Bytes that are no text: no id of ours.
        Err(_) => unreadable(&entry, head.uri.path()),
    };
    let body = to_bytes(body, LARGEST_BODY).await.ok();
    let call = Call { entry, path, head, body };
    let fault = service.faults().take(entry.name);
    let mut response = match fault {
        None => service.observed(&call, service.execute(&call)).into_response(),
        Some(order) => under_order(&service, &call, &order).await,
    };

    response.headers_mut().entry(header::DATE).or_insert(service.date());
    if response.extensions().get::<Reset>().is_none() {
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

fn unreadable(entry: &OperationEntry, path: &str) -> Fields {
    let named = path.starts_with(&format!("{BASE}/project/")).then_some(PROJECT_ID);
    entry.request.path_fields().chain(named).map(|name| (name.to_owned(), Value::from("\u{fffd}"))).collect()
}
