//! Integration tests: one binary, one module a subject.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail the test; the lints excuse only the tests themselves"
)]

mod support;

mod artifacts;
mod authoring;
#[cfg(unix)]
mod checks;
mod cli;
mod client;
mod completing;
mod confirming;
mod contract;
mod deleting;
mod downloading;
mod exporting;
mod knowledge;
mod live;
mod minions;
mod prompts;
mod readme;
mod refusals;
mod repeating;
mod replies;
mod report;
mod resources;
mod sandbox;
mod schemas;
mod scope;
mod server;
mod settings;
mod starting;
mod stdio;
mod summary;
mod tasks;
mod tools;
mod upload_build;
mod uploading;
mod waiting;
mod wire;
