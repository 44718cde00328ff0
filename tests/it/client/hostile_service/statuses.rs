//! Statuses of failure with bodies that explain nothing, and `Retry-After` with values that make no sense.

use std::sync::Arc;

use tas_mcp::service::catalog::OPERATIONS;

use super::{
    assert_right_outcomes,
    bodies::unusable_bodies,
    case::{Case, Outcomes, REJECTED, UNAVAILABLE, operation_of, response},
};

const RATE_LIMITED: Outcomes = (&["rate_limited"], &["rate_limited"]);

/// Only an operation that needs a feature of the project fails with `feature_disabled`.
const FORBIDDEN: Outcomes =
    (&["permission_denied", "feature_disabled"], &["permission_denied", "feature_disabled"]);

/// Statuses, and the outcomes that they mean. Requests are repeated without a pause.
const STATUSES: [(&str, Outcomes); 9] = [
    ("400 Bad Request", REJECTED),
    ("401 Unauthorized", (&["unauthenticated"], &["unauthenticated"])),
    ("403 Forbidden", FORBIDDEN),
    ("404 Not Found", (&["not_found"], &["not_found"])),
    ("409 Conflict", (&["conflict"], &["conflict"])),
    ("418 I'm a teapot", REJECTED),
    ("429 Too Many Requests\r\nretry-after: 0", RATE_LIMITED),
    ("500 Internal Server Error", UNAVAILABLE),
    ("503 Service Unavailable\r\nretry-after: 0", UNAVAILABLE),
];

/// Returns the cases of one status. The bodies are distributed among the operations: over all cases, every operation
/// answers with every body.
fn cases_of_status(number: usize, status: &'static str, outcomes: Outcomes) -> Vec<Case> {
    let bodies = Arc::new(unusable_bodies("error"));
    let rounds = bodies.len().div_ceil(STATUSES.len());

    let case = |round: usize| {
        let bodies = Arc::clone(&bodies);
        let answer = move |request: &str| {
            let name = operation_of(request).map(|entry| entry.name);
            let operation = OPERATIONS.iter().position(|entry| Some(entry.name) == name).unwrap_or_default();
            let body = operation + number * rounds + round;
            response(status, &bodies[body % bodies.len()].1)
        };
        Case::answering(format!("{status}, round {round}"), answer, false, outcomes).of_every_operation()
    };

    (0..rounds).map(case).collect()
}

#[tokio::test]
async fn a_status_decides_the_code_whatever_the_body_is() {
    let statuses = STATUSES.iter().enumerate();
    let cases = statuses.flat_map(|(number, (status, outcomes))| cases_of_status(number, status, *outcomes));
    assert_right_outcomes(cases.collect()).await;
}

#[tokio::test]
async fn a_wait_that_makes_no_sense_does_not_delay_a_call() {
    let waits = [
        ("1000000000", 1),
        ("18446744073709551615", 1),
        ("Thu, 31 Dec 2099 23:59:59 GMT", 1),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 4),
        // A date beyond the range of timestamps is no date.
        ("Fri, 31 Dec 9999 23:59:59 GMT", 4),
        ("-5", 4),
        ("99999999999999999999999999999999", 4),
        ("0\r\nretry-after: 1000000000", 4),
        ("soon", 4),
    ];
    let statuses = [("429 Too Many Requests", RATE_LIMITED), ("503 Service Unavailable", UNAVAILABLE)];

    let cases = waits.into_iter().flat_map(|(wait, requests)| {
        statuses.map(|(status, outcomes)| {
            let head = format!("{status}\r\nretry-after: {wait}");
            Case::new(head.clone(), response(&head, "{}"), outcomes).max_requests(requests)
        })
    });

    assert_right_outcomes(cases.collect()).await;
}
