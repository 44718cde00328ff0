//! Answers that break HTTP itself, or stretch it.

use super::{
    assert_right_outcomes,
    case::{Case, OK, UNANSWERED, UNAVAILABLE, UNUSABLE, example, response},
};

fn broken_messages() -> Vec<Case> {
    let case = |name: &str, answer: &str| Case::new(name, answer, UNANSWERED);
    let headers = |headers: &str| format!("HTTP/1.1 200 OK\r\n{headers}content-length: 2\r\n\r\n{{}}");

    vec![
        case("no HTTP", "hello\r\n\r\n"),
        case("no status line", "{}"),
        case("HTTP/0.9", "HTTP/0.9 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
        case("HTTP/2", "HTTP/2 200\r\ncontent-length: 2\r\n\r\n{}"),
        case("a protocol in lower case", "http/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
        case("a status of two digits", "HTTP/1.1 20 OK\r\ncontent-length: 2\r\n\r\n{}"),
        case("many headers", &headers(&"a: b\r\n".repeat(5_000))),
        case("a header with a zero byte", &headers("a: b\0c\r\n")),
        case("a header without a colon", &headers("nothing\r\n")),
        case("a header without a name", &headers(": b\r\n")),
        case("a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}"),
        case("a length that is no number", "HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\n{}"),
        case("two lengths", &headers("content-length: 3\r\n")),
        case("an enormous length", "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n{"),
        case("an impossible length", "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n{"),
    ]
}

fn broken_chunks() -> Vec<Case> {
    let case = |name: &str, body: &str| {
        let answer = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{body}");
        Case::new(name, answer, UNANSWERED)
    };

    vec![
        case("a broken chunk", "zz\r\n{}\r\n"),
        case("a chunk of an enormous size", "ffffffffffffffffff\r\n{}\r\n"),
        case("a chunk of a negative size", "-2\r\n{}\r\n"),
        case("a chunk without an end", "2\r\n{}0\r\n\r\n"),
        case("no last chunk", "2\r\n{}\r\n"),
        Case::new("a body that ends early", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", UNANSWERED),
    ]
}

fn unusual_messages() -> Vec<Case> {
    let answering = |name: &str, head: &'static str| {
        let answer = move |request: &str| {
            let body = example(request);
            format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
        };
        Case::answering(name, answer, true, OK)
    };
    let encoding =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 9\r\n\r\n2\r\n{}\r\n0\r\n\r\n";

    vec![
        answering("no reason", "HTTP/1.1 200\r\n"),
        answering("line ends without carriage return", "HTTP/1.1 200 OK\nserver: x\n"),
        answering("one informational answer", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"),
        answering("early hints", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n"),
        Case::answering(
            "many informational answers",
            |request| {
                let informational = "HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000);
                [informational.into_bytes(), response("200 OK", example(request))].concat()
            },
            true,
            OK,
        ),
        Case::new("a length beside chunks", encoding, UNUSABLE),
        Case::new("no content", "HTTP/1.1 204 No Content\r\n\r\n", UNUSABLE).empty(),
        Case::new("not modified", "HTTP/1.1 304 Not Modified\r\n\r\n", UNUSABLE),
        Case::new(
            "another protocol",
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
            UNUSABLE,
        ),
        Case::new("an impossible status", "HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n", UNAVAILABLE),
    ]
}

#[tokio::test]
async fn an_answer_that_breaks_http_is_no_answer() {
    assert_right_outcomes([broken_messages(), broken_chunks()].into_iter().flatten().collect()).await;
}

#[tokio::test]
async fn an_unusual_answer_is_read_as_http_defines_it() {
    assert_right_outcomes(unusual_messages()).await;
}
