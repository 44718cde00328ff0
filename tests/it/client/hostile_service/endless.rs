//! Answers that come slowly or never end. A body is read up to 16 MiB.

use tokio_util::bytes::Bytes;

use super::{
    assert_right_outcomes,
    case::{Case, Outcomes, TIMEOUT, UNANSWERED},
};
use crate::support::peer::Step;

/// An answer that is longer than a reply may be read.
const TOO_LONG: Outcomes = (&["bad_response"], &["outcome_unknown"]);

/// The beginning of a failure says enough.
const REFUSED: Outcomes = (&["rejected"], &["rejected"]);

/// Length of a repeated piece, in bytes. Large pieces need few writes.
const PIECE: usize = 1 << 20;

/// Calls at the same time, each of which holds up to 16 MiB.
const IN_FLIGHT: usize = 4;

/// Begins an answer with chunks.
const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

fn send(text: &str) -> Step {
    Step::Send(Bytes::copy_from_slice(text.as_bytes()))
}

/// Repeats `text` without end, in large pieces.
fn repeat(text: &str) -> Step {
    Step::Repeat(text.repeat(PIECE.div_ceil(text.len())).into())
}

/// Returns the case of an answer that stops after `start`, with an open connection.
fn stopping(name: &str, start: &str) -> Case {
    Case::steps(name, vec![send(start), Step::Hold], TIMEOUT).hanging()
}

/// Returns the case of an answer that repeats `part` after `start`.
fn repeating(name: &str, start: &str, part: Step, outcomes: Outcomes) -> Case {
    Case::steps(name, vec![send(start), part], outcomes)
}

#[tokio::test]
async fn an_answer_that_stops_ends_with_the_time_limit() {
    assert_right_outcomes(vec![
        stopping("half a status line", "HTTP/1.1 20"),
        stopping("headers without an end", "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"),
        stopping("no final answer", "HTTP/1.1 100 Continue\r\n\r\n"),
        stopping("a slow body", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"data\""),
        stopping("a slow body without a length", "HTTP/1.1 200 OK\r\n\r\n{\"data\": []}"),
        stopping("slow chunks", &format!("{CHUNKED}2\r\n{{}}\r\n")),
        stopping("a slow failure", "HTTP/1.1 400 Bad Request\r\ncontent-length: 100\r\n\r\n{"),
        stopping("a slow redirect", "HTTP/1.1 302 Found\r\nlocation: ht"),
    ])
    .await;
}

#[tokio::test]
async fn headers_without_an_end_are_not_read_forever() {
    assert_right_outcomes(vec![
        repeating("endless headers", "HTTP/1.1 200 OK\r\n", repeat("a: b\r\n"), UNANSWERED),
        repeating("an endless header", "HTTP/1.1 200 OK\r\nx: ", repeat("x"), UNANSWERED),
        repeating("an endless extension of a chunk", &format!("{CHUNKED}2;"), repeat("x"), UNANSWERED),
        repeating(
            "endless trailers",
            &format!("{CHUNKED}2\r\n{{}}\r\n0\r\n"),
            repeat("a: b\r\n"),
            UNANSWERED,
        ),
        Case::steps("endless informational answers", vec![repeat("HTTP/1.1 100 Continue\r\n\r\n")], TIMEOUT)
            .hanging(),
    ])
    .await;
}

#[tokio::test]
async fn a_body_without_an_end_is_not_read_forever() {
    let chunk = Step::Repeat(format!("{PIECE:x}\r\n{}\r\n", "x".repeat(PIECE)).into());
    let cases = [
        repeating("endless chunks", CHUNKED, chunk, TOO_LONG),
        repeating("an endless body", "HTTP/1.1 200 OK\r\n\r\n", repeat("x"), TOO_LONG),
        repeating(
            "an endless body with a huge length",
            "HTTP/1.1 200 OK\r\ncontent-length: 9223372036854775807\r\n\r\n",
            repeat("x"),
            TOO_LONG,
        ),
        repeating("an endless failure", "HTTP/1.1 400 Bad Request\r\n\r\n", repeat("x"), REFUSED),
    ];

    // One case after the other, because each of its calls holds up to 16 MiB.
    for case in cases {
        assert_right_outcomes(vec![case.max_requests(1).in_flight(IN_FLIGHT)]).await;
    }
}
