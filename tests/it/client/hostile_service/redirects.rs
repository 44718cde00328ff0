//! Redirects to addresses that must not be used, or that lead nowhere.

use super::{
    assert_right_outcomes,
    case::{Case, Target, UNUSABLE},
};

/// Address on this machine that nobody listens on. The port 1 is privileged and unused.
const CLOSED_PORT: &str = "http://127.0.0.1:1/";

fn redirect(status: &str, headers: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: 0\r\n\r\n")
}

/// Returns the case of a redirect to an address that may not be used.
fn refused(location: &str) -> Case {
    let answer = redirect("302 Found", &format!("location: {location}\r\n"));
    Case::new(format!("a redirect to {location}"), answer, UNUSABLE)
}

#[tokio::test]
async fn a_redirect_to_an_address_that_may_not_be_used_is_a_bad_response() {
    let mut cases: Vec<_> = [
        "http://169.254.169.254/latest",
        "http://storage.example/",
        "http://user:password@127.0.0.1:1/",
        "https://user:password@storage.example/",
        "https://user@storage.example/",
        "javascript:alert(1)",
        "data:application/json,{}",
        "file:///etc/passwd",
        "ftp://storage.example/",
        "//storage.example/a",
        "http://",
        "https://",
        "http://[::1",
        "http://127.0.0.1:99999/",
    ]
    .map(refused)
    .into();

    cases.push(Case::new("a redirect without an address", redirect("302 Found", ""), UNUSABLE));
    cases.push(Case::new(
        "a redirect to bytes that are no text",
        [&b"HTTP/1.1 302 Found\r\nlocation: \xff\xfe\r\ncontent-length: 0\r\n\r\n"[..]].concat(),
        UNUSABLE,
    ));

    assert_right_outcomes(cases).await;
}

#[tokio::test]
async fn a_redirect_is_followed_for_files_only_and_not_forever() {
    let to_closed_port = format!("location: {CLOSED_PORT}\r\n");
    let two = format!("{to_closed_port}location: http://169.254.169.254/latest\r\n");

    let mut cases: Vec<_> = ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"]
        .map(|status| {
            let answer = redirect(status, &to_closed_port);
            Case::new(status, answer, UNUSABLE).target(Target::ClosedPort)
        })
        .into();

    cases.push(Case::new("two addresses", redirect("302 Found", &two), UNUSABLE).target(Target::ClosedPort));
    for status in ["302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let to_itself = move |request: &str| {
            let target = request.split_whitespace().nth(1).unwrap_or_default();
            redirect(status, &format!("location: {target}\r\n")).into_bytes()
        };
        let name = format!("a redirect to itself, {status}");
        cases.push(Case::answering(name, to_itself, false, UNUSABLE).target(Target::Service));
    }

    assert_right_outcomes(cases).await;
}

#[tokio::test]
async fn a_redirect_with_a_body_is_not_taken_for_an_answer() {
    let body = r#"{"multiplayer_run_id": "r", "data": [], "id": "x", "name": "x"}"#;
    let cases = ["300 Multiple Choices", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"]
        .map(|status| {
            let headers = format!("location: {CLOSED_PORT}\r\ncontent-length: {}\r\n", body.len());
            let answer = format!("HTTP/1.1 {status}\r\n{headers}\r\n{body}");
            Case::new(format!("{status} with a body"), answer, UNUSABLE).target(Target::ClosedPort)
        });

    assert_right_outcomes(cases.into()).await;
}
