//! Artifacts: their paths contain no project, and the id of a player differs from the id of its run.

use serde_json::{Value, json};
use tas_mcp::{
    sandbox::{keys, seed},
    settings::Settings,
};

use super::{BOTH, assert_mismatch, within};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    stub::Stub,
};

const ALL: (&str, &str) = ("TAS_TOOLSETS", "all");
const BOUND: (&str, &str) = ("TAS_PROJECT_ID", "demo");

/// Both tools, on the first player of a run.
fn calls(run: &str) -> [(&'static str, Value); 2] {
    let player = format!("{run}-1");
    [
        ("list_run_artifacts", json!({"run_id": player})),
        ("get_run_artifact", json!({"run_id": player, "filename": "agent.log"})),
    ]
}

/// The requests of both tools.
fn requests(run: &str) -> [String; 2] {
    let list = format!("GET /runs/{run}-1/artifacts");
    [format!("{list} 200"), format!("{list}/agent.log 206")]
}

fn look_up(run: &str) -> String {
    format!("GET /project/demo/runs/{run} 200")
}

#[tokio::test]
async fn without_a_project_nothing_is_looked_up() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        let Session { service, mut host, .. } =
            Fixture::new().key(key).all_tools().variables(&[BOTH]).open().await;
        for (tool, arguments) in calls(seed::RUN_FAILED) {
            host.succeed(tool, arguments).await;
        }
        assert_eq!(service.requests().await, requests(seed::RUN_FAILED), "{key}");
    }
}

#[tokio::test]
async fn a_named_project_must_own_the_run() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        let Session { service, mut host, .. } =
            Fixture::new().key(key).all_tools().variables(&[BOTH]).open().await;
        for (tool, arguments) in calls(seed::RUN_FAILED) {
            host.succeed(tool, within("demo", arguments)).await;
        }

        let sent = service.requests().await;
        let [list, get] = requests(seed::RUN_FAILED);
        // Look-ups of other projects run concurrently, so that their position varies.
        let sent: Vec<_> = sent.into_iter().filter(|request| !request.contains("/project/arena/")).collect();

        match sent.as_slice() {
            [first, rest @ ..] => {
                assert_eq!((first, rest), (&look_up(seed::RUN_FAILED), &[list, get][..]), "{key}");
            }
            [] => panic!("no request"),
        }
    }
}

#[tokio::test]
async fn a_run_of_another_project_is_a_mismatch() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        let Session { service, mut host, .. } =
            Fixture::new().key(key).all_tools().variables(&[BOTH]).open().await;
        for (tool, arguments) in calls(seed::RUN_FAILED) {
            let error = host.fail(tool, within("arena", arguments)).await;
            assert_mismatch(&error, "arena", "demo", seed::RUN_FAILED);
        }
        let sent = service.requests().await;
        assert!(sent.iter().all(|request| !request.contains("/artifacts")), "{key}: {sent:?}");
    }
}

#[tokio::test]
async fn an_organization_key_is_limited_to_the_project_of_the_server() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).all_tools().variables(&[BOUND]).open().await;
    for (tool, arguments) in calls(seed::ARENA_RUN_FAILED) {
        let error = host.fail(tool, arguments).await;
        assert_eq!(
            (&error["code"], &error["details"]["asked"]),
            (&json!("project_not_resolved"), &json!(["demo"]))
        );
    }

    let asked = format!("GET /project/demo/runs/{} 404", seed::ARENA_RUN_FAILED);

    assert_eq!(service.requests().await, [asked.clone(), asked]);
}

#[tokio::test]
async fn the_owner_of_a_run_is_looked_up_once_for_the_project_of_the_server() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).all_tools().variables(&[BOUND]).open().await;
    for (tool, arguments) in calls(seed::RUN_FAILED) {
        host.succeed(tool, arguments).await;
    }
    let [list, get] = requests(seed::RUN_FAILED);
    assert_eq!(service.requests().await, [look_up(seed::RUN_FAILED), list, get]);
}

#[tokio::test]
async fn a_project_key_needs_no_look_up_for_its_own_project() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().variables(&[BOUND]).open().await;
    for (tool, arguments) in calls(seed::RUN_FAILED) {
        host.succeed(tool, arguments).await;
    }
    assert_eq!(service.requests().await, requests(seed::RUN_FAILED));
}

/// The owner of the run is not known, so that the request could reach a run of another project.
#[tokio::test]
async fn no_request_is_sent_after_a_failed_look_up() {
    let stub = Stub::start(async |_: String| (503, json!({"error": "maintenance"}))).await;
    let Session { service, host: _host, .. } =
        Fixture::new().key(keys::ORGANIZATION).all_tools().open().await;
    let knowledge = service.knowledge_url();
    let settings: Settings =
        stub.settings(keys::ORGANIZATION, &[("TAS_KNOWLEDGE_URL", &knowledge), BOUND, ALL]);
    let mut host = Host::open(&settings).await;

    for (tool, arguments) in calls(seed::RUN_FAILED) {
        assert_eq!(host.fail(tool, arguments).await["code"], "service_unavailable");
    }

    assert_eq!(service.requests().await, [""; 0]);
}
