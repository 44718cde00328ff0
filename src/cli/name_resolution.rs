//! Names in place of ids: of tests, plans, devices and builds, and of the latest result of a test or a plan.

use serde_json::{Value, json};

use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
    },
    failure::{Code, Failure},
    fields::{Fields, field_at},
    service::{
        api::{
            executions::ListTestPlanExecutions,
            jobs::{Job, ListJobs},
            runs::ListRuns,
        },
        arguments::is_uuid,
        catalog::ListedOperation as _,
        result_kind::{ResultId, ResultKind},
        view::view,
    },
    tools::{
        call_options::CallOptions,
        name_search::{FoundRecord, NameMatch, NameResult, NameSearch, RecordKind},
        newest::{WantedRecords, read_newest},
        report::ReportSubject,
        summary::SummaryTarget,
        waiting::WaitTarget,
    },
};

/// Word for the newest record, in place of an id.
pub(super) const LATEST: &str = "latest";

/// What "the latest" of a test or a plan means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Latest {
    /// The latest result, of a run or an execution that has begun.
    Result,
    /// The latest start, of a job or an execution that may still be queued.
    Start,
}

/// What a user names.
enum Found {
    /// The record with the id.
    Subject(ReportSubject),
    /// The latest result or start of the record with the name, which is not read yet.
    Latest(ResultId),
}

/// Finds the ids of what a user names.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameResolver<'a> {
    pub(super) caller: &'a Caller,
    /// The project that a flag names; `None` if the settings or the key decide it.
    pub(super) project: Option<&'a str>,
}

impl<'a> NameResolver<'a> {
    /// Returns a resolver for the records of one project.
    pub(super) fn new(caller: &'a Caller, project: Option<&'a str>) -> Self {
        Self { caller, project }
    }

    /// Returns the id of the record of the kind `kind` that has this name or id. An id of a record is a UUID, for which
    /// no request is sent.
    ///
    /// # Errors
    /// `invalid_arguments` with the records to choose from, if no record or several have the name.
    pub(super) async fn id(self, kind: RecordKind, name: &str) -> Result<String, Failure> {
        if is_uuid(name) {
            return Ok(name.to_owned());
        }
        let found = self.search(&[kind], name).await?;
        single(&[kind], found).map(|record| record.id)
    }

    /// Returns the record of the kind `kind` with this name or id, with its distinguishing fields.
    ///
    /// # Errors
    /// As [`Self::id`].
    pub(super) async fn record(self, kind: RecordKind, name: &str) -> Result<FoundRecord, Failure> {
        let found = self.search(&[kind], name).await?;
        single(&[kind], found)
    }

    /// Returns the run, job or execution that has this id; else what `latest` means for the test or plan that has this
    /// name or id. The word `latest` stands for the newest of the project.
    ///
    /// # Errors
    /// `invalid_arguments` with the records to choose from, and the failures of the look-ups.
    pub(super) async fn result(self, name: &str, latest: Latest) -> Result<ResultId, Failure> {
        match self.find(name, latest).await? {
            Found::Subject(subject) => Ok(subject.into_id()),
            Found::Latest(result) => Ok(result),
        }
    }

    /// Returns the record of the latest result that [`Self::result`] finds.
    ///
    /// # Errors
    /// As [`Self::result`].
    pub(super) async fn subject(self, name: &str) -> Result<ReportSubject, Failure> {
        match self.find(name, Latest::Result).await? {
            Found::Subject(subject) => Ok(subject),
            Found::Latest(result) => ReportSubject::read(self.caller, self.project, result).await,
        }
    }

