//! Failures of operations that return a file.

use super::requested_part::RequestedPart;
use crate::{
    client::HttpResponse,
    failure::{Code, Failure, quote},
    service::{catalog::OperationEntry, operation::ResponseKind},
};

/// Returns why an answer with a status of success cannot be used.
pub(super) fn unusable_answer(answer: &HttpResponse, part: &RequestedPart<'_>) -> Option<Failure> {
    if answer.file.offset != part.offset {
        let (actual, requested, filename) = (answer.file.offset, part.offset, part.filename);
        let message = format!(
            "get_run_artifact: `{filename}`: the service returned the bytes from {actual}, but {requested} was requested"
        );
        return Some(Failure::new(Code::BadResponse, message).status(answer.status));
    }

    let is_beyond_end = answer.body.is_empty() && part.offset > 0;

    is_beyond_end.then(|| beyond_end(answer, part))
}

fn beyond_end(answer: &HttpResponse, part: &RequestedPart<'_>) -> Failure {
    let size = answer.file.total.map_or("fewer".to_owned(), |total| total.to_string());
    let (filename, offset) = (part.filename, part.offset);
    let message =
        format!("get_run_artifact: `{filename}` has {size} bytes, so that no byte is at `offset` {offset}");
    let failure = Failure::new(Code::Rejected, message)
        .hint("pass a smaller `offset`; 0 is the beginning")
        .status(answer.status);

    match answer.file.total {
        Some(total) => failure.detail("total_bytes", total),
        None => failure,
    }
}

/// Returns why a file could not be read from the storage host to which the service redirected. Returns `None` if the
/// operation returns no file, or the service itself refused it.
pub(in crate::call) fn file_failure(entry: &OperationEntry, answer: &HttpResponse) -> Option<Failure> {
    if entry.request.response_kind != ResponseKind::File {
        return None;
    }

    let operation = entry.name;
    if let Some(reason) = &answer.file.redirect_error {
        let message = format!("{operation}: the redirect to the file {reason}");
        let failure = Failure::new(Code::BadResponse, message).status(answer.status);
        return Some(
            failure
                .hint("call again later; if the failure persists, report it to the operator of the service"),
        );
    }

    if answer.status == 304 {
        let message = format!("{operation}: the service answered 304, although the request had no condition");
        return Some(Failure::new(Code::BadResponse, message).status(answer.status));
    }

    answer.file.redirected_to.as_ref().map(|_| storage_failure(operation, answer))
}

/// Returns the failure for an answer of the storage host.
fn storage_failure(operation: &str, answer: &HttpResponse) -> Failure {
    let (code, hint) = match answer.status {
        404 => (Code::NotFound, "the file does not exist any more: `list_run_artifacts` lists the files"),
        429 => (Code::RateLimited, "wait a minute before the next call"),
        500.. => (Code::ServiceUnavailable, "call again later"),
        _ => (
            Code::Rejected,
            "call again: each call requests a new address, which is valid for a limited time",
        ),
    };
    let message = format!("{operation}: the storage host of the file answered {}", answer.status);
    let failure = Failure::new(code, message).hint(hint).status(answer.status);
    let words = quote(String::from_utf8_lossy(&answer.body).trim());

    if words.is_empty() { failure } else { failure.detail("service_error", words) }
}
