//! All tools: operations of the service, and composite tools that send several requests, wait, or use local files.

pub mod catalog;
pub mod composite;
pub mod context;
pub mod describe;
pub mod download;
mod extensions;
pub mod files;
pub mod find;
pub mod names;
pub mod newest;
pub mod plan_tests;
pub mod project_client;
pub(crate) mod reader;
pub mod report;
pub mod rerun;
pub mod selection;
pub mod summary;
pub mod unread;
pub mod upload;
pub mod waiting;
