//! MCP over Streamable HTTP, for many callers at once.
//!
//! The library's `StreamableHttpService` speaks the protocol, in an axum `Router`. The server keeps no session: each request
//! brings its credential, and any process can serve any request. One request passes these steps:
//!
//! 1. `app` has the routes and the layers around them, `state` what all requests share: a line of the `access_log`, requests of
//!    browsers (`origin`), the time limit of a body;
//! 2. `auth` finds the caller: `endpoint` reads the project and the tools that address and headers choose, and `credentials` has
//!    the callers and the `limits` of the credential. `oauth` and `issuer` check the token of a user, and `grants` chooses which of
//!    the keys of a user makes a call;
//! 3. the library checks host, origin, length and headers, decodes the message, and calls `handler`, which admits the request and
//!    calls the server.
//!
//! A request that is not served ends with a refusal of `limits`. `metrics` serves numbers and health on an address of its own; with the feature `otlp`, `traces` sends spans to a collector. `server` listens, and ends
//! without losing calls. [`Application::for_service`] serves another MCP handler in the same way.

mod access_log;
mod app;
mod auth;
mod credentials;
mod endpoint;
mod grants;
mod handler;
mod issuer;
mod limits;
mod metrics;
mod oauth;
mod origin;
mod server;
mod state;
#[cfg(feature = "otlp")]
pub(crate) mod traces;

pub use access_log::ACCESS_TARGET;
pub use app::Application;
pub use server::{HttpServer, StopRequest};
