//! The server over HTTP, request by request.

mod bytes;
mod callers;
mod ending;
mod endpoints;
mod limits;
mod links;
mod other_services;
mod parity;
mod refusals;
mod replicas;
mod revisions;
#[cfg(unix)]
mod streams;
mod tenants;
#[cfg(feature = "otlp")]
mod traces;
mod users;
