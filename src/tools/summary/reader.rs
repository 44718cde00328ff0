//! The requests of one summary. All of them go to one project.

use std::sync::{
    OnceLock,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::Value;

use crate::{
    call::{
        gateway::Gateway,
        paging::{self, ListRecords, MAX_PAGES, Page, is_list_missing},
        reply::Reply,
        scope::owned_ids,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{catalog::ListedOperation, result_kind::ResultId},
    tools::{
        project_client::ProjectClient,
        time_limit::{StopSignal, StoppableReader},
        waiting::record::array_field,
    },
};

/// Sends the requests of one summary.
#[derive(Debug)]
pub(super) struct SummaryReader {
    pub(super) gateway: Gateway,
    requested_project: Option<String>,
    /// The project of the first answer.
    answering_project: OnceLock<String>,
    stop: StopSignal,
    /// Number of answers so far.
    answers: AtomicUsize,
    /// Number of failed tests, once it is known.
    failure_count: OnceLock<usize>,
    /// Number of failed tests whose details have been read.
    read_failures: AtomicUsize,
}

impl SummaryReader {
    /// Creates a reader for the requested project, if there is one.
    pub(super) fn new(gateway: Gateway, requested_project: Option<String>) -> Self {
        Self {
            gateway,
            requested_project,
            answering_project: OnceLock::new(),
            stop: StopSignal::default(),
            answers: AtomicUsize::new(0),
            failure_count: OnceLock::new(),
            read_failures: AtomicUsize::new(0),
        }
    }

    /// Returns whether the reader was stopped.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// Sets the number of failed tests whose details will be read, for the progress.
    pub(super) fn set_failure_count(&self, count: usize) {
        self.failure_count.get_or_init(|| count);
    }

    /// Counts one failed test whose details have been read.
    pub(super) fn count_read_failure(&self) {
        self.read_failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Reads the record of a run, a job or an execution.
    pub(super) async fn read_result(&self, id: &ResultId) -> Result<Value, Failure> {
        let client = self.client();
        self.receive(client.read_result(id)).await
    }

    /// Calls an operation.
    pub(super) async fn call<O: ListedOperation>(&self, operation: &O) -> Result<Value, Failure> {
        let client = self.client();
        self.receive(client.call(operation)).await
    }

    /// Reads all pages of the list `L` that `filter` selects.
    pub(super) async fn list_all<L: ListedOperation>(&self, filter: &Fields) -> Result<ListRecords, Failure> {
        paging::read_all(MAX_PAGES, |page| self.list_page::<L>(filter, page)).await
    }

    /// Reads one page of the list `L` that `filter` selects.
    pub(super) async fn list_page<L: ListedOperation>(
        &self,
        filter: &Fields,
        page: u64,
    ) -> Result<Page, Failure> {
        let client = self.client();
        Page::parse(L::NAME, self.receive(client.list_page::<L>(filter, page)).await?)
    }

    fn client(&self) -> ProjectClient {
        let project = self.answering_project.get().or(self.requested_project.as_ref());
        ProjectClient { gateway: self.gateway.clone(), project: project.cloned() }
    }

    /// Waits for the reply of a request, and remembers the project that answered.
    async fn receive(&self, reply: impl Future<Output = Result<Reply, Failure>>) -> Result<Value, Failure> {
        let reply = self.stop.until_stopped(reply).await?;

        self.answers.fetch_add(1, Ordering::Relaxed);
        if let Some(project) = reply.project() {
            self.answering_project.get_or_init(|| project.to_owned());
            self.remember_owner(project, reply.value());
        }

        Ok(reply.into_value())
    }

    /// Remembers that the records of `answer` belong to `project`, so that their owner is not looked up again.
    fn remember_owner(&self, project: &str, answer: &Value) {
        let records = array_field(answer, "data");
        let runs = records.iter().chain([answer]).flat_map(|record| array_field(record, "runs"));

        for record in records.iter().chain(runs).filter_map(Value::as_object) {
            self.gateway.remember_owner(project, owned_ids(record));
        }
    }
}

impl StoppableReader for SummaryReader {
    fn stop(&self) {
        self.stop.stop();
    }

    fn progress(&self) -> (u64, u64, String) {
        let answers = self.answers.load(Ordering::Relaxed);
        let read = self.read_failures.load(Ordering::Relaxed);
        let (total, message) = match self.failure_count.get() {
            Some(all) => (answers + all.saturating_sub(read), format!("{read} of {all} failures read")),
            None => (answers, format!("{answers} answers read")),
        };
        (answers as u64, total as u64, message)
    }
}

/// Returns whether a failure means that the service does not have the record or the list.
pub(super) fn is_absent(failure: &Failure) -> bool {
    is_list_missing(failure.code) || failure.code == Code::ProjectNotResolved
}

/// Returns whether a failure may concern only this request, so that other requests may still succeed.
pub(super) fn is_partial(failure: &Failure) -> bool {
    failure.is_transient() || is_absent(failure)
}
