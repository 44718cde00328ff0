//! One misbehaviour of the service, and the outcomes of calls that are right for it.

use std::sync::Arc;

use tas_mcp::service::catalog::{self, OPERATIONS, OperationEntry};

use super::MAX_REQUESTS;
use crate::support::{
    contract,
    peer::{Answers, Step, same_answer},
};

/// Outcomes that are right for an answer: `ok`, or the codes of failures.
pub(super) type Codes = &'static [&'static str];

/// Right outcomes of calls that read, and of calls that write.
pub(super) type Outcomes = (Codes, Codes);

/// No usable answer came: a call that writes may have happened.
pub(super) const UNANSWERED: Outcomes = (&["service_unavailable", "bad_response"], &["outcome_unknown"]);
/// No complete answer came in time.
pub(super) const TIMEOUT: Outcomes = (&["timeout"], &["outcome_unknown"]);
pub(super) const UNUSABLE: Outcomes = (&["bad_response"], &["bad_response"]);
pub(super) const REJECTED: Outcomes = (&["rejected"], &["rejected"]);
pub(super) const UNAVAILABLE: Outcomes = (&["service_unavailable"], &["service_unavailable"]);
pub(super) const OK: Outcomes = (&["ok"], &["ok"]);

/// Where a redirect leads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// There is no redirect, or none that may be followed.
    Refused,
    /// A port of this machine that nobody listens on.
    ClosedPort,
    /// The service itself.
    Service,
}

/// An answer to every request, and the outcomes that are right.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) answers: Answers,
    /// Whether the status is 2xx.
    pub(super) is_success: bool,
    pub(super) reading: Codes,
    pub(super) writing: Codes,
    pub(super) target: Target,
    /// Whether the answer is 2xx and has no body, which is the success of a deletion.
    pub(super) is_empty: bool,
    /// Whether the answer never ends, so that the shortest time limit is set.
    pub(super) is_hanging: bool,
    /// The operations that are called.
    pub(super) operations: Vec<&'static OperationEntry>,
    /// Largest number of calls at the same time.
    pub(super) in_flight: usize,
    /// Largest number of equal requests that read.
    pub(super) max_requests: usize,
}

impl Case {
    /// A case with the same bytes as the answer to every request.
    pub(super) fn new(name: impl Into<String>, answer: impl Into<Vec<u8>>, outcomes: Outcomes) -> Self {
        let answer = answer.into();
        let is_success = is_success(&answer);
        Self::serving(name, same_answer(answer), is_success, outcomes)
    }

    /// A case with the same steps for every request.
    pub(super) fn steps(name: &str, steps: Vec<Step>, outcomes: Outcomes) -> Self {
        let is_success = matches!(steps.first(), Some(Step::Send(bytes)) if is_success(bytes));
        Self::serving(name, Arc::new(move |_| steps.clone()), is_success, outcomes)
    }

    /// A case with the answer of `answer` to each request. `is_success` says whether its status is 2xx.
    pub(super) fn answering(
        name: impl Into<String>,
        answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
        is_success: bool,
        outcomes: Outcomes,
    ) -> Self {
        let answers = move |request: &str| vec![Step::Send(answer(request).into())];
        Self::serving(name, Arc::new(answers), is_success, outcomes)
    }

    fn serving(name: impl Into<String>, answers: Answers, is_success: bool, outcomes: Outcomes) -> Self {
        let (reading, writing) = outcomes;

        Self {
            name: name.into(),
            answers,
            is_success,
            reading,
            writing,
            target: Target::Refused,
            is_empty: false,
            is_hanging: false,
            operations: first_of_each_kind(),
            in_flight: OPERATIONS.len(),
            max_requests: MAX_REQUESTS,
        }
    }

    pub(super) fn target(self, target: Target) -> Self {
        Self { target, ..self }
    }

    pub(super) fn empty(self) -> Self {
        Self { is_empty: true, ..self }
    }

    pub(super) fn hanging(self) -> Self {
        Self { is_hanging: true, ..self }
    }

    pub(super) fn of_every_operation(self) -> Self {
        Self { operations: OPERATIONS.iter().collect(), ..self }
    }

    pub(super) fn in_flight(self, in_flight: usize) -> Self {
        Self { in_flight, ..self }
    }

    pub(super) fn max_requests(self, max_requests: usize) -> Self {
        Self { max_requests, ..self }
    }
}

/// Returns the first operation with each method and kind of answer.
fn first_of_each_kind() -> Vec<&'static OperationEntry> {
    let kind = |entry: &OperationEntry| (entry.request.response_kind, entry.request.method.clone());
    let first = |entry: &OperationEntry| OPERATIONS.iter().find(|other| kind(other) == kind(entry));
    OPERATIONS.iter().filter(|entry| first(entry).is_some_and(|first| first.name == entry.name)).collect()
}

fn is_success(answer: &[u8]) -> bool {
    answer.starts_with(b"HTTP/1.1 2")
}

/// Returns an answer with this status line, which further headers may follow, and this body.
pub(super) fn response(status: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Returns the operation that a request line belongs to.
pub(super) fn operation_of(request: &str) -> Option<&'static OperationEntry> {
    let mut words = request.split_whitespace();
    let (method, target) = (words.next()?, words.next()?);
    let path = target.split('?').next().unwrap_or_default();

    catalog::find(contract::find(method, path)?.id)
}

/// Returns the example of the contract for the successful answer to a request.
pub(super) fn example(request: &str) -> String {
    let success = operation_of(request).and_then(|entry| contract::operation(entry.name).successes().next());
    let first = success.and_then(|(_, answer)| answer.examples().into_values().next());
    first.map_or_else(|| "{}".to_owned(), ToString::to_string)
}
