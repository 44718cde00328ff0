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
//! | [`backoff`], [`clock`], [`failure`], [`fields`], [`home_path`], [`picture`], [`text`], [`text_file`], [`violation`] | foundations | other foundations |
//!
//! # The path of one call
//!
//! A call of `get_run` goes down once and comes back once. These are its functions between `rmcp` and `reqwest`, each
//! of which waits for the next:
//!
//! 1. `ServerHandler::call_tool` of [`mcp::Server`] finds the [`tools::catalog::Tool`]. A call that a user must
//!    confirm, or that may become a task, takes several steps here.
//! 2. `ToolRunner::run` chooses the caller ([`mcp::Callers`]), sends progress, and ends a cancelled call.
//! 3. `run_operation` is what [`tools::catalog::Tool::run`] points to. A composite tool has a function of its own,
//!    which calls several operations.
//! 4. [`call::Caller::call`] reports every violation of the arguments at once: of the schema
//!    ([`service::arguments::check`]), the rules ([`service::rule::Rule::check`]) and the path
//!    ([`service::request::layout`]). It finds the project.
//! 5. `Caller::execute` makes a reply of the answer, or a [`failure::Failure`] with a code, a message and a hint.
//! 6. `RequestSender::send` reads the record from a list if the service has no operation for it.
//! 7. [`client::Client::send`] sends the request, and repeats it as far as the retry policy allows.
//!
//! In global scope with an organization key, the id decides the project. Between steps 4 and 5, `Scope::resolve` then looks the
//! id up in the known projects: `OwnerLookup::common_owner`, `search` and `look_up`, which sends its requests by step 6. Reads use
//! the owners that earlier answers have shown; writes do not.
//!
//! The data has these shapes:
//!
//! | shape | type |
//! |-|-|
//! | JSON arguments | [`fields::Fields`] |
//! | arguments, those of all tools separated | [`call::arguments::ToolArguments`] |
//! | checked arguments and the layout of their request | `OperationRequest` |
//! | request, with its project and its hints for failures | [`client::HttpRequest`] |
//! | request as it is sent | `reqwest::Request` |
//! | response | [`client::HttpResponse`] |
//! | JSON of the answer, parsed once; where logic needs fields, with a typed view | `serde_json::Value` |
//! | reply | [`call::reply::Reply`] |
//! | result | `rmcp::model::CallToolResult` |
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
pub mod violation;
