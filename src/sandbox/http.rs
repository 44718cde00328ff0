//! The HTTP side of the sandbox: server, routes, authentication, request reading, storage host, injected faults,
//! control routes and the log of requests.

pub(super) mod authentication;
mod control;
mod faults;
mod operations;
pub(super) mod reply;
mod request_fields;
pub(super) mod server;
mod state;
mod storage;
