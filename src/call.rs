//! One call of one operation: argument check, project scope, duplicate guard, request, reply.

pub mod common_arguments;
pub mod config;
pub mod context;
mod duplicate_guard;
pub mod gateway;
pub mod grant;
pub mod operation_request;
pub mod paging;
pub mod reply;
pub mod scope;
pub mod shared_store;
mod subject;
