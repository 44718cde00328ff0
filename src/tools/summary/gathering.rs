//! Reading what a summary is about: its record and its tests, without their details.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    case::Case,
    reader::{Reader, filter, is_absent, is_partial},
    unread::Notes,
};
use crate::{
    call::paging::{ListRecords, MAX_PAGES, deduplicate},
    failure::{Code, Failure},
    service::{
        api::{jobs::ListJobs, runs::ListRuns},
        operation::Operation as _,
        result_kind::{ResultId, ResultKind},
    },
    tools::waiting::{
        counts,
        item::{is_completed, text},
    },
};

/// Something that was run: its record, and its tests as far as they could be read.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) target: ResultId,
    /// The run, job or execution.
    pub(super) record: Option<Value>,
    pub(super) cases: Vec<Case>,
    pub(super) notes: Notes,
    /// Whether every test could be read.
    pub(super) is_whole: bool,
}

impl Subject {
    /// A run or a job.
    pub(super) fn single(target: ResultId, record: Value) -> Self {
        let case = if target.kind == ResultKind::Run {
            let mut case = Case::of_run(&record);
            case.learn(&record);
            case
        } else {
            Case::of_job(&record)
        };
        Self { target, record: Some(record), cases: vec![case], notes: Notes::default(), is_whole: true }
    }

    /// Whether nothing more comes. Tests that were not seen may go on.
    pub(super) fn is_over(&self) -> bool {
        let status = self.record.as_ref().and_then(|record| text(record, "status"));
        if let Some(status) = status.filter(|_| self.target.kind == ResultKind::Execution) {
            return is_completed(Some(&status));
        }
        let is_seen = self.is_whole && !self.cases.is_empty();
        is_seen && self.cases.iter().all(|case| case.item.is_over())
    }
}

/// Reads it.
pub(super) async fn gather(reader: &Reader, target: &ResultId) -> Result<Subject, Failure> {
    let record = reader.record(target).await;
    match (target.kind, record) {
        (ResultKind::Run | ResultKind::Job, record) => Ok(Subject::single(target.clone(), record?)),
        (ResultKind::Execution, Ok(record)) => Ok(with_tests(reader, target, record).await),
        (ResultKind::Execution, Err(failure)) if is_partial(&failure) => {
            without_record(reader, target, failure).await
        }
        (ResultKind::Execution, Err(failure)) => Err(failure),
    }
}

/// The tests are read after the execution: one that is over has no test that is not.
pub(super) async fn with_tests(reader: &Reader, target: &ResultId, record: Value) -> Subject {
    let mut subject = Subject::without_tests(target, Some(record));
    if let Err(failure) = add_tests(reader, &mut subject).await {
        subject.is_whole = false;
        subject.notes.add("tests of the execution", target.id.as_str(), failure);
    }
    subject
}

/// An execution whose record cannot be read may still show its tests.
async fn without_record(reader: &Reader, target: &ResultId, failure: Failure) -> Result<Subject, Failure> {
    let mut subject = Subject::without_tests(target, None);
    if add_tests(reader, &mut subject).await.is_err() || subject.cases.is_empty() {
        return Err(failure);
    }
    subject.notes.add("execution", target.id.as_str(), failure);
    Ok(subject)
}

/// The tests of an execution: its jobs, and where the service does not list them, its runs.
async fn add_tests(reader: &Reader, subject: &mut Subject) -> Result<(), Failure> {
    let narrowed = filter([("test_plan_execution_id", &subject.target.id)]);
    match reader.all(ListJobs::NAME, &narrowed).await {
        Ok(listed) => {
            subject.is_whole = note(&mut subject.notes, &listed, "jobs, page");
            subject.cases = jobs(listed.records);
            subject.miss("they are not in the list of jobs");
        }
        Err(failure) if is_absent(&failure) => {
            let listed = reader.all(ListRuns::NAME, &narrowed).await?;
            subject.is_whole = note(&mut subject.notes, &listed, "runs, page");
            subject.cases = jobs_of(listed.records);
            subject.miss("they are not in the list of runs");
        }
        Err(failure) => return Err(failure),
    }

    Ok(())
}

/// The jobs, each once.
fn jobs(records: Vec<Value>) -> Vec<Case> {
    deduplicate(records, "job_id").iter().map(Case::of_job).collect()
}

/// What runs of one job have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Common {
    Job(String),
    /// The job is not known: the run is one of its own.
    Run(usize),
}

/// The runs, those of one job together.
fn jobs_of(runs: Vec<Value>) -> Vec<Case> {
    let mut jobs: BTreeMap<Common, Vec<Value>> = BTreeMap::new();
    for (place, run) in deduplicate(runs, "multiplayer_run_id").into_iter().enumerate() {
        let job = text(&run, "job_id").map(|id| Common::Job(id.to_ascii_lowercase()));
        jobs.entry(job.unwrap_or(Common::Run(place))).or_default().push(run);
    }
    jobs.into_values().map(|attempts| Case::of_attempts(&attempts)).collect()
}

impl Subject {
    fn without_tests(target: &ResultId, record: Option<Value>) -> Self {
        let (cases, notes) = (Vec::new(), Notes::default());
        Self { target: target.clone(), record, cases, notes, is_whole: true }
    }

    /// Says how many tests a list lacks that was read to its end, and what the execution counts: it knows of them all.
    fn miss(&mut self, why: &str) {
        let Some(record) = self.record.as_ref().filter(|_| self.is_whole) else { return };
        let total = counts::total(record).unwrap_or_default();
        let missing = total.saturating_sub(self.cases.len());
        if missing == 0 {
            return;
        }

        let counted: Vec<_> =
            counts::verdicts(record).iter().map(|(verdict, count)| format!("{verdict} {count}")).collect();
        let counted =
            if counted.is_empty() { String::new() } else { format!(" (it counts {})", counted.join(", ")) };
        let which = format!("{}: {missing} of {total}{counted}", self.target.id);

        self.is_whole = false;
        self.notes.add("tests of the execution", which, Failure::new(Code::BadResponse, why));
    }
}

/// Why the end of a list is not read.
pub(super) const TOO_LONG: &str = "a summary reads no more pages of a list";

/// Says which pages of a list are missing; whether none is.
pub(super) fn note(notes: &mut Notes, listed: &ListRecords, what: &'static str) -> bool {
    for (page, failure) in &listed.failed_pages {
        notes.add(what, page.to_string(), failure.clone());
    }

    if listed.has_more_pages {
        let pages = format!("{MAX_PAGES} and after");
        notes.skipped(what, pages, TOO_LONG);
    }

    listed.failed_pages.is_empty() && !listed.has_more_pages
}
