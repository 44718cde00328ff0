//! The description of the Test Automation Service: its operations, their arguments, and the layout of their requests.
//!
//! Every other layer reads this description. This layer sends no requests.

pub mod api;
pub mod arguments;
pub mod catalog;
pub mod operation;
pub mod request;
pub mod result_kind;
pub mod rule;
pub mod schema;
pub mod tool;
pub mod view;
