//! The URL of the knowledge host.

use serde_json::{Value, json};
use tas_mcp::{
    client::HostUrl,
    sandbox::{keys, seed},
};

use crate::support::{host::Host, service::Service};

const NAME: &str = "TAS_KNOWLEDGE_URL";
const ALL: (&str, &str) = ("TAS_TOOLSETS", "all");

/// Returns a call of every tool that uses the knowledge host.
fn calls() -> [(&'static str, Value); 6] {
    let player = json!(format!("{}-1", seed::RUN_PASSED));
    [
        ("list_knowledge_files", json!({"project_id": "demo"})),
        ("list_project_knowledge_files", json!({"project_id": "demo"})),
        ("list_agent_knowledge_files", json!({"project_id": "demo", "agent_id": "a"})),
        ("list_test_case_knowledge_files", json!({"project_id": "demo", "test_case_id": "a"})),
        ("list_run_artifacts", json!({"run_id": player})),
        ("get_run_artifact", json!({"run_id": player, "filename": "agent.log"})),
    ]
}

#[test]
fn the_url_uses_https_or_a_loopback_address() {
    for (text, expected) in [
        ("https://knowledge.example", "https://knowledge.example"),
        ("https://knowledge.example/", "https://knowledge.example"),
        ("https://knowledge.example/below/here/", "https://knowledge.example/below/here"),
        ("http://127.0.0.1:9000/", "http://127.0.0.1:9000"),
        ("http://localhost/x", "http://localhost/x"),
    ] {
        assert_eq!(HostUrl::parse(text).map(|url| url.as_str().to_owned()), Ok(expected.to_owned()));
    }
}

#[tokio::test]
async fn an_unusable_url_disables_only_the_tools_that_need_it() {
    let plain = "`http://knowledge.example` must use https: http would send the key without encryption (http is for loopback addresses only)";
    for (value, problem) in [
        ("http://knowledge.example/", plain),
        ("ftp://knowledge.example", "`ftp://knowledge.example` must use https, not ftp"),
        ("https://me:svc_secret@knowledge.example", "must not hold a user name or password"),
        ("https://svc_secret@knowledge.example", "must not hold a user name or password"),
        (
            "https://knowledge.example/?a=svc_secret",
            "`https://knowledge.example` must not have a query or fragment",
        ),
        (
            "https://knowledge.example/#svc_secret",
            "`https://knowledge.example` must not have a query or fragment",
        ),
        ("knowledge", "is not an address: relative URL without a base"),
        (
            "${KNOWLEDGE}",
            "still contains the placeholder `${KNOWLEDGE}`, which the client that started this server did not replace",
        ),
    ] {
        let service = Service::start().await;
        let mut host = Host::open(&service.settings(keys::DEMO, &[(NAME, value), ALL])).await;

        for (tool, arguments) in calls() {
            let error = host.fail(tool, arguments).await;
            assert_eq!(error["code"], "not_configured", "{value}: {error}");
            let message = error["message"].as_str().expect("a message");
            assert!(message.contains(&format!("`{NAME}` (variable {NAME}) {problem}")), "{message}");
            assert!(!error.to_string().contains("svc_secret"), "{error}");
        }
        host.succeed("get_run", json!({"run_id": seed::RUN_PASSED})).await;
    }
}

#[tokio::test]
async fn without_the_url_only_the_tools_of_that_host_are_not_configured() {
    let service = Service::start().await;
    let mut host = Host::open(&service.settings(keys::DEMO, &[(NAME, ""), ALL])).await;

    for (tool, arguments) in calls() {
        let error = host.fail(tool, arguments).await;
        assert_eq!(error["code"], "not_configured", "{tool}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(NAME) && message.contains(tool), "{message}");
        assert!(!error.to_string().contains("TAS_BASE_URL"), "{error}");
    }

    host.succeed("get_run", json!({"run_id": seed::RUN_PASSED})).await;
    host.succeed("get_minion_download", json!({"platform": "linux-x86_64"})).await;

    assert!(service.requests().await.iter().all(|request| !request.contains("/artifacts")));
}

#[tokio::test]
async fn a_failure_of_the_host_names_only_its_own_setting() {
    let service = Service::start().await;
    // No process listens on this port.
    let nowhere = service.settings(keys::DEMO, &[(NAME, "http://127.0.0.1:1"), ALL, ("TAS_TIMEOUT_S", "2")]);
    // A web page is the typical answer of a wrong address.
    let web = "<html>Welcome</html>";
    let peer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{web}", web.len());
    let peer = crate::support::peer::Peer::answering(peer).await;
    let other_host = format!("http://{}", peer.address());
    let other_host = service.settings(keys::DEMO, &[(NAME, &other_host), ALL]);

    for (settings, code) in [(nowhere, "service_unavailable"), (other_host, "bad_response")] {
        let mut host = Host::open(&settings).await;
        for tool in ["list_project_knowledge_files", "list_run_artifacts"] {
            let arguments = calls().into_iter().find(|(name, _)| *name == tool).expect("a call").1;
            let error = host.fail(tool, arguments).await;
            assert_eq!(error["code"], code, "{tool}");
            let hint = error["hint"].as_str().expect("a hint");
            assert!(hint.contains(NAME) && !error.to_string().contains("TAS_BASE_URL"), "{error}");
        }
    }
}
