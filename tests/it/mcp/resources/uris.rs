//! Invalid URIs, and ids that contain special characters.

use tas_mcp::sandbox::keys;

use super::open;

#[tokio::test]
async fn an_unknown_uri_is_not_found_and_the_valid_templates_are_named() {
    let (service, mut host) = open(keys::DEMO, &[]).await;
    for uri in [
        "",
        "file:///etc/passwd",
        "tas://",
        "tas://projects",
        "tas://projects/demo",
        "tas://projects/demo/",
        "tas://projects/demo/runs",
        "tas://projects/demo/runs/a/b",
        "tas://projects/demo/builds/a",
        "tas://projects/demo/knowledge/agent",
        "tas://projects/demo/runs/a?fields=id",
        "tas://projects/demo/runs/a#top",
        "tas://projects/demo/runs/100%",
        "tas://projects/demo/runs/%zz",
        "tas://projects/demo/runs/%ff%fe",
        "TAS://projects/demo/runs/a",
    ] {
        let error = host.read_failure(uri).await;
        assert_eq!(error["code"], -32002, "{uri}: {error}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains("tas://projects/{project}/runs/{run}"), "{uri}: {message}");
        assert_eq!(error["data"]["uri"], uri);
    }

    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn an_invalid_id_is_refused_without_a_request() {
    let (service, mut host) = open(keys::DEMO, &[]).await;
    let long = format!("tas://projects/demo/runs/{}", "x".repeat(400));

    for (uri, path) in [
        ("tas://projects/demo/runs/", "run_id"),
        ("tas://projects/demo/runs/%20", "run_id"),
        ("tas://projects/demo/runs/..", "run_id"),
        ("tas://projects/demo/runs/%2e%2E", "run_id"),
        ("tas://projects/demo/runs/..%2F..%2Fbuilds", "run_id"),
        ("tas://projects//runs/x", "project_id"),
        ("tas://projects/../runs/x", "project_id"),
        ("tas://projects/demo/test-plans/x", "test_plan_id"),
        (long.as_str(), "run_id"),
    ] {
        let error = host.read_failure(uri).await;
        assert_eq!(error["code"], -32602, "{uri}: {error}");
        assert_eq!(error["data"]["error"]["code"], "invalid_arguments");
        assert_eq!(error["data"]["error"]["details"]["violations"][0]["path"], path, "{uri}");
    }

    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn an_id_stays_one_segment_of_the_path() {
    let (service, mut host) = open(keys::DEMO, &[("TAS_PROJECT_ID", "demo")]).await;
    for (uri, sent) in [("a%3Fb%23c", "a%3Fb%23c"), ("%D0%B9", "%D0%B9"), ("й", "%D0%B9"), ("a+b", "a%2Bb")]
    {
        let error = host.read_failure(&format!("tas://projects/demo/runs/{uri}")).await;

        assert_eq!(error["code"], -32002, "{uri}: {error}");

        let requests = service.requests().await;

        assert_eq!(requests.last(), Some(&format!("GET /project/demo/runs/{sent} 404")), "{uri}");
    }
}
