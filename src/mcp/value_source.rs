//! The values of an argument of a prompt or of a variable of a resource template: which list of the service has them, and
//! how its records are read.
//!
//! Only the first page of the list of one project is read, because a person waits for the values at every keystroke.

use std::cmp::Reverse;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::callers::Callers;
use crate::{
    call::{
        arguments::{CommonArguments, ToolArguments},
        paging::{Page, page_arguments},
    },
    failure::Failure,
    fields::{Fields, field_at},
    service::{
        api::{
            bugs::ListBugs,
            builds::ListBuilds,
            configs::{ListAgentConfigs, ListDeploymentConfigs},
            executions::ListTestPlanExecutions,
            jobs::ListJobs,
            knowledge::ListKnowledgeFiles,
            plans::ListTestPlans,
            runs::ListRuns,
            shared_steps::ListSharedSteps,
            tests::ListTests,
        },
        catalog::{ListedOperation as _, OperationEntry},
        request::check_segment,
    },
    text::{composed, first_characters},
};

/// Maximum number of candidates that are kept. The service returns at most 100 records in a page (service.md 1.3).
const MAX_CANDIDATES: usize = 500;

/// Maximum length of a name that is compared, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Value that stands for the execution before the one that is reported on.
const PREVIOUS_EXECUTION: &str = "previous";

/// Status of an execution that has no results yet.
const QUEUED: &str = "queued";

/// Fields with the time of creation. The first one that holds a time counts.
const TIMES: [&str; 2] = ["created_at", "started_at"];

/// Source of the values of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ValueSource {
    Projects,
    Runs,
    Jobs,
    Bugs,
    TestPlans,
    Executions,
    /// Executions that another execution can be compared with.
    ComparableExecutions,
    SharedSteps,
    Agents,
    Tests,
    Builds,
    DeploymentConfigs,
}

/// The candidates for the value of an argument.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The candidates, the newest first.
    pub(super) values: Vec<Candidate>,
    /// Whether the service has more records than were read.
    pub(super) has_more: bool,
}

/// A value that an argument can have.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) value: String,
    /// The names that people know the value by, in lower case and with composed characters.
    pub(super) names: Vec<String>,
    pub(super) created_at: Option<Timestamp>,
}

/// A list of the service, and where its records hold what a candidate needs.
struct RecordList {
    operation: &'static OperationEntry,
    /// Value of `sort_by` for the newest records on the first page, if the service can sort the list.
    sort_by: Option<&'static str>,
    /// Field with the id.
    id: &'static str,
    /// Fields with names.
    names: &'static [&'static str],
}

impl ValueSource {
    /// Reads the candidates, the newest first.
    ///
    /// `project` is the project that the person has entered. Without one, the list is that of the project of the settings,
    /// of the project of the key, or of the only known project.
    ///
    /// # Errors
    /// `project_required` if there is no such project, or the failure of the list.
    pub(super) async fn read(
        self,
        project: Option<&str>,
        callers: &dyn Callers,
    ) -> Result<Candidates, Failure> {
        let Some(list) = self.list() else {
            return read_projects(callers).await;
        };
        let page = list.read_first_page(project, callers).await?;
        let records = page.records.len();
        let has_more =
            records > MAX_CANDIDATES || page.total_records.is_some_and(|total| total > records as u64);

        let is_comparison = self == Self::ComparableExecutions;
        let is_included = |record: &&Value| {
            !is_comparison || field_at(record, "status").is_none_or(|value| value != QUEUED)
        };
        let records = page.records.iter().take(MAX_CANDIDATES).filter(is_included);
        let mut values: Vec<_> = records.filter_map(|record| list.candidate(record)).collect();

        sort_newest_first(&mut values);
        if is_comparison {
            values.insert(0, Candidate::unnamed(PREVIOUS_EXECUTION.to_owned()));
        }

        Ok(Candidates { values, has_more })
    }

