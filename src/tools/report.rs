//! The report page: a run or a summary of results as one HTML file that loads nothing else.
//!
//! Hosts with MCP Apps show the page as the view of a tool and send it the result of the tool. The command line writes
//! the page with its data and pictures, or renders a summary as Markdown, or as text for a terminal.

mod markdown;
mod page;
mod pictures;
mod screenshots;
mod text;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

pub use self::{
    markdown::markdown,
    page::{page_with_data, view_page},
    pictures::{PictureAlbum, pictures_for_host},
    text::SummaryText,
};
pub(crate) use self::{
    pictures::download as download_screenshot,
    screenshots::{Screenshot, select as select_screenshots},
};
use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
        paging::{Omission, Page},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            Id,
            bugs::{ListRunBugs, RunBug},
            executions::TestPlanExecution,
            jobs::Job,
            runs::{ListRuns, Run, RunDetail},
        },
        lenient::view,
        operation::Operation as _,
        record_kind::{ResultId, ResultKind, ResultTarget},
    },
    tools::{
        call_options::CallOptions, catalog::typed_answer, composite::SummarizeResults,
        context::CallerWithFiles, find::FoundResult, project_client::ProjectClient, summary::Summary,
    },
};

/// Largest size of a page with pictures, in bytes. Mail servers and chats refuse larger files.
const MAX_PAGE_BYTES: usize = 6_000_000;

/// Size of what the list of pictures contains beside the pictures, in bytes.
const PICTURE_LIST_BYTES: usize = 10_000;

/// The run, job or execution of a report, or several jobs.
#[derive(Clone, Debug)]
pub struct ReportSubject {
    target: ResultTarget,
    /// The single record as the service returned it, which the page shows.
    record: Value,
    compare_with: Option<String>,
    history: Option<u8>,
}

impl From<FoundResult> for ReportSubject {
    fn from(FoundResult { id, record }: FoundResult) -> Self {
        Self { target: id.into(), record, compare_with: None, history: None }
    }
}

impl ReportSubject {
    /// Creates the subject that consists of these jobs.
    pub fn of_jobs(ids: Vec<String>) -> Self {
        Self { target: ResultTarget::Jobs(ids), record: Value::Null, compare_with: None, history: None }
    }

    /// Returns the subject with the earlier result to compare it with, and the number of last results to show.
    #[must_use]
    pub fn beside(self, earlier: Option<&str>, history: Option<u8>) -> Self {
        Self { compare_with: earlier.map(str::to_owned), history, ..self }
    }

    /// Summarizes the subject with the tool `summarize_results`, which checks the id to compare with.
    pub async fn summarize(
        &self,
        tools: &CallerWithFiles,
        project: Option<&str>,
    ) -> Result<Summary, Failure> {
        let mut arguments = self.target.to_arguments();
        if let Some(earlier) = &self.compare_with {
            arguments.insert("compare_with".to_owned(), json!(earlier));
        }

        if let Some(count) = self.history {
            arguments.insert("history".to_owned(), json!(count));
        }

        let arguments = ToolArguments::new(arguments, CommonArguments::in_project(project));
        let call = tools.tool_call(arguments, CallOptions::silent());
        typed_answer::<SummarizeResults>(call).await.map(|(summary, _)| summary)
    }

    /// Returns the status of a job or an execution.
    fn status(&self) -> Option<String> {
        match self.target.kind()? {
            ResultKind::Run => None,
            ResultKind::Job => Some(view::<Job>(&self.record).status),
            ResultKind::Execution => Some(view::<TestPlanExecution>(&self.record).status),
        }
    }

    /// Returns the filters of the lists that together have the runs of the subject.
    fn run_filters(&self) -> Vec<Fields> {
        match &self.target {
            ResultTarget::Single(id) => vec![id.to_arguments()],
            ResultTarget::Jobs(ids) => {
                ids.iter().map(|id| ResultId::new(ResultKind::Job, id).to_arguments()).collect()
            }
        }
    }
}

fn client(caller: &Caller, project: Option<&str>) -> ProjectClient {
    ProjectClient { caller: caller.clone(), project: project.map(str::to_owned) }
}

