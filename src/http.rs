//! MCP over Streamable HTTP, for many callers at once (`http.md`).
//!
//! The server keeps no session: each request brings its credential, and any process can serve any request. One request
//! passes these steps:
//!
//! 1. `connection` reads the head of the request, with time limits;
//! 2. `origin` checks the host and the origin, and answers preflight requests of browsers;
//! 3. `endpoint` reads the project and the tools that address and headers choose, `identification` the caller: `credential`
//!    reads a key, `authorization` and `grants` check the token of a person;
//! 4. `exchange` reads and decodes the message, and `revision_headers` compares it with the headers;
//! 5. `tenants` finds the server of the credential, `limits` admits the request;
//! 6. `answer` runs the request and sends the result as JSON, or as a stream of events if there is progress.
//!
//! `access_log` writes a line about each request, and counts it in `metrics`; with the feature `otlp`, `traces` sends a span of
//! it to a collector. `admin` serves health and metrics on an address of its own. `setup_check` checks the settings for `tas-mcp doctor`. [`Application::for_service`] serves another MCP service in the
//! same way.

mod access_log;
mod admin;
mod answer;
mod application;
mod authorization;
mod client_address;
mod connection;
mod credential;
mod detached_peer;
mod endpoint;
mod event_stream;
mod exchange;
mod grants;
mod identification;
mod limits;
mod listener;
mod metrics;
mod opened_service;
mod origin;
mod overload;
mod pending_answer;
mod refusal;
mod request_body;
mod revision_headers;
mod setup_check;
mod tenants;
#[cfg(feature = "otlp")]
mod traces;

pub use access_log::ACCESS_TARGET;
pub use application::Application;
pub use listener::HttpServer;
pub use setup_check::{SetupCheck, check_setup};
