//! The MCP server: protocol, standard input and output, confirmation, tasks, prompts, resources, skills, subscriptions.

mod completion;
mod confirmation;
mod offered_texts;
mod prompts;
mod resources;
mod server;
mod skills;
mod stdio;
mod subscriptions;
mod tasks;
