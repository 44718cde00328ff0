//! What a summary is compared with: the one before, or the one with an id of which nobody said what it is of.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    PREVIOUS,
    gathering::{Subject, TOO_LONG, note, with_tests},
    reader::{Reader, filter, is_absent, is_partial, likely},
};
use crate::{
    call::paging::MAX_PAGES,
    failure::Failure,
    fields::Fields,
    service::{
        api::{executions::ListTestPlanExecutions, jobs::ListJobs, runs::ListRuns},
        operation::Operation as _,
        result_kind::{ResultId, ResultKind},
    },
    tools::waiting::item::{is_completed, text},
};

/// What was found to compare with.
#[derive(Clone, Debug)]
pub(super) enum Baseline {
    Found(Box<Subject>),
    /// There is nothing, and why.
    Nothing(String),
}

impl Baseline {
    fn nothing(why: impl Into<String>) -> Self {
        Self::Nothing(why.into())
    }
}

/// A record that may be compared with, and its id.
type Earlier = (String, Value);

/// Finds it.
pub(super) async fn find(reader: &Reader, subject: &mut Subject, with: &str) -> Result<Baseline, Failure> {
    let found = if with.trim().eq_ignore_ascii_case(PREVIOUS) {
        previous(reader, subject).await
    } else {
        with_id(reader, subject.target.kind, with).await
    };
    match found {
        Err(failure) if is_partial(&failure) => {
            subject.notes.add("compare_with", with, failure);
            Ok(Baseline::nothing("it could not be read: see `unread`"))
        }
        found => found,
    }
}

/// The record of that id, whatever it is of.
async fn with_id(reader: &Reader, like: ResultKind, id: &str) -> Result<Baseline, Failure> {
    for kind in likely(id, like) {
        let target = ResultId::new(kind, id);
        match reader.record(&target).await {
            Ok(record) => return Ok(Baseline::Found(Box::new(read(reader, target, record).await))),
            Err(failure) if is_absent(&failure) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(Baseline::nothing("no execution, run or job of this project has the id of `compare_with`"))
}

async fn read(reader: &Reader, target: ResultId, record: Value) -> Subject {
    match target.kind {
        ResultKind::Run | ResultKind::Job => Subject::single(target, record),
        ResultKind::Execution => with_tests(reader, &target, record).await,
    }
}

/// The latest that began earlier, of the same plan or test, and is over.
async fn previous(reader: &Reader, subject: &mut Subject) -> Result<Baseline, Failure> {
    let record = subject.record.clone().unwrap_or_default();
    let kind = subject.target.kind;
    let test = subject.cases.first().and_then(|case| case.test_id.clone());
    let found = match kind {
        ResultKind::Execution => match text(&record, "test_plan_id") {
            Some(plan) => earlier_execution(reader, subject, &plan, &record).await?,
            None => return Ok(Baseline::nothing("the execution names no test plan")),
        },
        ResultKind::Run | ResultKind::Job => match test {
            Some(test) => earlier_of_test(reader, subject, &test, &record).await?,
            None => return Ok(Baseline::nothing("the test is not known")),
        },
    };

    let what = kind.target_type().replace('_', " ");
    let Some((id, found)) = found else {
        let of = if kind == ResultKind::Execution { "plan" } else { "test" };
        return Ok(Baseline::nothing(format!("there is no earlier {what} of the same {of} that is over")));
    };

    Ok(Baseline::Found(Box::new(read(reader, ResultId::new(kind, &id), found).await)))
}

/// The list begins with the latest.
async fn earlier_execution(
    reader: &Reader,
    subject: &mut Subject,
    plan: &str,
    own: &Value,
) -> Result<Option<Earlier>, Failure> {
    let mut narrowed = filter([("test_plan_id", plan), ("status", "completed")]);
    narrowed.extend(filter([("sort_by", "start_time"), ("sort_order", "desc")]));

    for page in 0..MAX_PAGES {
        let shown = reader.page(ListTestPlanExecutions::NAME, &narrowed, page).await?;
        let is_last = shown.is_last(page);
        let found = latest(shown.records, subject, own, "started_at");
        if found.is_some() || is_last {
            return Ok(found);
        }
    }

    let pages = format!("{MAX_PAGES} and after");
    subject.notes.skipped("earlier executions of the plan, page", pages, TOO_LONG);

    Ok(None)
}

/// Their order is not stated (supplement 2.2): all are looked at. An earlier attempt of the same job is none.
async fn earlier_of_test(
    reader: &Reader,
    subject: &mut Subject,
    test: &str,
    own: &Value,
) -> Result<Option<Earlier>, Failure> {
    let (operation, state, over) = match subject.target.kind {
        ResultKind::Run => (ListRuns::NAME, "state", "state"),
        _ => (ListJobs::NAME, "status", "status"),
    };
    let mut narrowed: Fields = filter([("multiplayer_test_id", test)]);
    narrowed.insert(state.to_owned(), json!("completed"));

    let mut listed = reader.all(operation, &narrowed).await?;
    note(&mut subject.notes, &listed, "earlier ones of the test, page");
    listed.records.retain(|record| is_completed(text(record, over).as_deref()));

    Ok(latest(listed.records, subject, own, "created_at"))
}

/// The latest of those that began before `own`, and are not of it, with its id. A record without one cannot be told
/// from `own`.
fn latest(records: Vec<Value>, subject: &mut Subject, own: &Value, at: &str) -> Option<Earlier> {
    let moment = |record: &Value| Some((text(record, at)?.parse::<Timestamp>().ok(), text(record, at)?));
    let ours = moment(own);
    let is_earlier = |record: &Value| match (&ours, moment(record)) {
        (Some(ours), Some(theirs)) => theirs < *ours,
        (None, theirs) => theirs.is_some(),
        (Some(_), None) => false,
    };
    let (mut named, mut nameless) = (Vec::new(), 0_usize);

    for record in records.into_iter().filter(is_earlier) {
        match text(&record, subject.target.kind.id_field()) {
            Some(id) => named.push((id, record)),
            None => nameless += 1,
        }
    }

    if nameless > 0 {
        let why = "records without an id are not compared with";
        subject.notes.skipped("earlier ones without an id:", nameless.to_string(), why);
    }

    let job = text(own, "job_id");
    let is_own = |(id, record): &Earlier| {
        id.eq_ignore_ascii_case(&subject.target.id) || (job.is_some() && text(record, "job_id") == job)
    };
    named.retain(|earlier| !is_own(earlier));

    named.into_iter().max_by_key(|(id, record)| (moment(record), text(record, "job_id"), id.clone()))
}
