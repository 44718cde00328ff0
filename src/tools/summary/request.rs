//! A request for a summary.

use super::{
    answer::Summary, baseline, details, full_summary::FullSummary, gathering, reader::SummaryReader,
    size_limit, target::SummaryTarget,
};
use crate::{
    call::gateway::Gateway,
    failure::Failure,
    tools::{caller::CallerContext, time_limit::run_with_limit},
};

/// A request for a summary.
#[derive(Clone, Debug)]
pub(crate) struct SummaryRequest {
    /// What to summarize.
    pub target: SummaryTarget,
    /// The project, if the caller names one.
    pub project: Option<String>,
    /// `previous`, or the id of an execution, a run or a job.
    pub compare_with: Option<String>,
}

impl SummaryRequest {
    /// Reads the results and summarizes them. Dropping the future ends the reading.
    ///
    /// # Errors
    /// Failures of the operations that read, if nothing at all could be read; `project_scope_mismatch` if
    /// `compare_with` belongs to another project.
    pub(crate) async fn run(self, gateway: &Gateway, caller: &CallerContext) -> Result<Summary, Failure> {
        let reader = SummaryReader::new(gateway.clone(), self.project.clone());
        // The future is boxed because it is too large for the stack of the caller.
        let summary = Box::pin(self.summarize(&reader));

        run_with_limit(&reader, &**gateway.clock(), caller, summary).await
    }

    async fn summarize(&self, reader: &SummaryReader) -> Result<Summary, Failure> {
        let mut subject = gathering::gather(reader, &self.target.resolve(reader).await?).await?;
        let baseline = match &self.compare_with {
            Some(compare_with) => Some(baseline::find(reader, &mut subject, compare_with).await?),
            None => None,
        };
        details::read_details(reader, &mut subject).await;

        Ok(size_limit::fit(&FullSummary::from_subject(subject, baseline)))
    }
}
