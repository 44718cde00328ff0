//! What a user names by its results: a run, a job or an execution by its id, the beginning of its id, or `latest`; or the
//! latest one of a test or a plan. The record of any kind for `tas-mcp show`.

use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::{
    columns::{Context, ago},
    command_names::quoted,
    name_resolution::{LATEST, NameResolver, begins, is_beginning_of_id, single},
    output::note,
};
use crate::{
    failure::{Code, Failure},
    fields::{Fields, field_at},
    service::{
        api::{
            jobs::TestPlanExecution,
            jobs::{Job, ListJobs},
        },
        arguments::is_uuid,
        catalog::ListedOperation as _,
        lenient::view,
        record_kind::{RecordKind, ResultId, ResultKind},
    },
    tools::{
        describe::find_by_id,
        find::{FoundRecord, NameResult},
        names::initiator_name,
        newest::LatestResult,
        reader::{FoundResult, is_unknown_id},
    },
};

/// What "the latest" of a test or a plan means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Latest {
    /// The latest result, of a run or an execution that has begun.
    Result,
    /// The latest start, of a job or an execution that may still be queued.
    Start,
}

enum Found {
    /// The record with the id.
    Record(FoundResult),
    /// The latest result or start of the record with the name, which is not read yet.
    Latest(ResultId),
}

