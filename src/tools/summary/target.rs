//! What a summary is requested of: a record, or the latest result of a plan or a test.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::reader::SummaryReader;
use crate::{
    call::{
        gateway::Gateway,
        paging::{self, MAX_PAGES, ScanEnd},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{executions::ListTestPlanExecutions, runs::ListRuns},
        result_kind::{ResultId, ResultKind},
    },
    tools::waiting::record::string_field,
};

/// What a summary is requested of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryTarget {
    /// This run, job or execution.
    Record(ResultId),
    /// The latest execution of the plan with this id.
    LatestExecution(String),
    /// The latest run of the test with this id.
    LatestRun(String),
}

impl SummaryTarget {
    /// Returns the id of the record, without a summary.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    pub(in crate::tools) async fn find(
        &self,
        gateway: &Gateway,
        project: Option<&str>,
    ) -> Result<ResultId, Failure> {
        self.resolve(&SummaryReader::new(gateway.clone(), project.map(str::to_owned))).await
    }

    /// Returns the id of the record to summarize.
    ///
    /// # Errors
    /// `not_found` if the plan or the test has no result, and the failures of the list.
    pub(super) async fn resolve(&self, reader: &SummaryReader) -> Result<ResultId, Failure> {
        let (kind, latest, owner) = match self {
            Self::Record(id) => return Ok(id.clone()),
            Self::LatestExecution(plan) => {
                (ResultKind::Execution, latest_execution(reader, plan).await?, format!("test plan {plan}"))
            }
            Self::LatestRun(test) => {
                (ResultKind::Run, latest_run(reader, test).await?, format!("test {test}"))
            }
        };

        let id = latest.as_ref().and_then(|record| string_field(record, kind.id_field()));
        id.map(|id| ResultId::new(kind, id)).ok_or_else(|| {
            let message = format!("the {owner} has no {}", kind.noun());
            Failure::new(Code::NotFound, message)
                .hint("check the id and the project; the plan or the test may never have been started")
        })
    }
}

/// Returns the execution of a plan that was started last, or else one that is still queued. The list is sorted by start,
/// the latest first, so that it is read only as far as needed.
async fn latest_execution(reader: &SummaryReader, plan: &str) -> Result<Option<Value>, Failure> {
    let filter: Fields = [("test_plan_id", plan), ("sort_by", "start_time"), ("sort_order", "desc")]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    let read = |number| reader.list_page::<ListTestPlanExecutions>(&filter, number);
    let mut queued = None;

    let end = paging::scan(MAX_PAGES, read, |number, page| {
        let is_last = page.is_last(number);
        let (started, others): (Vec<_>, Vec<_>) =
            page.records.into_iter().partition(|record| string_field(record, "started_at").is_some());
        queued = queued.take().or_else(|| others.into_iter().next());

        Ok::<_, Failure>(match latest_by(started, "started_at") {
            Some(found) => ControlFlow::Break(found),
            None => ControlFlow::Continue(is_last),
        })
    });

    Ok(match end.await? {
        ScanEnd::Stopped(found) => Some(found),
        ScanEnd::LastPage | ScanEnd::PageLimit => queued,
    })
}

/// Returns the run of a test that was created last. The order of the list is not specified (supplement 2.2), so that all
/// pages are read.
///
/// # Errors
/// The failure of a page, because the latest run may be on it.
async fn latest_run(reader: &SummaryReader, test: &str) -> Result<Option<Value>, Failure> {
    let filter = Fields::from_iter([("multiplayer_test_id".to_owned(), json!(test))]);
    let listed = reader.list_all::<ListRuns>(&filter).await?;

    if let Some((_, failure)) = listed.failed_pages.into_iter().next() {
        return Err(failure);
    }
    if listed.has_more_pages {
        let message = format!("the test {test} has too many runs to find the latest one");
        return Err(Failure::new(Code::TooLarge, message).hint("pass the `run_id` of a run"));
    }

    Ok(latest_by(listed.records, "created_at"))
}

/// Returns the record with the latest time in the field `time`. The texts decide between equal times, so that equal calls
/// have equal answers.
fn latest_by(records: Vec<Value>, time: &str) -> Option<Value> {
    let key = |record: &Value| {
        let text = string_field(record, time).unwrap_or_default();
        (text.parse::<jiff::Timestamp>().ok(), record.to_string())
    };
    records.into_iter().max_by_key(key)
}
