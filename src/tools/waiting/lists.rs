//! The service's list of jobs, page by page.

use serde_json::{Value, json};

use super::item::text;
use crate::{
    call::paging::{self, Page},
    failure::Failure,
    fields::Fields,
    service::{api::jobs::ListJobs, operation::Operation as _},
    tools::project_client::ProjectClient,
};

/// The jobs of an execution, in a fixed order, and whether there are more; `None` where the service cannot list them.
pub(super) async fn of_execution(
    counter: &ProjectClient,
    execution: &str,
) -> Result<Option<(Vec<Value>, bool)>, Failure> {
    let filter = Fields::from_iter([("test_plan_execution_id".to_owned(), json!(execution))]);
    let listed = match paging::read_all(|page| page_of(counter, &filter, page)).await {
        Ok(listed) => listed,
        Err(failure) if paging::is_list_missing(failure.code) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    if let Some((_, failure)) = listed.failed_pages.into_iter().next() {
        return Err(failure);
    }

    let mut all = paging::deduplicate(listed.records, "job_id");
    all.sort_by_cached_key(|job| ["created_at", "test_name", "job_id"].map(|name| text(job, name)));

    Ok(Some((all, listed.has_more_pages)))
}

/// A page of the list.
pub(super) async fn page_of(counter: &ProjectClient, filter: &Fields, page: u64) -> Result<Page, Failure> {
    let reply = counter.ask(ListJobs::NAME, paging::page_arguments(filter, page)).await?;
    Page::parse(ListJobs::NAME, reply.into_value())
}
