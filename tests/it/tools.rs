//! The tools: snapshots, search by name, uploads, downloads, waiting, summaries, reports.

mod describe_record;
mod downloading;
mod find_by_name;
mod junit;
mod newest_runs;
mod plan_tests;
mod report;
mod rerun;
mod reviewed_bugs;
mod saved_tests;
mod snapshots;
mod summary;
mod upload_build;
mod waiting;
