//! The memory of long answers.

use std::{sync::Arc, time::Duration};

use tas_mcp::{
    client::{ApiKey, Client, ClientConfig, HostUrl, HttpRequest, HttpResponse, KeySource, RequestKind},
    failure::{Code, Failure},
    service::{operation::UrlBase, tool::FailureHints},
};
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep},
};

use crate::support::peer::{Peer, Step};

/// Time after which a call has taken memory.
const READING: Duration = Duration::from_millis(300);

/// Sends a request whose response may take this time.
async fn send(client: &Client, key: &ApiKey, limit: Duration) -> Result<HttpResponse, Failure> {
    let request = HttpRequest {
        operation: "get_run",
        url_base: UrlBase::Project,
        has_key: true,
        method: http::Method::GET,
        path_and_query: "/runs/r1".to_owned(),
        body: None,
        part: None,
        kind: RequestKind::Repeatable,
        subject: String::new(),
        project: None,
        hints: FailureHints::default(),
    };
    client.send(&request, key, Instant::now() + limit).await
}

#[tokio::test]
async fn a_call_whose_answer_gets_no_memory_in_time_is_told_to_call_again() {
    let gate = Arc::new(Semaphore::new(0));
    let end = Arc::clone(&gate);
    // The answer states no length, so that it takes the memory of the longest one.
    let start = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}", "x".repeat(100_000));
    let mut service = Peer::serving(Arc::new(move |_| {
        vec![Step::Send(start.clone().into()), Step::Wait(Arc::clone(&end))]
    }))
    .await;
    let key = ApiKey::parse("svc_demo_key").expect("a key");
    let client = Client::new(ClientConfig {
        base_url: HostUrl::parse(&format!("http://{}", service.address())).expect("an address"),
        knowledge_url: Ok(None),
        key: KeySource::Fixed(key.clone()),
        ca_file: None,
        timeout: Duration::from_secs(60),
    });

    let first = send(&client, &key, Duration::from_secs(60));
    let second = async {
        service.next().await;
        sleep(READING).await;
        let outcome = send(&client, &key, READING).await;
        gate.add_permits(2);
        outcome
    };
    let (first, second) = tokio::join!(first, second);

    assert_eq!(first.expect("a response").body.len(), 100_000);
    let failure = second.expect_err("no memory");
    assert_eq!(failure.code, Code::ServiceUnavailable);
    assert_eq!(failure.message, "get_run: the server has no memory for the answer now");
    assert_eq!(failure.hint, "call again in a few seconds".into());
}
