//! The newest records of a list, which is read completely and sorted here: the service states no order for most lists,
//! and cannot sort runs (service.md 2.2). It sorts executions, of which only the first pages are read.

use std::cmp::Reverse;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::{
    call::{
        Caller, CheckedArguments, CommonArguments, Reply, ToolArguments,
        paging::{LONG_LIST_PAGES, deduplicate},
        reply::{FieldSelection, RecordLimit},
    },
    failure::{Code, Failure},
    fields::{Fields, field_at, text_at},
    service::{
        api::{
            jobs::{Job, JobStatusFilter, ListJobs, ListTestPlanExecutions, TestPlanExecution},
            runs::{DEVICE, ListRuns, NEWEST, QUEUED, Run},
        },
        catalog::{ListedOperation as _, OperationEntry},
        lenient::view,
        record_kind::{ResultId, ResultKind},
        schema::RECORDS,
    },
    text::filled,
    tools::{
        context::CallOptions,
        names::devices,
        reader::{Reader, ScanEnd, arguments},
        unread::{Missing, Unread},
    },
};

/// The newest records of a list.
#[derive(Debug, Serialize)]
pub struct NewestRecords {
    /// The pages that could not be read.
    #[serde(flatten)]
    pub missing: Missing,
    /// The records, the newest first.
    pub data: Vec<Value>,
    /// Number of all records that are wanted.
    pub total_count: usize,
}

/// What a reply with the newest runs says before them, whatever fields are selected.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
struct NewestRuns {
    #[serde(flatten)]
    missing: Missing,
    /// Number of runs that were read and sorted, on the wanted device.
    runs_read: usize,
    /// Number of these that are older than the returned ones.
    older_runs: usize,
    /// Time of the oldest returned run.
    reaches_back_to: Option<Value>,
}

/// Lists runs: a page of the service, or the newest runs that the arguments select.
///
/// # Errors
/// Every failure of the operation. Pages after the first that cannot be read, or not in time, are named in the reply.
pub(super) async fn list_runs(
    caller: &Caller,
    arguments: ToolArguments,
    options: &CallOptions,
) -> Result<Reply, Failure> {
    let list = ListRuns::entry();
    let checked = caller.check(list, arguments)?;
    if checked.own.contains_key(NEWEST) {
        return list_newest_runs(caller, checked, options).await;
    }
    let CheckedArguments { own, project_id, selection, .. } = checked;
    let Queue { list, own, is_queued } = Queue::new(list, own);
    let arguments = ToolArguments::new(own, CommonArguments::in_project(project_id.as_deref()));
    let mut page = caller.call(list, arguments).await?;
    if is_queued {
        page.records_mut().for_each(|job| *job = run_of_queued_job(&view(&*job)));
    }

    Ok(with_fields(page, selection.as_ref()))
}

/// The list that is read for the arguments of a list: jobs without a run are not in the list of runs.
struct Queue {
    list: &'static OperationEntry,
    own: Fields,
    is_queued: bool,
}

impl Queue {
    fn new(list: &'static OperationEntry, mut own: Fields) -> Self {
        let is_queued = own.shift_remove(QUEUED) == Some(Value::Bool(true));
        if is_queued {
            own.insert("status".to_owned(), json!(JobStatusFilter::Queued));
        }
        Self { list: if is_queued { ListJobs::entry() } else { list }, own, is_queued }
    }
}

/// Returns a job in the form of the run that it will have.
fn run_of_queued_job(job: &Job) -> Value {
    json!({
        "job_id": job.job_id, "project_id": job.project_id, "state": job.status, "tags": job.tags,
        "test": {"id": job.multiplayer_test_id, "name": job.test_name}, "created_at": job.created_at, DEVICE: job.platform,
    })
}

fn with_fields(mut runs: Reply, selection: Option<&FieldSelection>) -> Reply {
    if selection.is_some_and(|selection| selection.names(DEVICE)) {
        runs.records_mut().for_each(name_devices);
    }
    runs.with_fields(selection)
}

/// Adds the names of the devices of its players to a run. One that has not begun has that of its job.
fn name_devices(run: &mut Value) {
    let devices = devices(&view::<Run>(&*run).players).join(", ");
    if let Value::Object(run) = run {
        run.entry(DEVICE).or_insert_with(|| filled(&devices).into());
    }
}

