//! An MCP server, command line and sandbox for the Test Automation Service.

pub mod api;
pub mod arguments;
pub mod call;
pub mod catalog;
pub mod client;
pub mod config;
pub mod demo;
pub mod failure;
pub mod gateway;
pub mod mcp;
pub mod operation;
pub mod reply;
pub mod rule;
pub mod sandbox;
pub mod schema;
pub mod scope;
pub mod wire;
