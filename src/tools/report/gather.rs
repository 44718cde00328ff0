//! What a page shows: the record of a run with its bugs, or the summary of a job or an execution with its runs. The
//! summary of a run comes with it where there is something to compare.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use crate::{
    call::{
        gateway::Gateway,
        paging::{self, MAX_PAGES, Page, ScanEnd},
        reply::Reply,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{Id, bugs::ListRunBugs, runs::ListRuns},
        operation::Operation as _,
        result_kind::{ResultId, ResultKind},
        tool::PROJECT_ID,
    },
    tools::{
        caller::CallerContext,
        catalog,
        composite::{CompositeTool as _, SummarizeResults},
        dispatcher::Dispatcher,
        project_client::ProjectClient,
    },
};

/// What an id turned out to be of.
#[derive(Clone, Debug)]
pub struct Subject {
    target: ResultId,
    record: Value,
    compare_with: Option<String>,
}

/// The kinds that an id may have, in the order in which the service is asked.
const LOOKUP_ORDER: [ResultKind; 3] = [ResultKind::Run, ResultKind::Execution, ResultKind::Job];

impl Subject {
    /// Finds out what an id is of, by asking.
    ///
    /// # Errors
    /// `not_found` when it is of nothing, or what went wrong in asking.
    pub async fn find(gateway: &Gateway, project: Option<&str>, id: &str) -> Result<Self, Failure> {
        let counter = ProjectClient { gateway: gateway.clone(), project: project.map(str::to_owned) };
        let mut refusals = Vec::new();

        for kind in LOOKUP_ORDER {
            let target = ResultId::new(kind, id);
            match counter.read_result(&target).await {
                Ok(reply) => {
                    return Ok(Self { target, record: reply.value().clone(), compare_with: None });
                }
                // The id of a run has not the form of the others.
                Err(failure)
                    if matches!(
                        failure.code,
                        Code::NotFound | Code::ProjectNotResolved | Code::InvalidArguments
                    ) =>
                {
                    refusals.push(failure);
                }
                Err(failure) => return Err(failure),
            }
        }

        Err(of_nothing(id, &refusals))
    }

    /// The same, compared with an earlier one.
    #[must_use]
    pub fn compared_with(self, earlier: Option<&str>) -> Self {
        Self { compare_with: earlier.map(str::to_owned), ..self }
    }

    /// The word of the service for how far it is; a summary has words of its own.
    fn state(&self) -> Value {
        self.record.get("status").cloned().unwrap_or_default()
    }

    /// The summary of its results, as the tool answers it.
    ///
    /// # Errors
    /// Those of the tool.
    pub async fn summary(&self, dispatcher: &Dispatcher, project: Option<&str>) -> Result<Reply, Failure> {
        let tool = catalog::find_tool(SummarizeResults::NAME)
            .ok_or_else(|| Failure::new(Code::NotFound, "there is no summary"))?;
        let mut arguments = self.target.to_arguments();

        if let Some(project) = project {
            arguments.insert(PROJECT_ID.to_owned(), json!(project));
        }

        if let Some(earlier) = &self.compare_with {
            arguments.insert("compare_with".to_owned(), json!(earlier));
        }

        dispatcher.call_tool(tool, arguments, CallerContext::silent()).await
    }
}

/// An id that is of nothing, and how it was looked for: in which projects, or why nowhere.
fn of_nothing(id: &str, refusals: &[Failure]) -> Failure {
    let message = format!("no run, job or plan execution has the id `{id}`");
    let all_invalid = refusals.iter().all(|refusal| refusal.code == Code::InvalidArguments);
    let tells_more = |refusal: &&Failure| all_invalid || refusal.code == Code::ProjectNotResolved;

    match refusals.iter().find(tells_more).cloned() {
        Some(told) => Failure { message: format!("{message}: {told}"), ..told },
        None => Failure::new(Code::NotFound, message).hint("`tas-mcp call list_runs` shows runs"),
    }
}

/// Everything that the page of a subject shows. What cannot be read is said on the page.
///
/// # Errors
/// Those of the summary.
pub async fn gather(
    subject: &Subject,
    dispatcher: &Dispatcher,
    project: Option<&str>,
) -> Result<Value, Failure> {
    let counter =
        ProjectClient { gateway: dispatcher.gateway().clone(), project: project.map(str::to_owned) };
    let mut report = Fields::new();
    let mut unread = Vec::new();
    let is_run = subject.target.kind == ResultKind::Run;

    if is_run {
        add_run(&mut report, &counter, subject, &mut unread).await;
    } else {
        let mut runs = Vec::new();
        if let Err(failure) = read_runs(&counter, subject, &mut runs).await {
            unread.push(json!({"what": "all runs", "why": failure.message}));
        }
        report.insert("runs".to_owned(), runs.into());
        report.insert("state".to_owned(), subject.state());
    }

    if !is_run || subject.compare_with.is_some() {
        report.insert("summary".to_owned(), subject.summary(dispatcher, project).await?.value().clone());
    }

    report.insert("unread".to_owned(), unread.into());

    Ok(report.into())
}

/// Puts in the record of a run with its bugs.
async fn add_run(report: &mut Fields, counter: &ProjectClient, subject: &Subject, unread: &mut Vec<Value>) {
    report.insert("run".to_owned(), subject.record.clone());
    match counter.call(&ListRunBugs { run_id: Id(subject.target.id.clone()) }).await {
        Ok(bugs) => {
            report.insert("bugs".to_owned(), records(bugs.value()).into());
            let found = bugs.value().pointer("/pagination/total_count");
            report.insert("bugs_found".to_owned(), found.cloned().unwrap_or_default());
        }
        Err(failure) => unread.push(json!({"what": "bugs", "why": failure.message})),
    }
}

/// Reads the runs page by page; those of the pages before a failure are kept.
async fn read_runs(counter: &ProjectClient, subject: &Subject, runs: &mut Vec<Value>) -> Result<(), Failure> {
    let filter = subject.target.to_arguments();

    let read = |number| {
        let arguments = paging::page_arguments(&filter, number);
        async move { counter.ask(ListRuns::NAME, arguments).await }
    };

    let end = paging::scan(MAX_PAGES, read, |_, reply| {
        let page = Page::parse(ListRuns::NAME, reply.into_value())?;
        let is_empty = page.records.is_empty();
        runs.extend(page.records);

        let is_last = is_empty || page.total_records.is_some_and(|total| runs.len() as u64 >= total);
        Ok(ControlFlow::<(), _>::Continue(is_last))
    });

    let end = end.await?;

    match end {
        ScanEnd::PageLimit => {
            Err(Failure::new(Code::TooLarge, format!("there are more than {}", runs.len())))
        }
        ScanEnd::LastPage | ScanEnd::Stopped(()) => Ok(()),
    }
}

fn records(list: &Value) -> Vec<Value> {
    list.get("data").and_then(Value::as_array).cloned().unwrap_or_default()
}