async fn list_newest_runs(
    caller: &Caller,
    mut checked: CheckedArguments,
    options: &CallOptions,
) -> Result<Reply, Failure> {
    let count = checked.own.shift_remove(NEWEST).and_then(|count| count.as_u64()).unwrap_or_default();
    let device = checked.own.shift_remove(DEVICE);
    let list = ListRuns::entry();
    let NewestRecords { missing, mut data, .. } = read_sorted(caller, list, &checked, options).await?;
    if let Some(part) = device.as_ref().and_then(Value::as_str).map(str::to_lowercase) {
        data.iter_mut().for_each(name_devices);
        data.retain(|run| text_at(run, DEVICE).is_some_and(|names| names.to_lowercase().contains(&part)));
    }
    let runs_read = data.len();
    data.truncate(usize::try_from(count).unwrap_or(usize::MAX));

    let statement = NewestRuns {
        missing,
        runs_read,
        older_runs: runs_read - data.len(),
        reaches_back_to: data.last().and_then(|run| run.get("created_at")).cloned(),
    };
    let statement = json!(statement).as_object().cloned().unwrap_or_default();

    Ok(with_fields(Reply::from_value(json!({RECORDS: data})), checked.selection.as_ref())
        .limited_by(RecordLimit { argument: NEWEST, restate: restate_reach }, statement))
}

/// States anew how far the runs of a reply reach back, after the oldest were removed.
fn restate_reach(reply: &mut Fields) {
    let runs = reply.get(RECORDS).and_then(Value::as_array);
    let (kept, oldest) =
        (runs.map_or(0, Vec::len), runs.and_then(|runs| runs.last()?.get("created_at").cloned()));

    if let Some(read) = reply.get("runs_read").and_then(Value::as_u64) {
        reply.insert("older_runs".to_owned(), read.saturating_sub(kept as u64).into());
    }
    match oldest {
        Some(oldest) => drop(reply.insert("reaches_back_to".to_owned(), oldest)),
        // The time is not among the selected fields.
        None => drop(reply.shift_remove("reaches_back_to")),
    }
}

/// Reads all pages of a list and returns the records, the newest first. `arguments` selects records, but no page.
///
/// # Errors
/// The violations of the arguments, and the failure of the first page.
pub async fn read_newest(
    caller: &Caller,
    list: &'static OperationEntry,
    arguments: ToolArguments,
) -> Result<NewestRecords, Failure> {
    read_sorted(caller, list, &caller.check(list, arguments)?, &CallOptions::silent()).await
}

async fn read_sorted(
    caller: &Caller,
    list: &'static OperationEntry,
    checked: &CheckedArguments,
    options: &CallOptions,
) -> Result<NewestRecords, Failure> {
    let queue = Queue::new(list, checked.own.clone());
    let reader = Reader::new(caller, checked.project_id.as_deref());
    let listed = reader.run(options, reader.list(queue.list, &queue.own, LONG_LIST_PAGES)).await?;

    let mut unread = Unread::default();
    let mut data = newest_first(queue.list, unread.pages(list.name, listed, LONG_LIST_PAGES));
    if queue.is_queued {
        data = data.iter().map(|job| run_of_queued_job(&view(job))).collect();
    }
    Ok(NewestRecords { missing: unread.into(), total_count: data.len(), data })
}

/// Returns the records of a list, each once, the newest first. Those without a time follow at the end, sorted by name.
pub(super) fn newest_first(list: &OperationEntry, records: Vec<Value>) -> Vec<Value> {
    let mut records = deduplicate(records, list.records.map_or("id", |keys| keys.id));
    let text =
        |record: &Value, field: &str| field_at(record, field).and_then(Value::as_str).map(str::to_owned);
    records.sort_by_cached_key(|record| {
        let mut times = list.records.map_or(&[][..], |keys| keys.times).iter();
        let time =
            times.find_map(|field| text(record, field)).and_then(|text| text.parse::<Timestamp>().ok());
        let name = list.records.and_then(|keys| text(record, keys.name));
        (Reverse(time), name.map(|name| name.to_lowercase()))
    });

    records
}

