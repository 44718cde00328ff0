//! The report: a run or a summary of results as one HTML file that loads nothing else, as Markdown, or as text for a terminal.
//!
//! Hosts with MCP Apps show the same page as the view of a tool, and send it the result of the tool.

mod pictures;
mod screenshots;
mod text;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use ring::digest;
use serde::Serialize;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use self::pictures::PictureAlbum;
pub use self::text::{markdown, terminal_text};
pub(crate) use self::{
    pictures::download as download_screenshot,
    screenshots::{Screenshot, select as select_screenshots},
};
use crate::{
    call::{
        Caller, CommonArguments, ToolArguments,
        paging::{MAX_PAGES, Page},
    },
    failure::Failure,
    fields::{Fields, text_at},
    service::{
        api::{
            Id,
            bugs::{ListRunBugs, RunBug},
            runs::{GetRun, ListRuns, Run, RunDetail},
        },
        catalog::ListedOperation as _,
        lenient::view,
        operation::Operation as _,
        record_kind::{ResultId, ResultKind, ResultTarget},
    },
    tools::{
        catalog::typed_answer,
        composite::SummarizeResults,
        context::{CallOptions, CallerWithFiles},
        project_client::ProjectClient,
        reader::{FoundResult, Reader},
        summary::Summary,
        unread::{Omission, Unread},
    },
};

/// Largest size of a page with pictures, in bytes. Mail servers and chats refuse larger files.
const MAX_PAGE_BYTES: usize = 6_000_000;

/// Size of what the list of pictures contains beside the pictures, in bytes.
const PICTURE_LIST_BYTES: usize = 10_000;

/// Largest size of the pictures of one run that a host receives, in bytes of Base64 text.
const MAX_HOST_BYTES: usize = 2_000_000;

const PAGE: &str = include_str!("report/page/page.html");
const STYLE: &str = include_str!("report/page/page.css");
const SCRIPT: &str = concat!(
    include_str!("report/page/elements.js"),
    include_str!("report/page/run.js"),
    include_str!("report/page/summary.js"),
    include_str!("report/page/host.js"),
);

/// Returns the page as the view of a tool. The host sends it its data.
pub fn view_page() -> String {
    // The host adds a policy of its own, and possibly a script, so that the policy cannot consist of hashes.
    render_page("script-src 'unsafe-inline'; style-src 'unsafe-inline'", "<p>Nothing to show yet.</p>", "{}")
}

/// Returns the page with its data. The browser accepts only the script and the style of the page; where it accepts no script, it shows
/// the summary.
pub fn page_with_data(data: &ReportData) -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(digest::digest(&digest::SHA256, text.as_bytes()));
    let policy = format!("script-src 'sha256-{}'; style-src 'sha256-{}'", hash(SCRIPT), hash(STYLE));
    // No text of the data begins or ends an element.
    render_page(&policy, &text::html(&data.summary), &json!(data).to_string().replace('<', "\\u003c"))
}

fn render_page(policy: &str, summary: &str, data: &str) -> String {
    let page = PAGE.replace("{policy}", policy).replace("{style}", STYLE);
    // These are inserted last and from the end, because they may contain text that looks like a placeholder.
    page.replace("{script}", SCRIPT).replacen("{data}", data, 1).replacen("{summary}", summary, 1)
}

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

/// The data of a report, with the field names that the script of the page reads: the summary, and the record of a run with its
/// bugs, or the runs of a job or an execution.
#[skip_serializing_none]
#[derive(Debug, Default, Serialize)]
pub struct ReportData {
    /// The record of the run, if the subject is a run.
    run: Option<Value>,
    #[serde(flatten)]
    bugs: BugsOfRun,
    /// The runs of a job or an execution.
    runs: Option<Vec<Value>>,
    /// The status of a job or an execution. The summary only distinguishes `completed` and `running`.
    state: Option<String>,
    /// The summary.
    pub summary: Summary,
    /// Absent if no pictures are requested.
    pictures: Option<PictureAlbum>,
    /// When the report was made.
    created_at: Option<Timestamp>,
    unread: Vec<Omission>,
}

