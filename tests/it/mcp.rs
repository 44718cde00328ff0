//! The MCP server: protocol, standard input and output, confirmation, tasks, prompts, resources, skills.

mod completion;
mod confirmation;
mod offered_texts;
mod prompts;
mod resources;
mod server;
mod skills;
mod stdio;
mod tasks;
