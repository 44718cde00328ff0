//! The MCP server: tools, resources and subscriptions to them, prompts, skills, completion, confirmation and tasks, in every
//! protocol revision that the library supports.
//!
//! [`Server`] holds the state. Its implementation of `rmcp::ServerHandler` answers the requests, independent of the
//! transport; [`serve_stdio`] is the transport on standard input and output. A server keeps no state outside of its
//! value, so that one process can run several servers with different keys.

mod call_report;
mod call_tool;
mod callers;
mod completion;
mod config;
mod confirmation;
mod handler;
mod host_quirks;
mod instructions;
pub mod message;
mod methods;
mod panic_guard;
mod profile;
mod progress;
mod prompts;
mod report_view;
mod resources;
mod revision;
mod server;
mod skills;
mod subscriptions;
mod tasks;
mod tool_list;
mod tool_result;
mod tool_runner;
mod value_source;

pub use call_report::{CallFacts, CallReport};
pub use callers::Callers;
pub use config::McpConfig;
pub use confirmation::Confirmer;
pub use host_quirks::serve_stdio;
pub use methods::known_method;
pub use panic_guard::PanicGuard;
pub use profile::{ServerProfile, SharedOffers};
pub use prompts::known_prompt;
pub use revision::WithoutSession;
pub use server::Server;
pub use skills::{SKILLS, Skill};
pub use subscriptions::LastingResponse;
pub use tool_list::{published_tool, published_tools};
pub use tool_runner::EndOfWait;
