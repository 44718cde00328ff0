//! The HTTP side of the sandbox: server, routes, authentication, request reading, storage host, injected faults,
//! control routes and the log of requests.

mod authentication;
mod control;
mod control_access;
pub(super) mod exchange;
mod execution;
mod fault_queue;
mod faulty_body;
mod guide;
mod injected_fault;
pub mod keys;
mod operations;
mod query;
mod reply;
mod request_fields;
mod request_log;
mod routes;
pub(super) mod server;
mod state;
mod storage_errors;
mod storage_faults;
mod storage_host;
mod storage_upload;
