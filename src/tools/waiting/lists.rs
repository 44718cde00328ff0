//! The service's list of jobs, page by page.

use serde_json::{Value, json};

use super::item::text;
use crate::{
    call::paging::{self, Page},
    failure::{Code, Failure},
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
    let listed = match paging::all(|page| page_of(counter, &filter, page)).await {
        Ok(listed) => listed,
        Err(failure) if is_no_list(failure.code) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    if let Some((_, failure)) = listed.lost.into_iter().next() {
        return Err(failure);
    }

    let mut all = paging::each_once(listed.records, "job_id");
    all.sort_by_cached_key(|job| ["created_at", "test_name", "job_id"].map(|name| text(job, name)));

    Ok(Some((all, listed.is_longer)))
}

/// A page of the list.
pub(super) async fn page_of(counter: &ProjectClient, filter: &Fields, page: u64) -> Result<Page, Failure> {
    let reply = counter.ask(ListJobs::NAME, paging::page_arguments(filter, page)).await?;
    Page::of(ListJobs::NAME, reply.into_value())
}

/// Whether it means that the service does not have this list.
pub(super) fn is_no_list(code: Code) -> bool {
    matches!(code, Code::NotFound | Code::Rejected | Code::InvalidArguments)
}
