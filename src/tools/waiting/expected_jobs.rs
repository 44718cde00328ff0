//! Jobs that the answer of a start names and the list of jobs of their execution does not contain.

use super::{item::ResultItem, job_poller::JobPoller};
use crate::{call::paging::Omission, failure::Failure, tools::project_client::ProjectClient};

/// The expected jobs of an execution, and what was read of those that its list does not contain.
#[derive(Debug)]
pub(super) struct ExpectedJobs {
    /// All ids that the start named.
    ids: Vec<String>,
    /// The jobs that the list does not contain.
    unlisted: JobPoller,
    /// The jobs that cannot be read, each with the reason.
    failed: Vec<(String, Failure)>,
}

impl ExpectedJobs {
    /// Creates the expected jobs with the ids `ids`.
    pub(super) fn new(ids: Vec<String>) -> Self {
        Self { unlisted: JobPoller::new(ids.clone()), ids, failed: Vec::new() }
    }

    /// Excludes the jobs that the list contains.
    pub(super) fn exclude_listed(&mut self, listed: &[ResultItem]) {
        let listed_ids = listed.iter().filter_map(|item| item.job_id.as_deref());
        let failed_ids = self.failed.iter().map(|(id, _)| id.as_str());
        let known: Vec<_> = listed_ids.chain(failed_ids).collect();
        let is_known = |id: &str| known.iter().any(|known| known.eq_ignore_ascii_case(id));

        let unlisted = self.ids.iter().filter(|id| !is_known(id)).cloned().collect();
        self.unlisted.set_ids(unlisted);
    }

    /// Reads every unlisted job that is not finished. A job with a permanent failure is not read again.
    ///
    /// # Errors
    /// The first temporary failure, after all jobs have been tried.
    pub(super) async fn poll_once(&mut self, client: &ProjectClient) -> Result<(), Failure> {
        let failed = self.unlisted.read_unfinished(client).await;
        let (temporary, permanent): (Vec<_>, Vec<_>) =
            failed.into_iter().partition(|(_, failure)| failure.is_transient());

        self.unlisted.remove(&permanent);
        self.failed.extend(permanent);

        temporary.into_iter().next().map_or(Ok(()), |(_, failure)| Err(failure))
    }

    /// Returns the unlisted jobs.
    pub(super) fn items(&self) -> Vec<ResultItem> {
        self.unlisted.items()
    }

    /// Returns the number of jobs that cannot be read.
    pub(super) fn failed_count(&self) -> usize {
        self.failed.len()
    }

    /// Returns an entry for each job that cannot be read.
    pub(super) fn omissions(&self) -> Vec<Omission> {
        let entry = |(id, failure): &(String, Failure)| Omission {
            what: format!("job {id}"),
            why: failure.message.clone(),
        };
        self.failed.iter().map(entry).collect()
    }
}
