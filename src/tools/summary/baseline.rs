//! The earlier result of a comparison: the previous one, or the one with a given id of unknown kind.

use std::ops::ControlFlow;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    gathering::{TOO_LONG, add_missing_pages, with_tests},
    reader::{SummaryReader, is_absent, is_partial},
    subject::Subject,
};
use crate::{
    call::paging::{self, MAX_PAGES, ScanEnd},
    failure::Failure,
    fields::Fields,
    service::{
        api::{executions::ListTestPlanExecutions, jobs::ListJobs, runs::ListRuns},
        result_kind::{ResultId, ResultKind},
    },
    tools::waiting::record::{is_completed, string_field},
};

/// Value of `compare_with` that selects the previous result.
const PREVIOUS: &str = "previous";

/// The earlier result of a comparison.
#[derive(Clone, Debug)]
pub(super) enum Baseline {
    /// The earlier result.
    Found(Box<Subject>),
    /// The reason why there is none.
    Missing(String),
}

impl Baseline {
    fn missing(reason: impl Into<String>) -> Self {
        Self::Missing(reason.into())
    }
}

/// The record of an earlier result, with its id.
type EarlierRecord = (String, Value);

/// Finds the result that `compare_with` selects.
///
/// # Errors
/// Failures that concern the whole summary, such as `project_scope_mismatch`. Other failures become an omission of
/// `subject`.
pub(super) async fn find(
    reader: &SummaryReader,
    subject: &mut Subject,
    compare_with: &str,
) -> Result<Baseline, Failure> {
    let found = if compare_with.trim().eq_ignore_ascii_case(PREVIOUS) {
        find_previous(reader, subject).await
    } else {
        find_by_id(reader, subject.target.kind, compare_with).await
    };

    match found {
        Err(failure) if is_partial(&failure) => {
            subject.omissions.add("compare_with", compare_with, failure);
            Ok(Baseline::missing("it could not be read: see `unread`"))
        }
        found => found,
    }
}

