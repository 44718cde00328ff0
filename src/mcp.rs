//! The MCP server: tools, resources, prompts, completion, confirmation and tasks, in every protocol revision that the
//! library supports.
//!
//! [`Server`] holds the state. Its implementation of `rmcp::ServerHandler` answers the requests, independent of the
//! transport; [`serve_stdio`] is the transport on standard input and output. A server keeps no state outside of its
//! value, so that one process can run several servers with different keys.

mod call_tool;
mod completion;
mod config;
mod confirmation;
mod handler;
mod instructions;
mod listed_tool;
pub mod message;
mod panic_guard;
mod progress;
mod prompts;
mod published_tool;
mod report_view;
mod resources;
mod result_metadata;
mod revision;
mod server;
mod stdio;
mod tasks;
mod tool_caller;
mod tool_result;
mod value_source;

pub use config::McpConfig;
pub use published_tool::published_tool;
pub use server::Server;
pub use stdio::serve_stdio;
