//! A summary of the results of a run, a job or an execution of a test plan, in one answer of less than 8,000 characters.
//!
//! A summary contains the verdicts, one entry per group of similar failures, flaky tests, bugs, and the changes since an
//! earlier result.
//!
//! # The path of one summary
//!
//! 1. `target` finds the latest result, if a plan or a test is named.
//! 2. `gathering` reads the record and its jobs, a hundred per page.
//! 3. `baseline` finds the earlier result, if a comparison is requested, and reads it in the same way.
//! 4. `details` reads the runs that failed, and their bugs. Runs that passed are not read.
//! 5. `failure_groups` joins failures with the same normalized text, `comparison` computes the changes, and
//!    `size_limit` shortens the answer and counts what is left out.
//!
//! At most eight requests are sent at once. What cannot be read, or not before the time limit of the call, is listed
//! under `unread`; the rest is delivered.

mod answer;
mod baseline;
mod bugs;
mod comparison;
mod details;
mod failure_cause;
mod failure_groups;
mod flaky_tests;
mod full_summary;
mod gathering;
mod list_budget;
mod normalized_text;
mod omissions;
mod reader;
mod request;
mod size_limit;
mod subject;
mod target;
mod test_result;
mod text_limits;
mod timestamps;
mod trend;
mod trend_grid;

pub use answer::{
    BaselineName, BugEntry, BuildName, Comparison, FailureEntry, FlakyTest, LeftOut, Omission, StepName,
    Summary, TestChange, TestName,
};
pub(crate) use request::SummaryRequest;
pub use target::SummaryTarget;
pub(crate) use trend::TrendRequest;
pub use trend::{Trend, TrendExecution};
pub use trend_grid::{TrendResult, TrendTest};
