//! The HTTP side of the sandbox.

pub(super) mod authentication;
mod control;
mod faults;
mod operations;
pub(super) mod reply;
mod request_fields;
pub(super) mod server;
mod state;
mod storage;
