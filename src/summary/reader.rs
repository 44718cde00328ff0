//! Requests of one summary. All go to one project, and none needs a look-up of the owner of what a list has shown.

use std::sync::OnceLock;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::{AT_ONCE, Kind, Target};
use crate::{
    failure::{Code, Failure},
    gateway::Gateway,
    local::Counter,
    operation::Fields,
    scope::owned_ids,
};

/// Records a page; the most that the service gives (supplement 1.3).
const PAGE_SIZE: usize = 100;

/// Most pages of a list.
pub(super) const MOST_PAGES: u64 = 20;

/// Reads, for one project.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) gateway: Gateway,
    requested: Option<String>,
    /// The project of the first answer.
    found: OnceLock<String>,
}

/// What a list has shown.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) records: Vec<Value>,
    /// Pages that could not be read, each with the reason.
    pub(super) lost: Vec<(u64, Failure)>,
    /// Pages that were not asked for.
    pub(super) beyond: u64,
}

impl Reader {
    pub(super) fn new(gateway: Gateway, requested: Option<String>) -> Self {
        Self { gateway, requested, found: OnceLock::new() }
    }

    /// The record of a run, a job or an execution.
    pub(super) async fn record(&self, target: &Target) -> Result<Value, Failure> {
        let (operation, name) = target.kind.reading();
        self.ask(operation, Fields::from_iter([(name.to_owned(), json!(target.id))])).await
    }

    /// The answer of an operation.
    pub(super) async fn ask(&self, operation: &str, arguments: Fields) -> Result<Value, Failure> {
        let project = self.found.get().cloned().or_else(|| self.requested.clone());
        let counter = Counter { gateway: self.gateway.clone(), project };
        let reply = counter.ask(operation, arguments).await?;
        if let Some(project) = reply.project() {
            self.found.get_or_init(|| project.to_owned());
            self.learn(project, reply.value());
        }
        Ok(reply.value().clone())
    }

    /// The records of an answer are of the project that gave it.
    fn learn(&self, project: &str, answer: &Value) {
        let below = |value: &Value, name: &str| {
            value.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let records = below(answer, "data");
        let runs = records.iter().chain([answer]).flat_map(|record| below(record, "runs"));
        for record in records.iter().cloned().chain(runs.collect::<Vec<_>>()) {
            if let Value::Object(record) = record {
                self.gateway.learn(project, owned_ids(&record));
            }
        }
    }

    /// Everything that a list has: after its first page the others side by side.
    pub(super) async fn all(&self, operation: &str, filter: &Fields) -> Result<Listed, Failure> {
        let first = self.page(operation, filter, 0).await?;
        let pages = first.pointer("/pagination/total_pages").and_then(Value::as_u64).unwrap_or(1);
        let rest = stream::iter(1..pages.min(MOST_PAGES))
            .map(|page| async move { (page, self.page(operation, filter, page).await) })
            .buffered(AT_ONCE);
        let rest: Vec<_> = rest.collect().await;
        let mut listed = Listed { beyond: pages.saturating_sub(MOST_PAGES), ..Listed::default() };
        listed.records.extend(records(first));
        for (page, answer) in rest {
            match answer {
                Ok(answer) => listed.records.extend(records(answer)),
                Err(failure) => listed.lost.push((page, failure)),
            }
        }
        Ok(listed)
    }

    /// One page of a list.
    pub(super) async fn page(&self, operation: &str, filter: &Fields, page: u64) -> Result<Value, Failure> {
        let mut arguments = filter.clone();
        arguments.insert("page".to_owned(), json!(page));
        arguments.insert("page_size".to_owned(), json!(PAGE_SIZE));
        self.ask(operation, arguments).await
    }
}

/// The records of a page.
pub(super) fn records(mut page: Value) -> Vec<Value> {
    match page.get_mut("data").map(Value::take) {
        Some(Value::Array(records)) => records,
        _ => Vec::new(),
    }
}

/// Whether it means that there is no such thing, or no such list.
pub(super) fn is_absent(failure: &Failure) -> bool {
    matches!(
        failure.code,
        Code::NotFound | Code::Rejected | Code::InvalidArguments | Code::ProjectNotResolved
    )
}

/// Whether it may be of what was asked for alone: something else may still be read.
pub(super) fn is_partial(failure: &Failure) -> bool {
    failure.is_passing() || is_absent(failure)
}

/// What lists are narrowed by.
pub(super) fn filter<const N: usize>(pairs: [(&str, &str); N]) -> Fields {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

/// What `compare_with` may be the id of, the likeliest first.
pub(super) fn likely(id: &str, like: Kind) -> Vec<Kind> {
    let all: &[Kind] = if uuid::Uuid::try_parse(id).is_ok() {
        &[like, Kind::Execution, Kind::Job, Kind::Run]
    } else {
        &[Kind::Run, Kind::Execution]
    };
    let mut kinds = Vec::new();
    for kind in all {
        if !kinds.contains(kind) {
            kinds.push(*kind);
        }
    }
    kinds
}