    /// Returns the list with the records of the source. The service has no list of projects.
    fn list(self) -> Option<RecordList> {
        let list = match self {
            Self::Projects => return None,
            Self::Jobs => {
                RecordList { id: "job_id", names: &["test_name"], ..RecordList::of(ListJobs::entry()) }
            }
            Self::Runs => RecordList {
                id: "multiplayer_run_id",
                names: &["test.name", "build.name"],
                ..RecordList::of(ListRuns::entry())
            },
            Self::Bugs => RecordList {
                sort_by: Some("created_at"),
                names: &["title"],
                ..RecordList::of(ListBugs::entry())
            },
            Self::TestPlans => {
                RecordList { sort_by: Some("created_at"), ..RecordList::of(ListTestPlans::entry()) }
            }
            Self::Executions | Self::ComparableExecutions => RecordList {
                sort_by: Some("start_time"),
                names: &["test_plan_name", "build_name"],
                ..RecordList::of(ListTestPlanExecutions::entry())
            },
            Self::SharedSteps => RecordList::of(ListSharedSteps::entry()),
            Self::Agents => RecordList::of(ListAgentConfigs::entry()),
            Self::Tests => RecordList::of(ListTests::entry()),
            Self::Builds => RecordList::of(ListBuilds::entry()),
            Self::DeploymentConfigs => RecordList::of(ListDeploymentConfigs::entry()),
        };

        Some(list)
    }
}

impl RecordList {
    /// Returns a list that cannot be sorted, and whose records have the usual fields.
    fn of(operation: &'static OperationEntry) -> Self {
        Self { operation, sort_by: None, id: "id", names: &["name"] }
    }

    async fn read_first_page(&self, project: Option<&str>, callers: &dyn Callers) -> Result<Page, Failure> {
        let mut order = Fields::new();
        if let Some(field) = self.sort_by {
            order.insert("sort_by".to_owned(), json!(field));
            order.insert("sort_order".to_owned(), json!("desc"));
        }

        let arguments = ToolArguments::new(page_arguments(&order, 0), CommonArguments::in_project(project));
        let caller = callers.choose(self.operation, &arguments).await?;
        let reply = caller.call(self.operation, arguments).await?;
        Page::parse(self.operation.name, reply.into_value())
    }

    /// Reads a record. Returns `None` if it has no id.
    fn candidate(&self, record: &Value) -> Option<Candidate> {
        let text = |field: &&str| field_at(record, field)?.as_str();
        let value = text(&self.id).filter(|value| check_segment(value).is_ok())?.to_owned();
        let shorten = |name| composed(first_characters(name, MAX_NAME_CHARS)).to_lowercase();
        let names = self.names.iter().filter_map(text).map(shorten).collect();
        let created_at = TIMES.iter().filter_map(text).find_map(|time| time.parse().ok());

        Some(Candidate { value, names, created_at })
    }
}

impl Candidate {
    fn unnamed(value: String) -> Self {
        Self { value, names: Vec::new(), created_at: None }
    }
}

/// Returns the known projects. With a project key this is the project of the key, which is read once.
async fn read_projects(callers: &dyn Callers) -> Result<Candidates, Failure> {
    let mut projects = callers.known_projects();
    if projects.is_empty() {
        let list = ListKnowledgeFiles::entry();
        let arguments = ToolArguments::new(Fields::new(), CommonArguments::default());
        let caller = callers.choose(list, &arguments).await?;
        projects.extend(caller.resolve_project(list, None).await?);
    }

    Ok(Candidates { values: projects.into_iter().map(Candidate::unnamed).collect(), has_more: false })
}

/// Sorts the newest candidate to the front. A candidate without a time counts as newest, because a record without one
/// has not started yet. Candidates of equal age keep their order.
fn sort_newest_first(candidates: &mut [Candidate]) {
    candidates.sort_by_key(|candidate| Reverse(candidate.created_at.unwrap_or(Timestamp::MAX)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_keeps_no_long_text_of_the_service() {
        let list = ValueSource::Tests.list().expect("a list");
        let long = "x".repeat(1 << 20);

        assert!(list.candidate(&json!({"id": long})).is_none());
        let candidate = list.candidate(&json!({"id": "t", "name": long})).expect("an id");
        assert_eq!(candidate.names[0].len(), MAX_NAME_CHARS);
    }

    #[test]
    fn candidates_without_a_time_are_the_newest() {
        let list = ValueSource::Tests.list().expect("a list");
        let candidate = |(id, created_at): (&str, Option<&str>)| {
            list.candidate(&json!({"id": id, "created_at": created_at})).expect("an id")
        };
        let mut candidates =
            [("old", Some("2026-01-01T00:00:00Z")), ("new", Some("2026-02-01T00:00:00Z")), ("queued", None)]
                .map(candidate);

        sort_newest_first(&mut candidates);

        let order = candidates.map(|candidate| candidate.value);
        assert_eq!(order, ["queued", "new", "old"]);
    }
}