/// Finds the result with the id `id`, whatever its kind.
async fn find_by_id(reader: &SummaryReader, preferred: ResultKind, id: &str) -> Result<Baseline, Failure> {
    for kind in possible_kinds(id, preferred) {
        let target = ResultId::new(kind, id);
        match reader.read_result(&target).await {
            Ok(record) => {
                return Ok(Baseline::Found(Box::new(with_tests(reader, target, record).await)));
            }
            Err(failure) if is_absent(&failure) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(Baseline::missing("no execution, run or job of this project has the id of `compare_with`"))
}

/// Returns the kinds that an id may have, the likeliest first. Ids of jobs are UUIDs.
fn possible_kinds(id: &str, preferred: ResultKind) -> Vec<ResultKind> {
    if uuid::Uuid::try_parse(id).is_err() {
        return vec![ResultKind::Run, ResultKind::Execution];
    }

    let others = [ResultKind::Execution, ResultKind::Job, ResultKind::Run];
    let others = others.into_iter().filter(|kind| *kind != preferred);

    [preferred].into_iter().chain(others).collect()
}

/// Finds the latest completed result of the same plan or test that was started before `subject`.
async fn find_previous(reader: &SummaryReader, subject: &mut Subject) -> Result<Baseline, Failure> {
    let record = subject.record.clone().unwrap_or_default();
    let kind = subject.target.kind;

    let (found, source) = if kind == ResultKind::Execution {
        let Some(plan) = string_field(&record, "test_plan_id") else {
            return Ok(Baseline::missing("the execution has no test plan"));
        };
        (find_earlier_execution(reader, subject, &plan, &record).await?, "plan")
    } else {
        let Some(test) = subject.tests.first().and_then(|test| test.test_id.clone()) else {
            return Ok(Baseline::missing("the id of the test is not known"));
        };
        (find_earlier_of_test(reader, subject, &test, &record).await?, "test")
    };

    let Some((id, record)) = found else {
        let what = kind.target_type().replace('_', " ");
        return Ok(Baseline::missing(format!("there is no earlier completed {what} of the same {source}")));
    };

    Ok(Baseline::Found(Box::new(with_tests(reader, ResultId::new(kind, id), record).await)))
}

/// Finds the latest earlier execution of a plan. The list is sorted by start, the latest first, so that it is read only
/// as far as needed.
async fn find_earlier_execution(
    reader: &SummaryReader,
    subject: &mut Subject,
    plan: &str,
    own: &Value,
) -> Result<Option<EarlierRecord>, Failure> {
    let filter = arguments([
        ("test_plan_id", plan),
        ("status", "completed"),
        ("sort_by", "start_time"),
        ("sort_order", "desc"),
    ]);
    let read = |number| reader.list_page::<ListTestPlanExecutions>(&filter, number);

    let end = paging::scan(MAX_PAGES, read, |number, page| {
        let is_last = page.is_last(number);
        Ok::<_, Failure>(match latest_before(page.records, subject, own, "started_at") {
            Some(found) => ControlFlow::Break(found),
            None => ControlFlow::Continue(is_last),
        })
    });

    match end.await? {
        ScanEnd::Stopped(found) => Ok(Some(found)),
        ScanEnd::LastPage => Ok(None),
        ScanEnd::PageLimit => {
            let pages = format!("{MAX_PAGES} and after");
            subject.omissions.add_skipped("earlier executions of the plan, page", pages, TOO_LONG);
            Ok(None)
        }
    }
}

/// Finds the latest earlier run or job of a test. The order of the list is not specified (supplement 2.2), so that all
/// pages are read.
async fn find_earlier_of_test(
    reader: &SummaryReader,
    subject: &mut Subject,
    test: &str,
    own: &Value,
) -> Result<Option<EarlierRecord>, Failure> {
    let status_field = if subject.target.kind == ResultKind::Run { "state" } else { "status" };
    let filter = arguments([("multiplayer_test_id", test), (status_field, "completed")]);

    let mut listed = if subject.target.kind == ResultKind::Run {
        reader.list_all::<ListRuns>(&filter).await?
    } else {
        reader.list_all::<ListJobs>(&filter).await?
    };

    add_missing_pages(&mut subject.omissions, &listed, "earlier results of the test, page");
    // A service may ignore the filter.
    listed.records.retain(|record| is_completed(string_field(record, status_field).as_deref()));

    Ok(latest_before(listed.records, subject, own, "created_at"))
}

/// Returns the latest record with a time before that of `own`, with its id. Excludes `own` and other attempts of its job.
/// Records without an id become an omission, because they cannot be distinguished from `own`.
fn latest_before(
    records: Vec<Value>,
    subject: &mut Subject,
    own: &Value,
    time_field: &str,
) -> Option<EarlierRecord> {
    let time = |record: &Value| {
        let text = string_field(record, time_field)?;
        Some((text.parse::<Timestamp>().ok(), text))
    };
    let own_time = time(own);
    let is_earlier = |record: &Value| match (&own_time, time(record)) {
        (Some(own), Some(other)) => other < *own,
        (None, other) => other.is_some(),
        (Some(_), None) => false,
    };
    let mut candidates = Vec::new();
    let mut without_id = 0_usize;

    for record in records.into_iter().filter(is_earlier) {
        match string_field(&record, subject.target.kind.id_field()) {
            Some(id) => candidates.push((id, record)),
            None => without_id += 1,
        }
    }

    if without_id > 0 {
        let reason = "records without an id are not compared with";
        subject.omissions.add_skipped("earlier results without an id:", without_id.to_string(), reason);
    }

    let own_job = string_field(own, "job_id");
    let is_own = |(id, record): &EarlierRecord| {
        let same_job = own_job.is_some() && string_field(record, "job_id") == own_job;
        same_job || id.eq_ignore_ascii_case(&subject.target.id)
    };
    candidates.retain(|candidate| !is_own(candidate));

    candidates
        .into_iter()
        // The ids decide between equal times, so that equal requests have equal answers.
        .max_by_key(|(id, record)| (time(record), string_field(record, "job_id"), id.clone()))
}

fn arguments<const N: usize>(pairs: [(&str, &str); N]) -> Fields {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::{ResultKind, possible_kinds};

    #[test]
    fn an_id_that_is_no_uuid_is_not_looked_up_as_a_job() {
        let uuid = "3126ec62-851c-4a5f-bce1-dd354c0912de";
        let (run, job, execution) = (ResultKind::Run, ResultKind::Job, ResultKind::Execution);
        assert_eq!(possible_kinds("hui4d9ilmby", job), [run, execution]);
        assert_eq!(possible_kinds(uuid, run), [run, execution, job]);
        assert_eq!(possible_kinds(uuid, execution), [execution, job, run]);
    }
}