/// The data of a report page, with the field names that the script of the page reads: the record of a run with its
/// bugs, or the summary of a job or an execution with its runs.
#[skip_serializing_none]
#[derive(Debug, Default, Serialize)]
pub struct ReportData {
    /// The record of the run, if the subject is a run.
    run: Option<Value>,
    bugs: Option<Vec<Value>>,
    /// Number of bugs that the service states, which may be more than it returns.
    bugs_found: Option<u64>,
    /// The runs of a job or an execution.
    runs: Option<Vec<Value>>,
    /// The status of a job or an execution. The summary only distinguishes `completed` and `running`.
    state: Option<String>,
    /// The summary; `None` for a run alone.
    pub summary: Option<Summary>,
    /// Absent if no pictures are requested.
    pictures: Option<PictureAlbum>,
    /// When the report was made.
    created_at: Option<Timestamp>,
    unread: Vec<Omission>,
}

/// The pictures of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureForm {
    /// There are none.
    Absent,
    /// Their addresses at the service.
    Linked,
    /// The pictures themselves.
    Embedded,
}

/// What a report contains beside the records.
#[derive(Clone, Copy, Debug)]
pub struct ReportContent {
    /// The pictures.
    pub pictures: PictureForm,
    /// Whether a run is summarized too. Jobs and executions always are.
    pub summarizes_run: bool,
}

/// Reads the data of a report about `subject`. The report lists what could not be read.
pub async fn gather_data(
    subject: &ReportSubject,
    tools: &CallerWithFiles,
    project: Option<&str>,
    content: ReportContent,
) -> Result<ReportData, Failure> {
    let client = client(&tools.caller, project);
    let created_at = Some(tools.caller.clock().timestamp());
    let mut data = ReportData { created_at, ..ReportData::default() };

    if subject.target.kind() == Some(ResultKind::Run) {
        data.run = Some(subject.record.clone());
        if let Err(failure) = read_bugs(&client, subject, &mut data).await {
            data.unread.push(omission("bugs", failure));
        }
    } else {
        data.state = subject.status();
        let mut runs = Vec::new();
        for filter in subject.run_filters() {
            if let Err(failure) = read_runs(&client, &filter, &mut runs).await {
                data.unread.push(omission("all runs", failure));
            }
        }
        data.runs = Some(runs);
    }

    let is_beside = subject.compare_with.is_some() || subject.history.is_some();
    if data.run.is_none() || is_beside || content.summarizes_run {
        data.summary = Some(subject.summarize(tools, project).await?);
    }

    if content.pictures != PictureForm::Absent {
        let max_bytes = (content.pictures == PictureForm::Embedded).then(|| picture_bytes(&data));
        data.pictures = Some(load_pictures(&data, &client, subject, max_bytes).await);
    }

    Ok(data)
}

async fn read_bugs(
    client: &ProjectClient,
    subject: &ReportSubject,
    data: &mut ReportData,
) -> Result<(), Failure> {
    let run_id = Id(subject.target.id().unwrap_or_default().to_owned());
    let reply = client.call(&ListRunBugs { run_id }).await?;
    let page = Page::parse(ListRunBugs::NAME, reply.into_value())?;
    (data.bugs, data.bugs_found) = (Some(page.records), page.total_records);

    Ok(())
}

/// Adds the runs that `filter` selects to `runs`. Those of the pages that can be read are kept.
async fn read_runs(client: &ProjectClient, filter: &Fields, runs: &mut Vec<Value>) -> Result<(), Failure> {
    let listed = client.list::<ListRuns>(filter).await?;
    let count = listed.records.len();
    runs.extend(listed.records);

    match listed.failed_pages.into_iter().next() {
        Some((_, failure)) => Err(failure),
        None if listed.has_more_pages => {
            Err(Failure::new(Code::TooLarge, format!("there are more than {count}")))
        }
        None => Ok(()),
    }
}

fn omission(what: &str, failure: Failure) -> Omission {
    Omission { what: what.to_owned(), why: failure.message }
}

/// Returns the size of the pictures that fit into the page beside its other data.
fn picture_bytes(data: &ReportData) -> usize {
    let page_bytes = page_with_data(&json!(data)).len();
    MAX_PAGE_BYTES.saturating_sub(page_bytes + PICTURE_LIST_BYTES)
}

async fn load_pictures(
    data: &ReportData,
    client: &ProjectClient,
    subject: &ReportSubject,
    max_bytes: Option<usize>,
) -> PictureAlbum {
    if let Some(runs) = &data.runs {
        let runs = runs.iter().map(|run| view::<Run>(run).head);
        return PictureAlbum::of_runs(client, runs.collect(), max_bytes).await;
    }

    let bugs: Vec<RunBug> = data.bugs.iter().flatten().map(view).collect();
    let run = view::<RunDetail>(&subject.record);
    PictureAlbum::of_run(client, subject.target.id().unwrap_or_default(), &run, &bugs, max_bytes).await
}
