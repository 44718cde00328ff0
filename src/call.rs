//! One call of one operation: argument check, project scope, duplicate guard, request, reply.

pub mod config;
pub mod context;
pub mod gateway;
pub mod paging;
pub mod reply;
pub mod scope;
