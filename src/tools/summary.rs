//! What became of a run, a job or an execution of a test plan, in one answer of less than 8,000 characters, whatever
//! the size: verdicts, failures that are alike in one entry, flaky tests, bugs, and what changed since an earlier one.
//!
//! # The path of one summary
//!
//! 1. `gathering` reads what is asked about: the record and its jobs, a hundred a page.
//! 2. `baseline` finds what it is compared with, where that is wanted, and reads as much of it.
//! 3. `details` reads the runs that failed, and their bugs; runs that passed are not read.
//! 4. `grouping` makes one entry of failures with one `signature`, `comparison` tells the difference, and
//!    `bounding` keeps the answer short and counts what it leaves out.
//!
//! No step has more than eight requests under way. What cannot be read, or not before `timing` ends the reading, is
//! told under `unread`, and the rest delivered.

mod baseline;
mod bounding;
mod case;
mod cause;
mod comparison;
mod details;
mod flaky;
mod gathering;
mod grouping;
mod moments;
mod outcome;
mod reader;
pub mod signature;
mod texts;
mod timing;
mod unread;
mod whole;

pub use bounding::MOST_CHARS;
pub use outcome::{
    Bug, BuildName, Change, Comparison, Failed, Flaky, LeftOut, Omission, StepName, Summary, TestName, With,
};

use self::reader::Reader;
use crate::{
    call::gateway::Gateway, failure::Failure, service::result_kind::ResultId, tools::caller::CallerContext,
};

/// The word of `compare_with` for the one before.
const PREVIOUS: &str = "previous";

/// A summary that is wanted.
#[derive(Clone, Debug)]
pub struct Request {
    /// What it is about.
    pub target: ResultId,
    /// Project, where the caller names one.
    pub project: Option<String>,
    /// `previous`, or the id of an execution, a run or a job.
    pub compare_with: Option<String>,
}

impl Request {
    /// Reads and sums up. Dropping the future ends it.
    ///
    /// # Errors
    /// Those of the operations that read, where nothing at all could be read; `project_scope_mismatch` when
    /// `compare_with` is of another project.
    pub async fn run(self, gateway: &Gateway, audience: &CallerContext) -> Result<Summary, Failure> {
        let reader = Reader::new(gateway.clone(), self.project.clone());
        timing::within(&reader, audience, self.read(&reader)).await
    }

    async fn read(&self, reader: &Reader) -> Result<Summary, Failure> {
        let mut subject = gathering::gather(reader, &self.target).await?;
        let baseline = match &self.compare_with {
            Some(with) => Some(baseline::find(reader, &mut subject, with).await?),
            None => None,
        };
        details::read(reader, &mut subject).await;

        Ok(bounding::bounded(&whole::Whole::of(subject, baseline)))
    }
}
