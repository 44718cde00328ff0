//! The trend of a test plan: its last executions, test by test.

use std::ops::ControlFlow;

use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    answer::{BuildName, Omission},
    gathering::with_tests,
    omissions::Omissions,
    reader::SummaryReader,
    subject::Subject,
    text_limits::{LONGEST_ID, LONGEST_NAME, LONGEST_WORD},
    timestamps::sort_key,
    trend_grid::{TrendTest, build_grid},
};
use crate::{
    call::{
        gateway::Gateway,
        paging::{self, MAX_PAGES},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::executions::ListTestPlanExecutions,
        result_kind::{ResultId, ResultKind},
    },
    text::shorten_line,
    tools::waiting::record::string_field,
};

/// Number of executions whose tests are read at the same time. The tests of most executions are one page.
const CONCURRENT_EXECUTIONS: usize = 4;

/// A request for the trend of a plan.
#[derive(Clone, Debug)]
pub(crate) struct TrendRequest {
    /// Id of the test plan.
    pub test_plan_id: String,
    /// The project, if the caller names one.
    pub project: Option<String>,
    /// Number of executions.
    pub count: usize,
}

/// The last executions of a test plan.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Trend {
    pub test_plan_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Oldest first.
    pub executions: Vec<TrendExecution>,
    /// The worst newest result first.
    pub tests: Vec<TrendTest>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
}

/// A column of the grid.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct TrendExecution {
    pub test_plan_execution_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The build, if the whole execution tests one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildName>,
}

impl TrendRequest {
    /// Reads the last executions of the plan that were started, and their tests.
    ///
    /// # Errors
    /// Failures of the list of executions, and `not_found` if no execution was started.
    pub(crate) async fn run(&self, gateway: &Gateway) -> Result<Trend, Failure> {
        let reader = SummaryReader::new(gateway.clone(), self.project.clone());
        let records = self.list_executions(&reader).await?;
        let name = records.iter().rev().find_map(|record| string_field(record, "test_plan_name"));

        let subjects: Vec<Subject> = stream::iter(records)
            .map(|record| read_subject(&reader, record))
            .buffered(CONCURRENT_EXECUTIONS)
            .collect()
            .await;

        let mut omissions = Omissions::default();
        for subject in &subjects {
            omissions.extend(subject.omissions.clone());
        }

        Ok(Trend {
            test_plan_id: shorten_line(&self.test_plan_id, LONGEST_ID),
            name: name.map(|name| shorten_line(&name, LONGEST_NAME)),
            executions: subjects.iter().map(TrendExecution::from_subject).collect(),
            tests: build_grid(&subjects),
            unread: omissions.to_entries(),
        })
    }

    /// Returns the records of the last executions that were started, the oldest first. The list is sorted by start, the
    /// latest first, so that it is read only as far as needed.
    async fn list_executions(&self, reader: &SummaryReader) -> Result<Vec<Value>, Failure> {
        let filter: Fields =
            [("test_plan_id", self.test_plan_id.as_str()), ("sort_by", "start_time"), ("sort_order", "desc")]
                .into_iter()
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .collect();
        let read = |number| reader.list_page::<ListTestPlanExecutions>(&filter, number);
        let mut started = Vec::new();

        let end = paging::scan(MAX_PAGES, read, |number, page| {
            let is_last = page.is_last(number);
            started.extend(page.records.into_iter().filter(|record| self.is_started(record)));
            let is_enough = started.len() >= self.count;

            Ok::<_, Failure>(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(is_last) })
        });
        end.await?;

        if started.is_empty() {
            let message = format!("no execution of a test plan `{}` was started", self.test_plan_id);
            return Err(Failure::new(Code::NotFound, message)
                .hint("check the id; `list_test_plans` lists the test plans"));
        }

        // A service may ignore the order.
        started.sort_by_cached_key(|record| string_field(record, "started_at").map(|start| sort_key(&start)));

        Ok(started.split_off(started.len().saturating_sub(self.count)))
    }

    /// Returns whether an execution of the plan was started. A service may ignore the filter by plan.
    fn is_started(&self, record: &Value) -> bool {
        let plan = string_field(record, "test_plan_id");
        let is_of_plan = plan.is_none_or(|plan| plan.eq_ignore_ascii_case(&self.test_plan_id));

        is_of_plan && string_field(record, "started_at").is_some()
    }
}

async fn read_subject(reader: &SummaryReader, record: Value) -> Subject {
    let id = string_field(&record, ResultKind::Execution.id_field()).unwrap_or_default();
    with_tests(reader, ResultId::new(ResultKind::Execution, id), record).await
}

impl TrendExecution {
    fn from_subject(subject: &Subject) -> Self {
        let builds = subject.builds();
        let word = |name| subject.record_field(name).map(|word| shorten_line(&word, LONGEST_WORD));

        Self {
            test_plan_execution_id: shorten_line(&subject.target.id, LONGEST_ID),
            started_at: word("started_at"),
            status: word("status"),
            build: builds.first().filter(|_| builds.len() == 1).cloned(),
        }
    }
}
