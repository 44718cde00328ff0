//! The data of a report page: the record of a run with its bugs, or the summary of a job or an execution with its runs.
//! The page of a run contains its summary only if there is a comparison.

use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    page::page_with_data,
    pictures::{PictureAlbum, album_of_run, album_of_runs},
    subject::ReportSubject,
};
use crate::{
    call::paging::{self, MAX_PAGES, Omission, Page, ScanEnd},
    failure::{Code, Failure},
    service::{
        api::{Id, bugs::ListRunBugs, runs::ListRuns},
        operation::Operation as _,
        result_kind::ResultKind,
    },
    tools::{
        dispatcher::Dispatcher,
        project_client::ProjectClient,
        summary::{Summary, Trend},
        waiting::record::array_field,
    },
};

/// Largest size of a page with pictures, in bytes. Mail servers and chats refuse larger files.
const MAX_PAGE_BYTES: usize = 6_000_000;

/// Size of what the list of pictures contains beside the pictures, in bytes.
const PICTURE_LIST_BYTES: usize = 10_000;

/// The data of a report page, with the field names that the script of the page reads.
#[derive(Debug, Default, Serialize)]
pub struct ReportData {
    /// The record of the run, if the subject is a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bugs: Option<Vec<Value>>,
    /// Number of bugs that the service states, which may be more than it returns.
    #[serde(skip_serializing_if = "Option::is_none")]
    bugs_found: Option<Value>,
    /// The runs of a job or an execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Vec<Value>>,
    /// The status of a job or an execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Value>,
    /// The summary; `None` for a run that is not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// Absent if no pictures are requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pictures: Option<PictureAlbum>,
    /// The executions of a plan. The page has no other data then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
    unread: Vec<Omission>,
}

impl From<Trend> for ReportData {
    fn from(trend: Trend) -> Self {
        Self { trend: Some(trend), ..Self::default() }
    }
}

/// Reads the data of the page of `subject`, and the pictures if `with_pictures` is set. The page lists what could not be
/// read.
///
/// # Errors
/// Failures of the summary.
pub async fn gather_data(
    subject: &ReportSubject,
    dispatcher: &Dispatcher,
    project: Option<&str>,
    with_pictures: bool,
) -> Result<ReportData, Failure> {
    let client = ProjectClient { gateway: dispatcher.gateway().clone(), project: project.map(str::to_owned) };
    let mut data = ReportData::default();
    let is_run = subject.target.kind == ResultKind::Run;

    if is_run {
        add_run(&mut data, &client, subject).await;
    } else {
        let mut runs = Vec::new();
        if let Err(failure) = read_runs(&client, subject, &mut runs).await {
            data.unread.push(omission("all runs", failure));
        }

        data.runs = Some(runs);
        // The page shows the status of the service, because the summary only distinguishes `completed` and `running`.
        data.state = Some(subject.record.get("status").cloned().unwrap_or_default());
    }

    if !is_run || subject.compare_with.is_some() {
        data.summary = Some(subject.summarize(dispatcher, project).await?);
    }

    if with_pictures {
        data.pictures = Some(load_pictures(&data, &client, subject).await);
    }

    Ok(data)
}

/// Loads the pictures that fit into the page beside its other data.
async fn load_pictures(data: &ReportData, client: &ProjectClient, subject: &ReportSubject) -> PictureAlbum {
    let page_bytes = page_with_data(&json!(data)).len();
    let max_bytes = MAX_PAGE_BYTES.saturating_sub(page_bytes + PICTURE_LIST_BYTES);
    let bugs = data.bugs.as_deref().unwrap_or_default();

    match (&data.run, &data.runs) {
        (Some(run), _) => album_of_run(client, &subject.target.id, run, bugs, max_bytes).await,
        (None, Some(runs)) => album_of_runs(client, runs, max_bytes).await,
        (None, None) => PictureAlbum::default(),
    }
}

/// Adds the record of a run and its bugs.
async fn add_run(data: &mut ReportData, client: &ProjectClient, subject: &ReportSubject) {
    data.run = Some(subject.record.clone());

    match client.call(&ListRunBugs { run_id: Id(subject.target.id.clone()) }).await {
        Ok(reply) => {
            let page = reply.value();
            data.bugs = Some(array_field(page, "data").to_vec());
            data.bugs_found = Some(page.pointer("/pagination/total_count").cloned().unwrap_or_default());
        }
        Err(failure) => data.unread.push(omission("bugs", failure)),
    }
}

/// Reads the runs of `subject` page by page into `runs`. The runs of the pages before a failure are kept.
async fn read_runs(
    client: &ProjectClient,
    subject: &ReportSubject,
    runs: &mut Vec<Value>,
) -> Result<(), Failure> {
    let filter = subject.target.to_arguments();
    let read = |number| client.list_page::<ListRuns>(&filter, number);

    let end = paging::scan(MAX_PAGES, read, |_, reply| {
        let page = Page::parse(ListRuns::NAME, reply.into_value())?;
        let is_empty = page.records.is_empty();
        runs.extend(page.records);

        let is_last = is_empty || page.total_records.is_some_and(|total| runs.len() as u64 >= total);
        Ok(ControlFlow::<(), _>::Continue(is_last))
    });

    match end.await? {
        ScanEnd::LastPage | ScanEnd::Stopped(()) => Ok(()),
        ScanEnd::PageLimit => {
            Err(Failure::new(Code::TooLarge, format!("there are more than {}", runs.len())))
        }
    }
}

fn omission(what: &str, failure: Failure) -> Omission {
    Omission { what: what.to_owned(), why: failure.message }
}
