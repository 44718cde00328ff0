//! The result of a wait: the verdicts on standard output, the JUnit file, and the exit status.

mod junit_document;
mod junit_flag;
mod output;
mod result;
mod verdict_table;

pub(super) use junit_flag::{JUNIT, junit_file, junit_flag};
pub(super) use result::{NotStarted, WaitResult};
