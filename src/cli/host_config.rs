//! The entry of this server in the configuration of hosts, which are the programs that start MCP servers.
//!
//! [`edit`](edit()) changes a text and knows no files. [`ConfigFile`] reads and replaces files and knows no formats.

mod config_file;
mod deep_link;
mod difference;
mod document;
mod document_error;
mod earlier_key;
mod edit;
mod entry;
mod host;
mod json_document;
mod location;
mod merge;
mod snippet;
mod toml_document;

pub(super) use config_file::{ConfigFile, unusable};
pub(super) use deep_link::deep_link;
pub(super) use difference::difference;
pub(super) use edit::{Change, Edited, edit};
pub(super) use entry::{ServerEntry, ServerStart};
pub(super) use host::Host;
pub(super) use snippet::snippet;
