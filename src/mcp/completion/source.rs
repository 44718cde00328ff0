//! Where values come from: one list of the service each, and the projects that are known here.

use serde_json::{Value, json};

use super::{
    Candidates,
    candidate::{Candidate, newest_first},
};
use crate::{
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
    catalog::{self, Entry},
    failure::{Code, Failure},
    gateway::{Gateway, PROJECT_ID},
    operation::{Fields, Operation},
};

/// What a value is an id of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::mcp) enum Source {
    Projects,
    Runs,
    Bugs,
    Plans,
    Executions,
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
    id: &'static str,
    names: &'static [&'static str],
    times: &'static [&'static str],
}

const BY_CREATION: &[(&str, &str)] = &[("sort_by", "created_at"), ("sort_order", "desc")];

const fn listing(operation: &'static str) -> Listing {
    Listing { operation, order: &[], id: "id", names: &["name"], times: &["created_at", "started_at"] }
}

impl Source {
    /// `None`: no list of the service.
    fn listing(self) -> Option<Listing> {
        Some(match self {
            Self::Projects => return None,
            Self::Runs => Listing {
                id: "multiplayer_run_id",
                names: &["test.name", "build.name"],
                ..listing(ListRuns::NAME)
            },
            Self::Bugs => Listing { order: BY_CREATION, names: &["title"], ..listing(ListBugs::NAME) },
            Self::Plans => Listing { order: BY_CREATION, ..listing(ListTestPlans::NAME) },
            Self::Executions => {
                Listing { names: &["test_plan_name", "build_name"], ..listing(ListTestPlanExecutions::NAME) }
            }
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
            Some(listing) => listing.of(gateway, project).await,
            None => projects(gateway).await,
        }
    }
}

impl Listing {
    async fn of(&self, gateway: &Gateway, project: Option<&str>) -> Result<Candidates, Failure> {
        let mut arguments = Fields::from_iter([("page_size".to_owned(), json!(PAGE_SIZE))]);
        let more = self.order.iter().copied().chain(project.map(|project| (PROJECT_ID, project)));
        arguments.extend(more.map(|(name, value)| (name.to_owned(), Value::from(value))));
        let reply = gateway.call(entry(self.operation)?, arguments).await?;
        let records =
            reply.value().get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let read = |record| Candidate::of(record, self.id, self.names, self.times);
        let mut values: Vec<_> = records.iter().filter_map(read).collect();
        newest_first(&mut values);
        let all = reply.value().pointer("/pagination/total_count").and_then(Value::as_u64);
        Ok(Candidates { has_more: all.is_some_and(|all| all > records.len() as u64), values })
    }
}

/// The projects that are known; with a project key its own, which is learned once.
async fn projects(gateway: &Gateway) -> Result<Candidates, Failure> {
    let mut known = gateway.projects();
    if known.is_empty() {
        known.extend(gateway.project_of(entry(ListKnowledgeFiles::NAME)?, None).await?);
    }
    let value = |value| Candidate { value, names: Vec::new(), at: None };
    Ok(Candidates { values: known.into_iter().map(value).collect(), has_more: false })
}

fn entry(name: &str) -> Result<&'static Entry, Failure> {
    catalog::find(name).ok_or_else(|| Failure::new(Code::NotFound, format!("there is no tool `{name}`")))
}