#[skip_serializing_none]
#[derive(Debug, Default, Serialize)]
struct BugsOfRun {
    bugs: Option<Vec<Value>>,
    /// Number of bugs that the service states, which may be more than it returns.
    bugs_found: Option<u64>,
}

impl BugsOfRun {
    async fn read(reader: &Reader, run_id: &str, unread: &mut Unread) -> Self {
        let answer = reader.read_value(&ListRunBugs { run_id: Id(run_id.to_owned()) }).await;
        match answer.and_then(|answer| Page::parse(ListRunBugs::NAME, answer)) {
            Ok(page) => Self { bugs: Some(page.records), bugs_found: page.total_records },
            Err(failure) => {
                unread.add("bugs", "", &failure);
                Self::default()
            }
        }
    }

    async fn load_pictures(
        &self,
        client: &ProjectClient,
        run_id: &str,
        run: &RunDetail,
        max_bytes: Option<usize>,
    ) -> PictureAlbum {
        let bugs: Vec<RunBug> = self.bugs.iter().flatten().map(view).collect();
        PictureAlbum::load(client, select_screenshots(run_id, run, &bugs), max_bytes).await
    }
}

/// What the view in a host shows of a run beside its record.
#[derive(Debug, Serialize)]
pub struct ViewedRun {
    #[serde(flatten)]
    bugs: BugsOfRun,
    #[serde(flatten)]
    pictures: PictureAlbum,
}

impl ViewedRun {
    /// Reads a run, its bugs and its pictures. What cannot be read beside the run is named.
    pub async fn read(caller: &Caller, project: Option<&str>, run_id: &str) -> Result<Self, Failure> {
        let reader = Reader::new(caller, project);
        let run = reader.read(&GetRun { run_id: Id(run_id.to_owned()) }).await?;
        let mut unread = Unread::default();
        let bugs = BugsOfRun::read(&reader, run_id, &mut unread).await;

        let mut pictures = bugs.load_pictures(&reader.client(), run_id, &run, Some(MAX_HOST_BYTES)).await;
        pictures.unread.extend(unread);
        Ok(Self { bugs, pictures })
    }
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

/// Reads the data of a report about `subject`. The report lists what could not be read.
pub async fn gather_data(
    subject: &ReportSubject,
    tools: &CallerWithFiles,
    project: Option<&str>,
    pictures: PictureForm,
) -> Result<ReportData, Failure> {
    let reader = Reader::new(&tools.caller, project);
    let mut unread = Unread::default();
    let created_at = Some(tools.caller.clock().timestamp());
    let mut data = ReportData { created_at, ..ReportData::default() };

    let run_id = subject.target.id().filter(|_| subject.target.kind() == Some(ResultKind::Run));
    if let Some(run_id) = run_id {
        data.run = Some(subject.record.clone());
        data.bugs = BugsOfRun::read(&reader, run_id, &mut unread).await;
    } else {
        data.state = text_at(&subject.record, "status").map(str::to_owned);
        let mut runs = Vec::new();
        for filter in subject.run_filters() {
            let list = reader.list(ListRuns::entry(), &filter, MAX_PAGES).await;
            runs.extend(unread.list("all runs", list, MAX_PAGES).unwrap_or_default());
        }
        data.runs = Some(runs);
    }
    data.unread = unread.into();
    data.summary = subject.summarize(tools, project).await?;

    if pictures != PictureForm::Absent {
        let max_bytes = (pictures == PictureForm::Embedded).then(|| {
            let page_bytes = page_with_data(&data).len();
            MAX_PAGE_BYTES.saturating_sub(page_bytes + PICTURE_LIST_BYTES)
        });
        let client = reader.client();
        data.pictures = Some(match (&data.runs, run_id) {
            (None, Some(id)) => data.bugs.load_pictures(&client, id, &view(&subject.record), max_bytes).await,
            (runs, _) => {
                let runs = runs.iter().flatten().map(|run| view::<Run>(run).head).collect();
                PictureAlbum::of_runs(&client, runs, max_bytes).await
            }
        });
    }

    Ok(data)
}
