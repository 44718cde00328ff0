//! An MCP server, command line and sandbox for the Test Automation Service.

pub mod api;
pub mod arguments;
pub mod catalog;
pub mod operation;
pub mod rule;
pub mod sandbox;
pub mod schema;
pub mod wire;
