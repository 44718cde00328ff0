//! Several servers that share a Redis server.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
    process::{Child, ChildStderr},
};

use crate::support::{
    binary::{binary, run_binary},
    http_client::{FREE_PORTS, HttpUnderTest, json_of},
    redis_server::{Link, PASSWORD, RedisServer},
    service::Service,
};

/// Pause between two looks at a server that is expected to change.
const POLL_PAUSE: Duration = Duration::from_millis(20);

/// A test fails instead of hanging if a call takes longer.
const CALL_LIMIT: Duration = Duration::from_secs(20);

const KEY: [(&str, &str); 1] = [("x-api-key", keys::DEMO)];

fn start_arguments() -> Value {
    json!({"multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS})
}

/// Starts a server that shares this store.
fn replica(service: &Service, store: &str) -> HttpUnderTest {
    let variables = [&FREE_PORTS[..], &[("TAS_SHARED_URL", store), ("TAS_HTTP_RATE", "1000")]].concat();
    HttpUnderTest::start(&service.settings("", &variables))
}

/// Starts a run at `server`.
async fn start_run(server: &HttpUnderTest) -> Value {
    server.call("/mcp", &KEY, "start_run", start_arguments()).await
}

/// A server in a process of its own.
struct Replica {
    process: Child,
    url: String,
    /// The further lines of standard error.
    errors: BufReader<ChildStderr>,
}

impl Replica {
    async fn start(service: &Service, variables: &[(&str, &str)]) -> Self {
        let arguments = ["http", "--listen", "127.0.0.1:0", "--admin", "off", "--drain-s", "0"];
        let base_url = service.base_url();
        let variables = [&[("TAS_BASE_URL", base_url.as_str())], variables].concat();
        let mut process = binary(&arguments, &variables).spawn().expect("the binary starts");
        let mut errors = BufReader::new(process.stderr.take().expect("an output"));
        let mut line = String::new();
        errors.read_line(&mut line).await.expect("UTF-8");
        let url = line.trim().strip_prefix("listening on ").expect("an address").to_owned();

        Self { process, url, errors }
    }

    /// Starts a run at this server. Returns the answer, unless it is lost.
    fn start_run(&self) -> impl Future<Output = Option<Value>> + use<> {
        let params = json!({"name": "start_run", "arguments": start_arguments()});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let client = crate::support::plain_client().build().expect("a client");
        let request = client.post(&self.url).header(KEY[0].0, KEY[0].1).body(message.to_string());
        let sending = request.header("content-type", "application/json").send();

        async move { Some(json_of(sending.await.ok()?).await["result"].clone()) }
    }

    /// Kills the process, and returns the lines that it has written.
    async fn end(mut self) -> String {
        self.process.kill().await.expect("an end");
        let mut lines = String::new();
        self.errors.read_to_string(&mut lines).await.expect("UTF-8");
        lines
    }
}

fn message(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

/// Returns a number of the metrics.
async fn metric(server: &HttpUnderTest, name: &str) -> u64 {
    let (_, text) = server.admin("/metrics").await;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {name}: {text}")).parse().expect("a number")
}

#[tokio::test]
async fn a_lost_write_is_not_repeated_by_another_replica() {
    let Some(redis) = RedisServer::start().await else { return };
    let service = Service::start().await;
    let (first, second) = (replica(&service, &redis.url()), replica(&service, &redis.url()));
    service.fault(json!({"operation": "start_run", "reset": true, "after": true})).await;
    let lost = start_run(&first).await;
    assert!(message(&lost).contains("outcome_unknown"), "{lost}");

    let refused = start_run(&second).await;
    assert!(message(&refused).contains("seems to have happened"), "{refused}");
    let again = start_run(&first).await;
    assert_eq!(again["isError"], false, "the caller has read the report: {again}");

    assert_eq!(service.writes().await.len(), 2);
    // A call with a known outcome leaves nothing that would delay the next one.
    let requests = service.requests().await.len();
    assert_eq!(start_run(&second).await["isError"], false);
    assert_eq!(service.requests().await.len(), requests + 1);
}

#[tokio::test]
async fn the_write_of_a_killed_replica_is_not_repeated() {
    let Some(redis) = RedisServer::start().await else { return };
    let service = Service::start().await;
    let survivor = replica(&service, &redis.url());
    let mut killed = Replica::start(&service, &[("TAS_SHARED_URL", &redis.url())]).await;
    service.fault(json!({"operation": "start_run", "after": true, "delay_ms": 60_000})).await;

    let call = tokio::spawn(killed.start_run());
    while service.writes().await.is_empty() {
        tokio::task::yield_now().await;
    }
    killed.process.kill().await.expect("an end");
    assert!(call.await.expect("a task").is_none(), "the answer is lost");
    service.release().await;

    let refused = start_run(&survivor).await;
    assert!(message(&refused).contains("seems to have happened"), "{refused}");
    assert_eq!(service.writes().await.len(), 1);
}

#[tokio::test]
async fn a_confirmation_counts_once_over_all_replicas() {
    let Some(redis) = RedisServer::start().await else { return };
    let service = Service::start().await;
    let (first, second) = (replica(&service, &redis.url()), replica(&service, &redis.url()));
    let mut costly = start_arguments();
    costly["deployment_config_id"] = json!(seed::CONFIG_PHONES);
    costly["run_on_all_configured_devices"] = json!(true);
    let mut params = json!({"name": "start_run", "arguments": costly});
    let question = json_of(first.modern("/mcp", &KEY, "tools/call", params.clone()).await).await;
    params["requestState"] = question["result"]["requestState"].clone();
    params["inputResponses"] = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});

    let confirmed = json_of(first.modern("/mcp", &KEY, "tools/call", params.clone()).await).await;
    assert_eq!(confirmed["result"]["isError"], false, "{confirmed}");
    let again = json_of(second.modern("/mcp", &KEY, "tools/call", params).await).await;

    assert!(again.to_string().contains("was used before"), "{again}");
    assert_eq!(service.writes().await.len(), 1);
}

#[tokio::test]
async fn replicas_serve_without_the_store_and_use_it_again() {
    let Some(mut redis) = RedisServer::start().await else { return };
    let service = Service::start().await;
    let (first, second) = (replica(&service, &redis.url()), replica(&service, &redis.url()));
    assert_eq!(start_run(&first).await["isError"], false);
    assert_eq!(metric(&first, "tas_mcp_shared_store_available").await, 1);

    redis.stop().await;
    assert_eq!(start_run(&first).await["isError"], false);
    assert_eq!(metric(&first, "tas_mcp_shared_store_available").await, 0);
    assert!(metric(&first, "tas_mcp_shared_store_failures_total").await > 0);
    service.fault(json!({"operation": "start_run", "reset": true, "after": true})).await;
    assert!(message(&start_run(&first).await).contains("outcome_unknown"));
    let refused = start_run(&first).await;
    assert!(message(&refused).contains("seems to have happened"), "the process remembers it: {refused}");

    redis.restart().await;
    while metric(&first, "tas_mcp_shared_store_available").await == 0 {
        assert_eq!(start_run(&first).await["isError"], false);
        tokio::time::sleep(POLL_PAUSE).await;
    }
    // The other server has a connection that the store closed meanwhile.
    service.fault(json!({"operation": "start_run", "reset": true, "after": true})).await;
    assert!(message(&start_run(&first).await).contains("outcome_unknown"));
    let refused = start_run(&second).await;
    assert!(message(&refused).contains("seems to have happened"), "{refused}");
}

/// The process removes the entry of a settled call later if the store is not available when the call ends. Otherwise another
/// replica would treat the call as one of unknown outcome.
#[tokio::test]
async fn entries_are_removed_when_the_store_is_reached_again() {
    let Some(redis) = RedisServer::start().await else { return };
    let link = Link::to(&redis).await;
    let service = Service::start().await;
    let first = replica(&service, &redis.url_behind(&link));
    let second = replica(&service, &redis.url());
    service.fault(json!({"operation": "start_run", "after": true, "delay_ms": 60_000})).await;
    let params = json!({"name": "start_run", "arguments": start_arguments()});
    let request = first.modern_request("/mcp", "tools/call", params).header(KEY[0].0, KEY[0].1);
    let call = tokio::spawn(request.send());
    while service.writes().await.is_empty() {
        tokio::task::yield_now().await;
    }

    link.set_open(false);
    service.release().await;
    let answer = json_of(call.await.expect("a task").expect("a response")).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(metric(&first, "tas_mcp_shared_store_available").await, 0);
    link.set_open(true);
    while metric(&first, "tas_mcp_shared_store_available").await == 0 {
        first.call("/mcp", &KEY, "create_test_folder", json!({"name": "Fresh"})).await;
        tokio::time::sleep(POLL_PAUSE).await;
    }

    let requests = service.requests().await.len();
    let started = start_run(&second).await;
    assert_eq!(started["isError"], false, "{started}");
    assert_eq!(service.requests().await.len(), requests + 1, "no list is read");
}

/// The store accepts connections and never answers.
#[tokio::test]
async fn a_silent_store_delays_few_calls() {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("redis://:{PASSWORD}@{}", silent.local_addr().expect("an address"));
    let service = Service::start().await;
    let server = replica(&service, &url);
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok(connection) = silent.accept().await {
            open.push(connection);
            count.fetch_add(1, Ordering::Relaxed);
        }
    });

    for _ in 0..20 {
        let call = tokio::time::timeout(CALL_LIMIT, start_run(&server)).await.expect("an answer in time");
        assert_eq!(call["isError"], false);
    }

    assert!(metric(&server, "tas_mcp_shared_store_failures_total").await >= 20);
    assert!(connections.load(Ordering::Relaxed) < 10, "calls do not wait for the store one after the other");
}