impl NameResolver<'_> {
    /// Returns the record of any kind that is meant, and what is known beside it of the name.
    pub(super) async fn any(self, name: &str) -> Result<(FoundRecord, NameResult), Failure> {
        let mut found = find_by_id(&self.reader(), &RecordKind::described(), name).await?;
        if found.is_none() {
            let result = if name.eq_ignore_ascii_case(LATEST) {
                Some(self.latest().await?)
            } else {
                self.result_that_begins(name).await?
            };
            found = result.map(|id| FoundRecord::with_id(RecordKind::Result(id.kind), &id.id));
        }
        if let Some(found) = found {
            return Ok((found, NameResult::new(name, Vec::new())));
        }

        self.record_of(&RecordKind::DESCRIBED_BY_NAME, name).await.map_err(|failure| {
            let message =
                failure.message.replace("no test,", "no run, job or execution has this id, and no test,");
            Failure { message, ..failure }
        })
    }

    /// Returns the result that has this id, or whose id begins so; else why it is unknown.
    async fn result_with_id(self, name: &str) -> Result<Result<FoundResult, Failure>, Failure> {
        match self.reader().find_result(name).await {
            Err(unknown) if is_unknown_id(&unknown) => match self.result_that_begins(name).await? {
                Some(id) => self.reader().read_result(id).await.map(Ok),
                None => Ok(Err(unknown)),
            },
            found => found.map(Ok),
        }
    }

    /// Returns the only result whose id begins with `beginning`; `None` if there is none.
    async fn result_that_begins(self, beginning: &str) -> Result<Option<ResultId>, Failure> {
        if !is_beginning_of_id(beginning) {
            return Ok(None);
        }

        let lists = ResultKind::ALL.map(|kind| async move {
            let records = match self.newest_records(RecordKind::Result(kind).list(), Fields::new()).await {
                Ok(records) => records.data,
                // Without a project there are no lists, but ids have been searched in every project.
                Err(failure) if failure.code == Code::ProjectRequired => Vec::new(),
                Err(failure) => return Err(failure),
            };
            let ids = records.iter().filter_map(|record| record.get(kind.id_field())?.as_str());
            let ids = ids.filter(|id| begins(id, beginning)).map(|id| ResultId::new(kind, id));
            Ok(ids.collect::<Vec<_>>())
        });
        let mut found = try_join_all(lists).await?.concat();
        if found.len() < 2 {
            return Ok(found.pop());
        }

        let mut failure =
            Failure::new(Code::InvalidArguments, format!("{} ids begin with `{beginning}`", found.len()))
                .hint("nothing was sent; pass more of the id");
        failure.facts.choices = found.iter().map(|one| format!("{} {}", one.kind.noun(), one.id)).collect();
        Err(failure)
    }

    /// Returns the run, job or execution that has this id; else what `latest` means for the test or plan that has this
    /// name or id. The word `latest` stands for the newest of the project.
    pub(super) async fn result(self, name: &str, latest: Latest) -> Result<ResultId, Failure> {
        match self.find(name, latest).await? {
            Found::Record(found) => Ok(found.id),
            Found::Latest(result) => Ok(result),
        }
    }

    pub(super) async fn several_jobs(self, names: &[String]) -> Result<Vec<String>, Failure> {
        let mut jobs = Vec::new();
        for name in names {
            // Several ids are ids of jobs, which need no look-up.
            if is_uuid(name) {
                jobs.push(name.clone());
                continue;
            }

            let result = self.result(name, Latest::Start).await?;
            if result.kind != ResultKind::Job {
                let message =
                    format!("`{name}` is a {}; several ids must be ids of jobs", result.kind.noun());
                return Err(Failure::new(Code::InvalidArguments, message).hint("name one after the other"));
            }
            jobs.push(result.id);
        }

        Ok(jobs)
    }

    /// Returns the record of the latest result that [`Self::result`] finds.
    pub(super) async fn found(self, name: &str) -> Result<FoundResult, Failure> {
        match self.find(name, Latest::Result).await? {
            Found::Record(found) => Ok(found),
            Found::Latest(result) => self.reader().read_result(result).await,
        }
    }

    async fn find(self, name: &str, latest: Latest) -> Result<Found, Failure> {
        if name.eq_ignore_ascii_case(LATEST) {
            return self.latest().await.map(Found::Latest);
        }

        let unknown = match self.result_with_id(name).await? {
            Ok(found) => return Ok(Found::Record(found)),
            Err(unknown) => unknown,
        };
        match self.latest_of_named(name, latest).await {
            Ok(Some(result)) => Ok(Found::Latest(result)),
            Ok(None) => Err(unknown),
            // Without a project there are no names, but an id was searched in every project.
            Err(failure) if failure.code == Code::ProjectRequired => Err(unknown),
            Err(failure) => Err(failure),
        }
    }

    /// Returns the newest start of the project: a job, or the execution that it belongs to. Says which it is, because `latest`
    /// may be stopped or exported.
    async fn latest(self) -> Result<ResultId, Failure> {
        let jobs = self.newest_records(ListJobs::entry(), Fields::new()).await?.data;
        let newest = jobs.first().ok_or_else(|| nothing_started("the project", ResultKind::Job))?;
        let job: Job = view(newest);
        let (id, name, time, by) = match job.test_plan_execution_id {
            None => (ResultId::new(ResultKind::Job, &job.job_id), job.test_name, job.created_at, None),
            Some(id) => {
                let id = ResultId::new(ResultKind::Execution, &id);
                let record = self.reader().read_result(id.clone()).await?.record;
                let execution: TestPlanExecution = view(&record);
                let by = initiator_name(&view(&execution.started_by));
                (id, execution.test_plan_name, execution.started_at.unwrap_or(job.created_at), by)
            }
        };

        let subject = format!("{} {}", id.kind.noun(), id.id);
        let age = Some(ago(&time, &Context::default())).filter(|age| !age.is_empty());
        let by = by.map(|by| format!("started by {by}"));
        let facts: Vec<_> = [Some(subject), name, age, by].into_iter().flatten().collect();
        note(&format!("latest: {}", facts.join(", ")));

        Ok(id)
    }

    /// Returns the id of the run that a user names: an id of a run or of a player, the beginning of one, `latest`, or a test
    /// whose latest run is meant.
    pub(super) async fn run(self, name: &str) -> Result<String, Failure> {
        if name.eq_ignore_ascii_case(LATEST) {
            return Ok(self.newest(ResultKind::Run, Fields::new(), "the project").await?.id);
        }
        // Whoever reads the run finds out whether it exists.
        if RecordKind::Result(ResultKind::Run).may_have_id(name) && name.len() >= WHOLE_RUN_ID {
            return Ok(name.to_owned());
        }

        let result = self.result(name, Latest::Result).await?;
        match result.kind {
            ResultKind::Run => Ok(result.id),
            ResultKind::Job => self.run_of_job(&result.id).await,
            ResultKind::Execution => {
                let hint = format!("`tas-mcp show {}` names its runs", quoted(&result.id));
                let message = format!("`{name}` is a plan execution, and not a run");
                Err(Failure::new(Code::InvalidArguments, message).hint(hint))
            }
        }
    }

    pub(super) async fn run_of_job(self, job: &str) -> Result<String, Failure> {
        let filter = ResultId::new(ResultKind::Job, job).to_arguments();
        let run = self.newest(ResultKind::Run, filter, &format!("the job {job}")).await?;

        Ok(run.id)
    }

    /// Returns what `latest` means for the test or plan with this name or id; `None` if nothing is similar.
    async fn latest_of_named(self, name: &str, latest: Latest) -> Result<Option<ResultId>, Failure> {
        let kinds = [RecordKind::TestPlan, RecordKind::Test];
        let found = self.search(&kinds, name).await?;
        if found.records.is_empty() && found.unread.is_empty() {
            return Ok(None);
        }

        let FoundRecord { kind, id, name, .. } = single(&kinds, found)?.0;
        let result = match (kind, latest) {
            (RecordKind::TestPlan, Latest::Result) => {
                LatestResult::OfPlan(id).find(self.caller, self.project).await
            }
            (_, Latest::Result) => LatestResult::OfTest(id).find(self.caller, self.project).await,
            (RecordKind::TestPlan, Latest::Start) => {
                let filter = Fields::from_iter([("test_plan_id".to_owned(), json!(id))]);
                self.newest(ResultKind::Execution, filter, &name).await
            }
            (_, Latest::Start) => {
                let filter = Fields::from_iter([("multiplayer_test_id".to_owned(), json!(id))]);
                self.newest(ResultKind::Job, filter, &name).await
            }
        };

        result.map(Some)
    }

    /// Returns the newest record of the kind `kind` that `filter` selects. An execution that is queued is newer than
    /// those that have begun. `owner` is what the record belongs to.
    async fn newest(self, kind: ResultKind, filter: Fields, owner: &str) -> Result<ResultId, Failure> {
        let records = self.newest_records(RecordKind::Result(kind).list(), filter).await?.data;

        let is_queued = |record: &&Value| field_at(record, "started_at").is_none();
        let queued = records.iter().find(is_queued).filter(|_| kind == ResultKind::Execution);
        let id = queued.or(records.first()).and_then(|record| record.get(kind.id_field())?.as_str());

        id.map(|id| ResultId::new(kind, id)).ok_or_else(|| nothing_started(owner, kind))
    }
}

/// Shortest id of a run that is known (service.md 1.7). Shorter words may be beginnings of ids.
const WHOLE_RUN_ID: usize = 11;

fn nothing_started(owner: &str, kind: ResultKind) -> Failure {
    Failure::new(Code::NotFound, format!("{owner} has no {}", kind.noun()))
        .hint("start one with `tas-mcp run`")
}
