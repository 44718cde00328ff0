//! Where values come from: one list of the service each, and the projects that are known here.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{
    Candidates,
    candidate::{Candidate, newest_first},
};
use crate::{
    call::gateway::Gateway,
    client::KeyKind,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            bugs::ListBugs,
            builds::ListBuilds,
            configs::{ListAgentConfigs, ListDeploymentConfigs},
            executions::ListTestPlanExecutions,
            knowledge::ListKnowledgeFiles,
            plans::ListTestPlans,
            runs::ListRuns,
            steps::ListSharedSteps,
            tests::ListTests,
        },
        catalog::{self, OperationEntry},
        operation::Operation,
        tool::PROJECT_ID,
    },
};

/// What a value is an id of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::mcp) enum Source {
    Projects,
    Runs,
    Bugs,
    Plans,
    Executions,
    /// Executions that another one can be compared with.
    Baselines,
    SharedSteps,
    Agents,
    Tests,
    Builds,
    Devices,
}

/// Records a request: the most that the service gives at once.
const PAGE_SIZE: usize = 100;

/// How the records of a list are read.
struct Listing {
    operation: &'static str,
    /// Arguments that put the newest on the first page, where the service has some.
    order: &'static [(&'static str, &'static str)],
    /// Whether an id alone says which project it is of.
    is_owned: bool,
    /// Word of the field `status` of records that are no use.
    useless: Option<&'static str>,
    id: &'static str,
    names: &'static [&'static str],
    times: &'static [&'static str],
}

/// Most projects that are asked where none has been given.
const MOST_PROJECTS: usize = 8;

/// What stands for the execution before the one that is looked at.
const PREVIOUS: &str = "previous";

const BY_START: &[(&str, &str)] = &[("sort_by", "start_time"), ("sort_order", "desc")];

const BY_CREATION: &[(&str, &str)] = &[("sort_by", "created_at"), ("sort_order", "desc")];

const fn listing(operation: &'static str) -> Listing {
    Listing {
        operation,
        order: &[],
        is_owned: false,
        useless: None,
        id: "id",
        names: &["name"],
        times: &["created_at", "started_at"],
    }
}

const EXECUTIONS: Listing = Listing {
    order: BY_START,
    is_owned: true,
    names: &["test_plan_name", "build_name"],
    ..listing(ListTestPlanExecutions::NAME)
};

impl Source {
    /// `None`: no list of the service.
    fn listing(self) -> Option<Listing> {
        Some(match self {
            Self::Projects => return None,
            Self::Runs => Listing {
                is_owned: true,
                id: "multiplayer_run_id",
                names: &["test.name", "build.name"],
                ..listing(ListRuns::NAME)
            },
            Self::Bugs => Listing { order: BY_CREATION, names: &["title"], ..listing(ListBugs::NAME) },
            Self::Plans => Listing { order: BY_CREATION, ..listing(ListTestPlans::NAME) },
            Self::Executions => EXECUTIONS,
            Self::Baselines => Listing { useless: Some("queued"), ..EXECUTIONS },
            Self::SharedSteps => listing(ListSharedSteps::NAME),
            Self::Agents => listing(ListAgentConfigs::NAME),
            Self::Tests => listing(ListTests::NAME),
            Self::Builds => listing(ListBuilds::NAME),
            Self::Devices => listing(ListDeploymentConfigs::NAME),
        })
    }

    /// The values there are, the newest first.
    pub(super) async fn list(self, gateway: &Gateway, project: Option<&str>) -> Result<Candidates, Failure> {
        match self.listing() {
            Some(listing) => {
                let mut candidates = listing.of(gateway, project).await?;
                if self == Self::Baselines {
                    candidates.values.insert(0, plain(PREVIOUS.to_owned()));
                }
                Ok(candidates)
            }
            None => projects(gateway).await,
        }
    }
}

impl Listing {
    /// The records of the project, or of all that are known where the ids themselves tell them apart.
    async fn of(&self, gateway: &Gateway, project: Option<&str>) -> Result<Candidates, Failure> {
        let known = gateway.known_projects();
        if project.is_some()
            || !self.is_owned
            || gateway.key_kind() != Some(KeyKind::Organization)
            || known.len() < 2
        {
            return self.of_one(gateway, project).await;
        }
        let asking = known.iter().take(MOST_PROJECTS).map(|project| self.of_one(gateway, Some(project)));
        let mut all = Candidates { has_more: known.len() > MOST_PROJECTS, values: Vec::new() };
        let mut failure = None;

        for outcome in join_all(asking).await {
            match outcome {
                Ok(found) => {
                    all.has_more |= found.has_more;
                    all.values.extend(found.values);
                }
                Err(why) => failure = Some(why),
            }
        }

        newest_first(&mut all.values);

        // Nothing was found only where nobody answered.
        failure.filter(|_| all.values.is_empty()).map_or(Ok(all), Err)
    }

    async fn of_one(&self, gateway: &Gateway, project: Option<&str>) -> Result<Candidates, Failure> {
        let first = self.page(gateway, project, 0).await?;
        let number = |path: &str| first.pointer(path).and_then(Value::as_u64);
        let (all, pages) = (number("/pagination/total_count"), number("/pagination/total_pages"));
        let mut records = list(&first).to_vec();

        // Where the order is not stated, the newest may as well be the last.
        if let Some(last) = pages.filter(|pages| *pages > 1 && self.order.is_empty()) {
            let last = self.page(gateway, project, last - 1).await;
            records.extend(last.map(|page| list(&page).to_vec()).unwrap_or_default());
        }

        let has_more = all.is_some_and(|all| all > records.len() as u64);
        let is_useful = |record: &&Value| {
            self.useless.is_none_or(|useless| record.get("status").is_none_or(|status| status != useless))
        };
        let read = |record| Candidate::of(record, self.id, self.names, self.times);
        let mut values: Vec<_> = records.iter().filter(is_useful).filter_map(read).collect();

        newest_first(&mut values);

        Ok(Candidates { values, has_more })
    }

    async fn page(&self, gateway: &Gateway, project: Option<&str>, page: u64) -> Result<Value, Failure> {
        let mut arguments = Fields::from_iter([("page_size".to_owned(), json!(PAGE_SIZE))]);
        if page > 0 {
            arguments.insert("page".to_owned(), page.into());
        }

        let more = self.order.iter().copied().chain(project.map(|project| (PROJECT_ID, project)));
        arguments.extend(more.map(|(name, value)| (name.to_owned(), Value::from(value))));

        Ok(gateway.call(entry(self.operation)?, arguments).await?.into_value())
    }
}

fn list(page: &Value) -> &[Value] {
    page.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A value without a name or a time.
fn plain(value: String) -> Candidate {
    Candidate { value, names: Vec::new(), at: None }
}

/// The projects that are known; with a project key its own, which is learned once.
async fn projects(gateway: &Gateway) -> Result<Candidates, Failure> {
    let mut known = gateway.known_projects();
    if known.is_empty() {
        known.extend(gateway.resolve_project(entry(ListKnowledgeFiles::NAME)?, None).await?);
    }
    Ok(Candidates { values: known.into_iter().map(plain).collect(), has_more: false })
}

fn entry(name: &str) -> Result<&'static OperationEntry, Failure> {
    catalog::find(name).ok_or_else(|| Failure::new(Code::NotFound, format!("there is no tool `{name}`")))
}