/// The store answers every command with an error that quotes the command, as Redis does for unknown ones.
#[tokio::test]
async fn a_failing_store_is_reported_once_without_its_password() {
    let store = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("redis://planted:{PASSWORD}@{}", store.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = store.accept().await {
            let refusal = format!("-ERR unknown command 'AUTH', with args: 'planted' '{PASSWORD}'\r\n");
            drop(stream.write_all(refusal.repeat(8).as_bytes()).await);
        }
    });
    let service = Service::start().await;
    let server = Replica::start(&service, &[("TAS_SHARED_URL", &url), ("TAS_LOG", "debug")]).await;

    for _ in 0..3 {
        let started = server.start_run().await.expect("an answer");
        assert_eq!(started["isError"], false, "{started}");
    }

    let log = server.end().await;
    assert_eq!(log.matches("the shared store is not available").count(), 1, "{log}");
    assert!(!log.contains("planted") && !log.contains(keys::DEMO), "{log}");
}

#[tokio::test]
async fn the_connection_to_the_store_can_be_encrypted() {
    let Some(redis) = RedisServer::start_with_tls().await else { return };
    let service = Service::start().await;
    let (url, certificate) = (redis.url(), redis.certificate());
    let trusting = |variable| [("TAS_SHARED_URL", &*url), (variable, &certificate), ("TAS_LOG", "debug")];
    let first = Replica::start(&service, &trusting("SSL_CERT_FILE")).await;
    let second = Replica::start(&service, &trusting("TAS_CA_FILE")).await;
    service.fault(json!({"operation": "start_run", "reset": true, "after": true})).await;
    first.start_run().await.expect("an answer");

    let refused = second.start_run().await.expect("an answer");

    assert!(message(&refused).contains("seems to have happened"), "{refused}: {}", second.end().await);
    let distrustful = Replica::start(&service, &[("TAS_SHARED_URL", &url)]).await;
    distrustful.start_run().await.expect("an answer");
    let log = distrustful.end().await;
    assert!(log.contains("the shared store is not available"), "{log}");
}

#[tokio::test]
async fn doctor_reports_whether_the_store_answers() {
    let Some(mut redis) = RedisServer::start().await else { return };
    let service = Service::start().await;
    let (base_url, url) = (service.base_url(), redis.url());
    let wrong = url.replace(PASSWORD, "wrong-password");
    let examine = async |url: &str| {
        let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_SHARED_URL", url)];
        let output = run_binary(&["doctor"], &variables, &[]).await;
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"), output.stderr)
    };

    let (code, text, _) = examine(&url).await;
    assert!(code == Some(0) && text.contains("it answers"), "{code:?} {text}");

    for (url, reason) in [(&wrong, "authentication failed"), (&url, "it is not available")] {
        let (code, text, errors) = examine(url).await;
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(reason) && !text.contains("password"), "{text}");
        assert_eq!(String::from_utf8_lossy(&errors), "", "the failure is reported once");
        redis.stop().await;
    }
}

#[tokio::test]
async fn without_a_store_the_metrics_do_not_mention_it() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings("", &FREE_PORTS));

    assert!(!server.admin("/metrics").await.1.contains("shared_store"));
}
