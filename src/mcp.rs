//! The MCP server: tools, resources, prompts, skills, completion, confirmation and tasks, in every
//! protocol revision that the library supports.
//!
//! [`Server`] holds the state. Its implementation of `rmcp::ServerHandler` answers the requests, independent of the
//! transport; [`serve_stdio`] is the transport on standard input and output. A server keeps no state outside of its
//! value, so that one process can run several servers with different keys.

mod call_tool;
mod callers;
mod completion;
mod confirmation;
mod handler;
mod question;
mod report_view;
mod resources;
mod revision;
mod server;
mod skills;
mod tasks;
mod tool_list;
mod tool_result;
mod transport;

pub use call_tool::{AUDIT_TARGET, failure_code};
pub use callers::Callers;
pub use confirmation::Confirmer;
pub use question::with_names;
pub use revision::WithoutSession;
pub use server::{McpConfig, Server, ServerProfile};
pub use skills::{SHELL_SKILL, SKILLS, Skill, known_prompt};
pub use tool_list::{published_tool, published_tools};
pub use transport::{parent_exit, serve_stdio};
