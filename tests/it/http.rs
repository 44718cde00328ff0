//! The server over HTTP, request by request.

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
mod streams;
mod tenants;
pub(crate) mod users;
