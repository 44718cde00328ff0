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
//! | [`cli`] | the command line for users and CI | `http`, `mcp` and every layer below them, except `sandbox` |
//! | [`mcp`] | the MCP protocol, on standard input and output | `settings` and every layer below it, except `sandbox` |
//! | [`settings`] | flags, environment variables and files; the configuration of each lower layer | `tools` and every layer below them, except `sandbox` |
//! | [`tools`] | the list of all tools, selection, composite tools, local files | `call`, `client`, `service` |
//! | [`call`] | calls of operations with one key: argument check, project scope, request, reply | `client`, `service` |
//! | [`client`] | the HTTP client: key, addresses, limits, retries, TLS | `service` |
//! | [`sandbox`] | the service in memory | `service` |
//! | [`service`] | the description of the service: operations, schemas, rules, request layout | foundations only |
//! | [`backoff`], [`clock`], [`failure`], [`fields`], [`home_path`], [`picture`], [`text`], [`text_file`] | foundations | other foundations |
//!
//! # The path of one call
//!
//! A call of `get_run` goes down once and comes back once. These functions pass it on between `rmcp` and `reqwest`:
//!
//! | function | what it does | passes on |
//! |-|-|-|
//! | `Server::call_tool` of [`mcp`] | finds the [`tools::catalog::Tool`], opens a span | JSON arguments as [`fields::Fields`] |
//! | `ServerState::call_or_ask` | begins a task, or asks a person first, where the tool needs it | |
//! | [`call::arguments::ToolArguments::from_host`] | separates what all tools take | [`call::arguments::ToolArguments`] |
//! | `ToolRunner::run` | sends progress, ends a cancelled call | |
//! | [`mcp::Callers::choose`] | chooses the key | [`call::Caller`] |
//! | `run_operation` | is what [`tools::catalog::Tool::run`] points to; composite tools have functions of their own, which call several operations | |
//! | [`call::Caller::call`] | is the rest of the path, in the order of this table | |
//! | [`call::Caller::check`] | reports every violation of the arguments at once | [`call::CheckedArguments`] |
//! | [`service::arguments::check`] | converts values, and checks them against the schema | |
//! | `Caller::sender` | gets the key, sets the deadline | |
//! | `Caller::request` | asks for the project, lays out the request | |
//! | `Scope::resolve` | finds the project | |
//! | [`service::request::Request::new`] | lays out method, path, query and body, once | [`service::request::Request`] |
//! | `RequestSender::send` | reads the record from a list if the service has no operation for it | |
//! | [`client::Client::send`] | repeats the request as far as the retry policy allows | |
//! | `Hosts::attempt` | sends it once, within the time limit | `reqwest::Request` |
//! | `HttpResponse::read` | reads the body up to its limit | [`client::HttpResponse`] |
//! | `Reply::new` | parses, cleans and selects; or a [`failure::Failure`] with a code, a message and a hint | [`call::reply::Reply`] |
//! | `tool_result` | makes the result of the protocol | `rmcp::model::CallToolResult` |
//! | [`call::reply::Reply::into_limited`] | cuts it to the length that hosts accept | |
//!
//! Where logic needs fields of an answer, it reads a typed view ([`service::lenient`]).
//!
//! In global scope with an organization key, the id decides the project. `Scope::resolve` then looks the id up in the known
//! projects: `OwnerLookup::common_owner`, `search` and `look_up`, which sends its requests by `RequestSender::send`. Reads use
//! the owners that earlier answers have shown; writes do not.
//!
//! A caller is one API key in one project scope. Standard input and output and the command line have one. Over HTTP the
//! key of the request makes the call; of the keys that a signed-in user may use, `http::grants` chooses one.
//!
//! The sandbox reads the same description: the list of operations is its list of routes, it checks requests with the
//! same schemas and rules, and it answers through [`sandbox::Answer`], which the compiler demands for every operation.
//!
//! Comments refer to the sections of `docs/service.md`, which describes the service, in the form (service.md 2.3).

pub mod backoff;
pub mod call;
pub mod cli;
pub mod client;
pub mod clock;
pub mod demo;
pub mod failure;
pub mod fields;
pub mod home_path;
pub mod http;
pub mod mcp;
pub mod picture;
#[cfg(test)]
mod random_inputs;
pub mod sandbox;
pub mod service;
pub mod settings;
pub mod text;
pub mod text_file;
pub mod tools;
