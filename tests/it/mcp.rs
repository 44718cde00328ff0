//! The MCP server: protocol, standard input and output, confirmation, tasks, prompts, resources.

mod completion;
mod confirmation;
mod offered_texts;
mod prompts;
mod resources;
mod server;
mod stdio;
mod tasks;
