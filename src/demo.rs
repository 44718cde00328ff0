//! `tas-mcp demo`: a session of an assistant with the real server and an embedded sandbox.
//!
//! The demo prints each step. It fails if the result of a step is not the expected one.

mod client;
mod result_steps;
mod scenario;
mod script;
mod start_steps;
mod transcript;

pub use script::run;
