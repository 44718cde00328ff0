//! The description of the Test Automation Service: its operations, and how each one is checked and sent.
//!
//! Every other layer reads this description. The layer itself sends nothing.

pub mod api;
pub mod arguments;
pub mod catalog;
pub mod operation;
pub mod request;
pub mod result_kind;
pub mod rule;
pub mod schema;
pub mod tool;