    async fn find(self, name: &str, latest: Latest) -> Result<Found, Failure> {
        if name.eq_ignore_ascii_case(LATEST) {
            let kind = if latest == Latest::Start { ResultKind::Job } else { ResultKind::Run };
            return self.newest(kind, Fields::new(), "the project").await.map(Found::Latest);
        }

        match ReportSubject::find(self.caller, self.project, name).await {
            Ok(subject) => Ok(Found::Subject(subject)),
            Err(unknown) if is_unknown_id(&unknown) => match self.latest_of_named(name, latest).await {
                Ok(Some(result)) => Ok(Found::Latest(result)),
                Ok(None) => Err(unknown),
                // Without a project there are no names, but an id was searched in every project.
                Err(failure) if failure.code == Code::ProjectRequired => Err(unknown),
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        }
    }

    /// Returns the id of the latest run of a job.
    ///
    /// # Errors
    /// `not_found` if the job has no run, and the failures of the list.
    pub(super) async fn run_of_job(self, job: &str) -> Result<String, Failure> {
        let filter = ResultId::new(ResultKind::Job, job).to_arguments();
        let run = self.newest(ResultKind::Run, filter, &format!("the job {job}")).await?;

        Ok(run.id)
    }

    /// Returns what `latest` means for the test or plan with this name or id; `None` if nothing is similar.
    async fn latest_of_named(self, name: &str, latest: Latest) -> Result<Option<ResultId>, Failure> {
        let kinds = [RecordKind::TestPlan, RecordKind::Test];
        let found = self.search(&kinds, name).await?;
        if found.r#match == NameMatch::None {
            return Ok(None);
        }

        let FoundRecord { kind, id, name, .. } = single(&kinds, found)?;
        let result = match (kind, latest) {
            (RecordKind::TestPlan, Latest::Result) => {
                SummaryTarget::LatestExecution(id).find(self.caller, self.project).await
            }
            (_, Latest::Result) => SummaryTarget::LatestRun(id).find(self.caller, self.project).await,
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
        let list = match kind {
            ResultKind::Execution => ListTestPlanExecutions::entry(),
            ResultKind::Run => ListRuns::entry(),
            ResultKind::Job => ListJobs::entry(),
        };
        let arguments = ToolArguments::new(filter, CommonArguments::in_project(self.project));
        let wanted = WantedRecords { filter: |_| true, limit: usize::MAX };
        let records = read_newest(self.caller, list, arguments, wanted).await?.data;

        let is_queued = |record: &&Value| field_at(record, "started_at").is_none();
        let queued = records.iter().find(is_queued).filter(|_| kind == ResultKind::Execution);
        let id = queued.or(records.first()).and_then(|record| record.get(kind.id_field())?.as_str());

        id.map(|id| ResultId::new(kind, id)).ok_or_else(|| {
            Failure::new(Code::NotFound, format!("{owner} has no {}", kind.noun()))
                .hint("start one with `tas-mcp run`")
        })
    }

    async fn search(self, kinds: &[RecordKind], name: &str) -> Result<NameResult, Failure> {
        let search = NameSearch { names: vec![name.to_owned()], kinds: kinds.to_vec(), with_details: false };
        let answer = search.run(self.caller, self.project.map(str::to_owned), &CallOptions::silent()).await?;
        for omission in &answer.unread {
            tracing::warn!("{} could not be read: {}", omission.what, omission.why);
        }

        let mut results = answer.results.into_iter();
        let missing = || Failure::new(Code::BadResponse, format!("the search for `{name}` has no result"));
        results.next().ok_or_else(missing)
    }
}

/// Returns the ids of the jobs of a target. `known` are the ids that are known already.
///
/// # Errors
/// The failures of the look-ups.
pub(super) async fn jobs_of(
    caller: &Caller,
    project: Option<&str>,
    target: &WaitTarget,
    known: &[String],
) -> Result<Vec<String>, Failure> {
    let result = match target {
        _ if !known.is_empty() => return Ok(known.to_vec()),
        WaitTarget::Jobs(ids) => return Ok(ids.clone()),
        WaitTarget::Single(ResultId { kind: ResultKind::Job, id }) => return Ok(vec![id.clone()]),
        WaitTarget::Single(result) => result,
    };

    if result.kind == ResultKind::Run {
        let subject = ReportSubject::find(caller, project, &result.id).await?;
        return Ok(subject.job_id().into_iter().collect());
    }

    let arguments = ToolArguments::new(result.to_arguments(), CommonArguments::in_project(project));
    let wanted = WantedRecords { filter: is_unfinished, limit: usize::MAX };
    let jobs = read_newest(caller, ListJobs::entry(), arguments, wanted).await?.data;
    let ids = jobs.iter().map(|job| view::<Job>(job).job_id);

    Ok(ids.filter(|id| !id.is_empty()).collect())
}

/// Returns whether a job is queued or running, so that it can be stopped.
fn is_unfinished(job: &Value) -> bool {
    !view::<Job>(job).status.eq_ignore_ascii_case("completed")
}

/// Returns whether a look-up failed because no record has the id.
fn is_unknown_id(failure: &Failure) -> bool {
    matches!(failure.code, Code::NotFound | Code::ProjectNotResolved | Code::InvalidArguments)
}

/// Returns the only record that has the name.
///
/// # Errors
/// `invalid_arguments` with the records to choose from.
pub(super) fn single(kinds: &[RecordKind], found: NameResult) -> Result<FoundRecord, Failure> {
    let NameResult { name, r#match, reason, mut records } = found;
    if matches!(r#match, NameMatch::Exact | NameMatch::Case) {
        // A record with the same letters is meant before one that differs in case.
        let same = records.iter().filter(|record| record.r#match.is_none()).count();
        if same == 1 {
            return Ok(records.swap_remove(0));
        }
    }

    let nouns: Vec<_> = kinds.iter().map(|kind| noun(*kind)).collect();
    let nouns = nouns.join(" or ");
    let message = match r#match {
        NameMatch::Exact | NameMatch::Case => format!("`{name}` names {} records", records.len()),
        NameMatch::Incomplete => format!(
            "no {nouns} with the name `{name}` was found, and not every list could be read: {}",
            reason.unwrap_or_default()
        ),
        NameMatch::Similar => format!("no {nouns} has the name `{name}`; the nearest are"),
        NameMatch::None => format!("no {nouns} has the name `{name}`"),
    };
    let hint = match r#match {
        NameMatch::None => format!("nothing was sent; `{}` lists what there is", list_command(kinds)),
        _ => "nothing was sent; pass the whole name or the id".to_owned(),
    };

    let mut failure =
        Failure::new(Code::InvalidArguments, message).hint(hint).detail("records", json!(records));
    failure.facts.choices = records.iter().map(choice).collect();

    Err(failure)
}

/// Returns a line about a record: its name, what tells it apart, and its id.
fn choice(record: &FoundRecord) -> String {
    let more: Vec<_> = record.more.values().filter_map(Value::as_str).collect();
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
    format!("{} {}{more}: {}", noun(record.kind), record.name, record.id)
}

/// Returns the word of the command line for a kind of records.
fn noun(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Test => "test",
        RecordKind::TestPlan => "plan",
        RecordKind::TestFolder => "folder",
        RecordKind::DeploymentConfig => "device",
        RecordKind::AgentConfig => "agent config",
        RecordKind::Build => "build",
        RecordKind::SharedStep => "shared step",
        RecordKind::Bug => "bug",
    }
}

