//! MCP over Streamable HTTP, for many callers at once.
//!
//! The library's `StreamableHttpService` speaks the protocol, in an axum `Router`. The server keeps no session: each request
//! brings its credential, and any process can serve any request. One request passes these steps:
//!
//! 1. `listen` accepts the connection, if there is a place for it; hyper reads the head of the request, with a time limit;
//! 2. `app` has the routes and the layers around them, `state` what all requests share: a line of the `access_log`, the check of host and `origin`, requests of browsers;
//! 3. `auth` finds the caller: `endpoint` reads the project and the tools that address and headers choose, and `tenants` has the
//!    server and the `limits` of the credential. `oauth` and `issuer` check the token of a user, and `grants` chooses which of the
//!    keys of a user makes a call;
//! 4. `body` reads the message within its limits, and passes it to the library;
//! 5. the library compares message and headers, and calls `handler`, which admits the request and calls the server.
//!
//! A request that is not served ends with a `refusal`, which has its `request_id`. `front_page` tells users how to connect their hosts. `admin` serves health and `metrics` on an address of its own; with the
//! feature `otlp`, `traces` sends spans to a collector. `setup_check` checks the settings for `tas-mcp status`.
//! [`Application::for_service`] serves another MCP handler in the same way.

mod access_log;
mod admin;
mod app;
mod auth;
mod body;
mod endpoint;
mod front_page;
mod grants;
mod handler;
mod issuer;
mod limits;
mod listen;
mod long_work;
mod metrics;
mod oauth;
mod origin;
mod refusal;
mod request_id;
mod setup_check;
mod state;
mod tenants;
#[cfg(feature = "otlp")]
mod traces;

pub use access_log::ACCESS_TARGET;
pub use app::Application;
pub use front_page::{HostGuide, HostGuides};
pub use listen::{HttpServer, StopRequest};
pub use setup_check::{SetupCheck, check_setup};
