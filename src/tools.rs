//! All tools: operations of the service, and composite tools that send several requests, wait, or use local files.

mod artifact_links;
pub mod catalog;
pub mod composite;
pub mod context;
pub mod describe;
pub mod download;
pub mod files;
pub mod find;
pub mod names;
pub mod newest;
pub mod plan_tests;
pub mod project_client;
pub(crate) mod reader;
pub mod report;
pub mod rerun;
mod saved_tests;
pub mod selection;
pub mod summary;
pub mod unread;
pub mod upload;
pub mod waiting;
