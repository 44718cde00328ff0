//! The service's list of jobs.

use serde_json::Value;

use super::record::string_field;
use crate::{
    call::paging::{self, MAX_PAGES, Page, is_list_missing},
    failure::Failure,
    fields::Fields,
    service::{api::jobs::ListJobs, operation::Operation as _, result_kind::ResultId},
    tools::project_client::ProjectClient,
};

/// The jobs of an execution.
#[derive(Debug)]
pub(super) struct ExecutionJobs {
    /// The records, in a fixed order.
    pub(super) records: Vec<Value>,
    /// Whether the list has more pages than are read.
    pub(super) is_longer: bool,
}

/// Reads the jobs of `execution`. Returns `None` if the service does not have the list.
pub(super) async fn list_execution_jobs(
    client: &ProjectClient,
    execution: &ResultId,
) -> Result<Option<ExecutionJobs>, Failure> {
    let filter = execution.to_arguments();
    let listed = match paging::read_all(MAX_PAGES, |page| list_page(client, &filter, page)).await {
        Ok(listed) => listed,
        Err(failure) if is_list_missing(failure.code) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    // An incomplete list could end the wait too early.
    if let Some((_, failure)) = listed.failed_pages.into_iter().next() {
        return Err(failure);
    }

    let mut records = paging::deduplicate(listed.records, "job_id");
    records
        .sort_by_cached_key(|job| ["created_at", "test_name", "job_id"].map(|name| string_field(job, name)));

    Ok(Some(ExecutionJobs { records, is_longer: listed.has_more_pages }))
}

/// Reads one page of the list of jobs that `filter` selects.
pub(super) async fn list_page(client: &ProjectClient, filter: &Fields, page: u64) -> Result<Page, Failure> {
    let reply = client.list_page::<ListJobs>(filter, page).await?;
    Page::parse(ListJobs::NAME, reply.into_value())
}
