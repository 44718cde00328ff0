//! Reads candidates from the lists of the service.

use futures_util::future::join_all;
use serde_json::Value;

use super::{
    candidate::{Candidate, Candidates, sort_newest_first},
    record_list::RecordList,
};
use crate::{
    call::{
        common_arguments::CommonArguments,
        gateway::Gateway,
        paging::{Page, page_arguments},
    },
    client::KeyKind,
    failure::Failure,
    mcp::value_source::ValueSource,
    service::{api::knowledge::ListKnowledgeFiles, catalog::ListedOperation as _},
};

/// Maximum number of projects whose lists are merged if the person has entered no project.
const MAX_PROJECTS: usize = 8;

/// Value that stands for the execution before the one that is reported on.
const PREVIOUS_EXECUTION: &str = "previous";

/// Reads the candidates of a source, the newest first.
///
/// # Errors
/// The failure of the list operation.
pub(super) async fn read_candidates(
    source: ValueSource,
    gateway: &Gateway,
    project: Option<&str>,
) -> Result<Candidates, Failure> {
    let Some(list) = RecordList::from_source(source) else {
        return read_projects(gateway).await;
    };

    let mut candidates = read_list(&list, gateway, project).await?;
    if source == ValueSource::ComparableExecutions {
        candidates.values.insert(0, Candidate::unnamed(PREVIOUS_EXECUTION.to_owned()));
    }

    Ok(candidates)
}

/// Returns the known projects. With a project key this is the project of the key, which is read once.
async fn read_projects(gateway: &Gateway) -> Result<Candidates, Failure> {
    let mut projects = gateway.known_projects();
    if projects.is_empty() {
        projects.extend(gateway.resolve_project(ListKnowledgeFiles::entry(), None).await?);
    }

    Ok(Candidates { values: projects.into_iter().map(Candidate::unnamed).collect(), has_more: false })
}

/// Reads a list of `project`. Without a project the lists of the known projects are merged, if the ids of the records
/// identify their project.
async fn read_list(
    list: &RecordList,
    gateway: &Gateway,
    project: Option<&str>,
) -> Result<Candidates, Failure> {
    let projects = gateway.known_projects();
    // Without a project, only an id that identifies its project can be used later.
    let is_merged = project.is_none()
        && list.has_owned_ids
        && projects.len() > 1
        && gateway.key_kind().await.is_ok_and(|kind| kind == KeyKind::Organization);

    if is_merged {
        read_merged_list(list, gateway, &projects).await
    } else {
        read_list_of_project(list, gateway, project).await
    }
}

/// Merges the lists of several projects. A project whose list cannot be read is left out.
///
/// # Errors
/// A failure, if no list has a candidate.
async fn read_merged_list(
    list: &RecordList,
    gateway: &Gateway,
    projects: &[String],
) -> Result<Candidates, Failure> {
    let reads = projects.iter().take(MAX_PROJECTS);
    let reads = reads.map(|project| read_list_of_project(list, gateway, Some(project)));
    let mut merged = Candidates { has_more: projects.len() > MAX_PROJECTS, values: Vec::new() };
    let mut last_failure = None;

    for outcome in join_all(reads).await {
        match outcome {
            Ok(candidates) => {
                merged.has_more |= candidates.has_more;
                merged.values.extend(candidates.values);
            }
            Err(failure) => last_failure = Some(failure),
        }
    }

    sort_newest_first(&mut merged.values);

    match last_failure {
        Some(failure) if merged.values.is_empty() => Err(failure),
        _ => Ok(merged),
    }
}

/// Reads the first page of a list. If the service cannot sort the list, also reads the last page, which may contain the
/// newest records.
async fn read_list_of_project(
    list: &RecordList,
    gateway: &Gateway,
    project: Option<&str>,
) -> Result<Candidates, Failure> {
    let first = read_page(list, gateway, project, 0).await?;
    let mut records = first.records;

    if let Some(pages) = first.total_pages.filter(|pages| *pages > 1 && list.order.is_empty())
        && let Ok(last) = read_page(list, gateway, project, pages - 1).await
    {
        records.extend(last.records);
    }

    let has_more = first.total_records.is_some_and(|total| total > records.len() as u64);
    let is_included = |record: &&Value| {
        let status = record.get("status").and_then(Value::as_str);
        status.is_none() || status != list.excluded_status
    };
    let to_candidate = |record| Candidate::from_record(record, list.id, list.names, list.times);
    let mut values: Vec<_> = records.iter().filter(is_included).filter_map(to_candidate).collect();
    sort_newest_first(&mut values);

    Ok(Candidates { values, has_more })
}

async fn read_page(
    list: &RecordList,
    gateway: &Gateway,
    project: Option<&str>,
    number: u64,
) -> Result<Page, Failure> {
    let operation = (list.operation)();
    let filter = list.order.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
    let common = CommonArguments::in_project(project);

    let answer = gateway.call(operation, page_arguments(&filter, number), common).await?;
    Page::parse(operation.name, answer.into_value())
}
