//! The tools: snapshots, uploads, downloads, waiting, summaries, reports.

mod downloading;
mod report;
mod snapshots;
mod summary;
mod upload_build;
mod waiting;
