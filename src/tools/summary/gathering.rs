//! Reading the subject of a summary: its record and its tests, without their details.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    omissions::Omissions,
    reader::{SummaryReader, is_partial},
    subject::Subject,
    test_result::TestResult,
};
use crate::{
    call::paging::{ListRecords, MAX_PAGES, deduplicate, is_list_missing},
    failure::Failure,
    service::{
        api::{jobs::ListJobs, runs::ListRuns},
        result_kind::{ResultId, ResultKind},
    },
    tools::waiting::record::string_field,
};

/// Why the end of a long list is not read.
pub(super) const TOO_LONG: &str = "a summary reads no more pages of a list";

/// Reads the record `target` and its tests.
///
/// # Errors
/// Failures of the operations that read, if nothing at all could be read.
pub(super) async fn gather(reader: &SummaryReader, target: &ResultId) -> Result<Subject, Failure> {
    match (target.kind, reader.read_result(target).await) {
        (_, Ok(record)) => Ok(with_tests(reader, target.clone(), record).await),
        (ResultKind::Execution, Err(failure)) if is_partial(&failure) => {
            without_record(reader, target, failure).await
        }
        (_, Err(failure)) => Err(failure),
    }
}

/// Reads the tests of a record. Tests of an execution that cannot be read become an omission.
pub(super) async fn with_tests(reader: &SummaryReader, target: ResultId, record: Value) -> Subject {
    if target.kind != ResultKind::Execution {
        return Subject::single_test(target, record);
    }

    // The tests are read after the execution: when an execution is completed, all its tests are.
    let mut subject = Subject::without_tests(&target, Some(record));
    if let Err(failure) = add_tests(reader, &mut subject).await {
        subject.is_complete = false;
        subject.omissions.add("tests of the execution", target.id, failure);
    }

    subject
}

/// Reads the tests of an execution whose record cannot be read.
///
/// # Errors
/// `failure`, if there are no tests either.
async fn without_record(
    reader: &SummaryReader,
    target: &ResultId,
    failure: Failure,
) -> Result<Subject, Failure> {
    let mut subject = Subject::without_tests(target, None);
    if add_tests(reader, &mut subject).await.is_err() || subject.tests.is_empty() {
        return Err(failure);
    }

    subject.omissions.add("execution", target.id.as_str(), failure);

    Ok(subject)
}

/// Adds the tests of an execution: its jobs, or its runs if the service does not list jobs.
async fn add_tests(reader: &SummaryReader, subject: &mut Subject) -> Result<(), Failure> {
    let filter = subject.target.to_arguments();
    match reader.list_all::<ListJobs>(&filter).await {
        Ok(listed) => {
            subject.is_complete = add_missing_pages(&mut subject.omissions, &listed, "jobs, page");
            subject.tests = deduplicate(listed.records, "job_id").iter().map(TestResult::from_job).collect();
            subject.add_unlisted_tests("they are not in the list of jobs");
        }
        Err(failure) if is_list_missing(failure.code) => {
            let listed = reader.list_all::<ListRuns>(&filter).await?;
            subject.is_complete = add_missing_pages(&mut subject.omissions, &listed, "runs, page");
            subject.tests = group_by_job(listed.records);
            subject.add_unlisted_tests("they are not in the list of runs");
        }
        Err(failure) => return Err(failure),
    }

    Ok(())
}

/// Adds an omission for each page of a list that was not read. Returns whether the whole list was read.
pub(super) fn add_missing_pages(omissions: &mut Omissions, listed: &ListRecords, what: &'static str) -> bool {
    for (page, failure) in &listed.failed_pages {
        omissions.add(what, page.to_string(), failure.clone());
    }

    if listed.has_more_pages {
        omissions.add_skipped(what, format!("{MAX_PAGES} and after"), TOO_LONG);
    }

    listed.failed_pages.is_empty() && !listed.has_more_pages
}

/// The key that joins runs to a test.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum JobKey {
    Job(String),
    /// The job is not known: the run is a test of its own, identified by its index.
    Run(usize),
}

/// Joins the runs of each job into one test.
fn group_by_job(runs: Vec<Value>) -> Vec<TestResult> {
    let mut jobs: BTreeMap<JobKey, Vec<Value>> = BTreeMap::new();
    for (index, run) in deduplicate(runs, "multiplayer_run_id").into_iter().enumerate() {
        let job = string_field(&run, "job_id").map(|id| JobKey::Job(id.to_ascii_lowercase()));
        jobs.entry(job.unwrap_or(JobKey::Run(index))).or_default().push(run);
    }
    jobs.into_values().map(|attempts| TestResult::from_attempts(&attempts)).collect()
}