/// The latest result of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LatestResult {
    /// The latest execution of the plan with this id.
    OfPlan(String),
    /// The latest run of the test with this id.
    OfTest(String),
    /// The latest run of the project.
    OfProject,
}

impl LatestResult {
    /// Returns the id of the record.
    ///
    /// # Errors
    /// `not_found` if the plan or the test has no result, and the failures of the list.
    pub async fn find(&self, caller: &Caller, project: Option<&str>) -> Result<ResultId, Failure> {
        let reader = &Reader::new(caller, project);
        let (kind, owner, latest) = match self {
            Self::OfPlan(plan) => {
                (ResultKind::Execution, format!("test plan {plan}"), latest_execution(reader, plan).await?)
            }
            Self::OfTest(test) => {
                let filter = arguments(&[("multiplayer_test_id", test.as_str())]);
                (ResultKind::Run, format!("test {test}"), latest_run(reader, &filter).await?)
            }
            Self::OfProject => {
                (ResultKind::Run, "project".to_owned(), latest_run(reader, &Fields::new()).await?)
            }
        };

        latest.filter(|id| !id.is_empty()).map(|id| ResultId::new(kind, id)).ok_or_else(|| {
            let message = format!("the {owner} has no {}", kind.noun());
            Failure::new(Code::NotFound, message)
                .hint("check the id and the project; nothing may have been started yet")
        })
    }
}

/// Returns the id of the execution of a plan that was started last, or else of one that is still queued.
async fn latest_execution(reader: &Reader, plan: &str) -> Result<Option<String>, Failure> {
    let is_started = |execution: &TestPlanExecution| execution.started_at.is_some();
    let newest = newest_executions(reader, plan, |found| found.iter().any(is_started)).await?;

    let start =
        |execution: &TestPlanExecution| Some(execution.started_at.as_deref()?.parse::<Timestamp>().ok());
    // The ids decide between equal times, so that equal calls have equal answers.
    let latest = newest.executions.into_iter().max_by_key(|one| (start(one), one.id.clone()));

    Ok(latest.map(|execution| execution.id))
}

/// Returns the id of the run that was created last among those that `filter` selects.
///
/// # Errors
/// The failure of a page, because the latest run may be on it.
async fn latest_run(reader: &Reader, filter: &Fields) -> Result<Option<String>, Failure> {
    let listed = reader.list(ListRuns::entry(), filter, LONG_LIST_PAGES).await?;
    if let Some((_, failure)) = listed.failed_pages.into_iter().next() {
        return Err(failure);
    }
    if listed.has_more_pages {
        let failure = Failure::new(Code::TooLarge, "there are too many runs to find the latest one");
        return Err(failure.hint("pass the `argument:run_id` of a run"));
    }

    let newest = newest_first(ListRuns::entry(), listed.records);
    let latest = newest.first().map(|run| view::<Run>(run).head.multiplayer_run_id);
    reader.remember_runs(latest.iter());

    Ok(latest)
}

/// Executions of one plan.
#[derive(Debug)]
pub(super) struct NewestExecutions {
    pub(super) executions: Vec<TestPlanExecution>,
    /// Whether the plan has more than were read.
    pub(super) has_more: bool,
}

/// Reads the executions of a plan, those that were started last first, until `is_enough`.
pub(super) async fn newest_executions(
    reader: &Reader,
    plan: &str,
    is_enough: impl Fn(&[TestPlanExecution]) -> bool,
) -> Result<NewestExecutions, Failure> {
    let filter = arguments(&[("test_plan_id", plan), ("sort_by", "start_time"), ("sort_order", "desc")]);
    let mut executions = Vec::new();
    let scan = reader.scan::<ListTestPlanExecutions, _>(&filter, |page| {
        let of_plan = page.iter().map(view::<TestPlanExecution>).filter(|execution| {
            // A service may ignore the filter.
            execution.test_plan_id.as_ref().is_none_or(|id| id.eq_ignore_ascii_case(plan))
        });
        executions.extend(of_plan);
        is_enough(&executions).then_some(())
    });
    let has_more = matches!(scan.await?, ScanEnd::PageLimit);

    Ok(NewestExecutions { executions, has_more })
}
