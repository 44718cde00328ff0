//! Integration tests: one binary. The modules mirror the layers of the crate.
//!
//! | module | what it tests |
//! |-|-|
//! | `service` | schemas, request layout, and the contract of the service |
//! | `client` | requests: key, addresses, limits, retries, TLS |
//! | `sandbox` | the sandbox, request by request |
//! | `call` | one call of an operation: arguments, project scope, reply |
//! | `tools` | snapshots of all tools, and the composite tools |
//! | `settings` | flags, environment variables and their problems |
//! | `mcp` | the server as a host sees it |
//! | `http` | the server over HTTP, request by request |
//! | `cli` | the built binary as a command line, and the documentation |
//! | `soak` | many calls to the built binary while the service fails now and then |
//! | `layers` | the imports between the layers of the crate |
//! | `support` | fixtures: service, host, clock, contract |
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail the test; the lints excuse only the tests themselves"
)]

mod support;

mod call;
mod cli;
mod client;
mod http;
mod layers;
mod mcp;
mod sandbox;
mod service;
mod settings;
mod soak;
mod tools;
