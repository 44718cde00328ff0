//! The data of a report page: the record of a run with its bugs, or the summary of a job or an execution with its runs.
//! The page of a run contains its summary only if there is a comparison.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::subject::ReportSubject;
use crate::{
    call::paging::{self, MAX_PAGES, Omission, Page, ScanEnd},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{Id, bugs::ListRunBugs, runs::ListRuns},
        operation::Operation as _,
        result_kind::ResultKind,
    },
    tools::{dispatcher::Dispatcher, project_client::ProjectClient, waiting::record::array_field},
};

/// Reads the data of the page of `subject`. The page lists what could not be read.
///
/// # Errors
/// Failures of the summary.
pub async fn gather_data(
    subject: &ReportSubject,
    dispatcher: &Dispatcher,
    project: Option<&str>,
) -> Result<Value, Failure> {
    let client = ProjectClient { gateway: dispatcher.gateway().clone(), project: project.map(str::to_owned) };
    let mut data = Fields::new();
    let mut omissions = Vec::new();
    let is_run = subject.target.kind == ResultKind::Run;

    if is_run {
        add_run(&mut data, &client, subject, &mut omissions).await;
    } else {
        let mut runs = Vec::new();
        if let Err(failure) = read_runs(&client, subject, &mut runs).await {
            omissions.push(omission("all runs", failure));
        }
        data.insert("runs".to_owned(), runs.into());

        // The page shows the status of the service, because the summary only distinguishes `completed` and `running`.
        data.insert("state".to_owned(), subject.record.get("status").cloned().unwrap_or_default());
    }

    if !is_run || subject.compare_with.is_some() {
        let summary = subject.summarize(dispatcher, project).await?;
        data.insert("summary".to_owned(), summary.into_value());
    }

    data.insert("unread".to_owned(), json!(omissions));

    Ok(data.into())
}

/// Adds the record of a run and its bugs.
async fn add_run(
    data: &mut Fields,
    client: &ProjectClient,
    subject: &ReportSubject,
    omissions: &mut Vec<Omission>,
) {
    data.insert("run".to_owned(), subject.record.clone());

    match client.call(&ListRunBugs { run_id: Id(subject.target.id.clone()) }).await {
        Ok(reply) => {
            let page = reply.value();
            data.insert("bugs".to_owned(), array_field(page, "data").into());
            let total = page.pointer("/pagination/total_count");
            data.insert("bugs_found".to_owned(), total.cloned().unwrap_or_default());
        }
        Err(failure) => omissions.push(omission("bugs", failure)),
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
