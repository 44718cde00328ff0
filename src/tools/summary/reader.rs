//! Requests of one summary. All go to one project, and none needs a look-up of the owner of what a list has shown.

use std::sync::{
    OnceLock,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    call::{
        gateway::Gateway,
        paging::{self, ListRecords, Page},
        scope::owned_ids,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::result_kind::{ResultId, ResultKind},
    tools::project_client::ProjectClient,
};

/// Reads, for one project.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) gateway: Gateway,
    requested: Option<String>,
    /// The project of the first answer.
    found: OnceLock<String>,
    /// Is cancelled when nobody waits any longer.
    stopped: CancellationToken,
    /// Answers so far.
    answers: AtomicUsize,
    /// Failures to be read, once that is known, and those that were.
    failures: OnceLock<usize>,
    read: AtomicUsize,
}

impl Reader {
    pub(super) fn new(gateway: Gateway, requested: Option<String>) -> Self {
        Self {
            gateway,
            requested,
            found: OnceLock::new(),
            stopped: CancellationToken::new(),
            answers: AtomicUsize::new(0),
            failures: OnceLock::new(),
            read: AtomicUsize::new(0),
        }
    }

    /// Ends what is under way, and asks nothing more.
    pub(super) fn stop(&self) {
        self.stopped.cancel();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.is_cancelled()
    }

    /// So many failures are to be read.
    pub(super) fn expect(&self, failures: usize) {
        self.failures.get_or_init(|| failures);
    }

    /// One of them was.
    pub(super) fn advance(&self) {
        self.read.fetch_add(1, Ordering::Relaxed);
    }

    /// How far it is, of how much as far as that is known, and what a person reads.
    pub(super) fn progress(&self) -> (u64, u64, String) {
        let (answers, read) = (self.answers.load(Ordering::Relaxed), self.read.load(Ordering::Relaxed));
        let (total, told) = match self.failures.get() {
            Some(all) => (answers + all.saturating_sub(read), format!("{read} of {all} failures read")),
            None => (answers, format!("{answers} answers read")),
        };
        (answers as u64, total as u64, told)
    }

    /// The record of a run, a job or an execution.
    pub(super) async fn record(&self, target: &ResultId) -> Result<Value, Failure> {
        self.ask(target.kind.entry().name, target.to_arguments()).await
    }

    /// The answer of an operation.
    pub(super) async fn ask(&self, operation: &str, arguments: Fields) -> Result<Value, Failure> {
        let project = self.found.get().cloned().or_else(|| self.requested.clone());
        let counter = ProjectClient { gateway: self.gateway.clone(), project };
        let reply = tokio::select! {
            biased;
            () = self.stopped.cancelled() => {
                return Err(Failure::new(Code::Timeout, "the time of the call was over"));
            }
            reply = counter.ask(operation, arguments) => reply?,
        };

        self.answers.fetch_add(1, Ordering::Relaxed);
        if let Some(project) = reply.project() {
            self.found.get_or_init(|| project.to_owned());
            self.learn(project, reply.value());
        }

        Ok(reply.into_value())
    }

    /// The records of an answer are of the project that gave it.
    fn learn(&self, project: &str, answer: &Value) {
        let records = || below(answer, "data");
        let runs = records().chain([answer]).flat_map(|record| below(record, "runs"));
        for record in records().chain(runs).filter_map(Value::as_object) {
            self.gateway.remember_owner(project, owned_ids(record));
        }
    }

    /// Everything that a list has.
    pub(super) async fn all(&self, operation: &str, filter: &Fields) -> Result<ListRecords, Failure> {
        paging::read_all(|page| self.page(operation, filter, page)).await
    }

    /// One page of a list.
    pub(super) async fn page(&self, operation: &str, filter: &Fields, page: u64) -> Result<Page, Failure> {
        Page::parse(operation, self.ask(operation, paging::page_arguments(filter, page)).await?)
    }
}

fn below<'a>(record: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    record.get(name).and_then(Value::as_array).into_iter().flatten()
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
    failure.is_transient() || is_absent(failure)
}

/// What lists are narrowed by.
pub(super) fn filter<const N: usize>(pairs: [(&str, &str); N]) -> Fields {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

/// What `compare_with` may be the id of, the likeliest first.
pub(super) fn likely(id: &str, like: ResultKind) -> Vec<ResultKind> {
    let all: &[ResultKind] = if uuid::Uuid::try_parse(id).is_ok() {
        &[like, ResultKind::Execution, ResultKind::Job, ResultKind::Run]
    } else {
        &[ResultKind::Run, ResultKind::Execution]
    };
    let mut kinds = Vec::new();

    for kind in all {
        if !kinds.contains(kind) {
            kinds.push(*kind);
        }
    }

    kinds
}