/// Returns the command that lists the records of the first kind.
fn list_command(kinds: &[RecordKind]) -> &'static str {
    match kinds.first() {
        Some(RecordKind::TestPlan) => "tas-mcp plans",
        Some(RecordKind::DeploymentConfig) => "tas-mcp devices",
        Some(RecordKind::Build) => "tas-mcp builds",
        Some(RecordKind::AgentConfig) => "tas-mcp call list_agent_configs",
        _ => "tas-mcp tests",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, id: &str) -> FoundRecord {
        let more = Fields::from_iter([("folder_path".to_owned(), json!("Menus"))]);
        FoundRecord { kind: RecordKind::Test, id: id.to_owned(), name: name.to_owned(), r#match: None, more }
    }

    fn found(r#match: NameMatch, records: Vec<FoundRecord>) -> NameResult {
        NameResult { name: "Login".to_owned(), r#match, reason: None, records }
    }

    #[test]
    fn exactly_one_record_must_have_the_name() {
        let only = single(&[RecordKind::Test], found(NameMatch::Exact, vec![record("Login", "t1")]));
        assert_eq!(only.expect("a record").id, "t1");

        for (r#match, records, message) in [
            (NameMatch::Exact, vec![record("Login", "t1"), record("login", "t2")], "`Login` names 2 records"),
            (
                NameMatch::Similar,
                vec![record("Log in", "t1")],
                "no test has the name `Login`; the nearest are",
            ),
            (NameMatch::None, vec![], "no test has the name `Login`"),
        ] {
            let choices: Vec<_> = records.iter().map(choice).collect();
            let failure = single(&[RecordKind::Test], found(r#match, records)).expect_err("no single record");

            assert_eq!((failure.code, failure.message.as_str()), (Code::InvalidArguments, message));
            assert_eq!(failure.facts.choices, choices);
        }
        assert_eq!(choice(&record("Login", "t1")), "test Login (Menus): t1");
    }
}
