//! An MCP server, command line and sandbox for the Test Automation Service.
//!
//! # The modules
//!
//! | module | what it is |
//! |-|-|
//! | [`api`] | records and operations of the service; each operation is described once |
//! | [`local`] | tools that are more than one request |
//! | [`tool`] | what hosts and people see of a tool |
//! | [`operation`], [`rule`] | what a description says: the trait, effects, sets of tools, rules between arguments |
//! | [`catalog`] | the one list of operations |
//! | [`schema`], [`arguments`] | schemas as hosts accept them, and the check of arguments against them |
//! | [`wire`] | how arguments become path, query and body |
//! | [`config`] | every setting |
//! | [`client`] | requests: key, limits, retries, TLS |
//! | [`scope`] | which project a call goes to |
//! | [`gateway`], [`call`], [`reply`], [`failure`] | one call, what its requests share, and how it ends |
//! | [`listing`] | lists of the service, page by page to their end |
//! | [`download`], [`upload`], [`files`] | files of runs and installers come down, builds go up; where files may lie |
//! | [`report`] | a page to look at: a run or a summary as one HTML file |
//! | [`picture`] | pictures, small enough for hosts |
//! | [`waiting`] | waiting for runs, and what came of them |
//! | [`summary`] | what became of a run, a job or an execution, in one short answer |
//! | [`mcp`] | the server: tools, protocol revisions, standard input and output |
//! | [`sandbox`] | the service in memory |
//! | [`cli`] | the operations as commands |
//! | [`demo`] | a session, told as it happens |
//!
//! # The path of one call
//!
//! [`mcp::Server`] finds the [`tool::Tool`] and hands the arguments to [`gateway::Gateway::call_tool`], which
//!
//! 1. checks them against the schema ([`arguments::check`]), the rules ([`rule::Rule::check`]) and the path
//!    ([`wire::layout`]), and reports every violation at once;
//! 2. finds the project ([`scope::Scope::resolve`]), with look-ups only where they decide something;
//! 3. looks first whether a call of unknown outcome happened, when it is repeated (`gateway::repeating`);
//! 4. sends the request ([`call::Call::send`], [`client::Client::send`]) as often as its retries allow;
//! 5. makes a [`reply::Reply`] of the answer, or a [`failure::Failure`] with a code, a message and a hint.
//!
//! The sandbox meets the same description from the other side: it is routed by the catalog, checks with the same
//! schema and rules, and answers through [`sandbox::Answer`], which the compiler demands for every operation.

pub mod backoff;
pub mod call;
pub mod cli;
pub mod client;
pub mod clock;
pub mod demo;
pub mod failure;
pub mod fields;
pub mod mcp;
pub mod picture;
pub mod sandbox;
pub mod service;
pub mod settings;
pub mod text;
pub mod tools;
pub mod violation;
