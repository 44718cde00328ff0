//! An MCP server, a command line and a sandbox for the Test Automation Service.
//!
//! # The layers
//!
//! Imports point downward only. `tests/it/layers.rs` holds every path in the source to this table.
//!
//! | layer | content | may import |
//! |-|-|-|
//! | `main.rs` | the process: arguments, settings, logs, subcommand, exit code | every layer |
//! | [`demo`] | a scripted session against the sandbox | `settings`, `mcp`, `sandbox`, `cli` |
//! | [`http`] | MCP over Streamable HTTP for many callers | `mcp`, `settings` and every layer below them, except `sandbox` |
//! | [`cli`] | the command line for people and CI | `http`, `mcp` and every layer below them, except `sandbox` |
//! | [`mcp`] | the MCP protocol, on standard input and output | `settings` and every layer below it, except `sandbox` |
//! | [`settings`] | flags, environment variables and files; the configuration of each lower layer | `store`, `tools` and every layer below them, except `sandbox` |
//! | [`store`] | the store that several HTTP servers share: Redis or Valkey | `call` |
//! | [`tools`] | the list of all tools, selection, dispatch, composite tools, local files | `call`, `client`, `service` |
//! | [`call`] | one call of one operation: argument check, project scope, duplicate guard, request, reply | `client`, `service` |
//! | [`client`] | the HTTP client: key, addresses, limits, retries, TLS | `service` |
//! | [`sandbox`] | the service in memory | `service` |
//! | [`service`] | the description of the service: operations, schemas, rules, request layout | foundations only |
//! | [`backoff`], [`clock`], [`failure`], [`fields`], [`picture`], `sealing`, [`text`], [`text_file`], [`toml_text`], [`violation`] | foundations | other foundations |
//!
//! # The path of one call
//!
//! [`mcp::Server`] finds the [`tools::catalog::Tool`] once and runs it ([`tools::catalog::Tool::run`]). A composite tool calls
//! operations through the gateway. For an operation, [`call::Gateway`]
//!
//! 1. checks the arguments against the schema ([`service::arguments::check`]), the rules
//!    ([`service::rule::Rule::check`]) and the path ([`service::request::layout`]), and reports every violation at once;
//! 2. finds the project (`Scope::resolve`), with look-ups only where they decide something;
//! 3. asks the service first whether an earlier equal call happened, if the outcome of that call is unknown
//!    (duplicate guard);
//! 4. sends the request (`RequestSender::send`, [`client::Client::send`]) and repeats it as far as the retry policy
//!    allows;
//! 5. makes a [`call::reply::Reply`] of the answer, or a [`failure::Failure`] with a code, a message and a hint.
//!
//! The sandbox reads the same description: the list of operations is its list of routes, it checks requests with the
//! same schemas and rules, and it answers through [`sandbox::Answer`], which the compiler demands for every operation.

// The compiler checks the nested types of the futures of a call, which are deeper than its usual limit.
#![recursion_limit = "256"]

pub mod backoff;
pub mod call;
pub mod cli;
pub mod client;
pub mod clock;
pub mod demo;
pub mod failure;
pub mod fields;
pub mod http;
pub mod mcp;
pub mod picture;
#[cfg(test)]
mod random_inputs;
pub mod sandbox;
mod sealing;
pub mod service;
pub mod settings;
pub mod store;
pub mod text;
pub mod text_file;
pub mod toml_text;
pub mod tools;
pub mod violation;
