//! Artifacts: their paths name no project, and an id of a player is not that of its run.

use serde_json::{Value, json};
use tas_mcp::{
    sandbox::{keys, seed},
    settings::Settings,
};

use super::{BOTH, assert_mismatch, within};
use crate::support::{host::Host, service::Service, stub::Stub};

const ALL: (&str, &str) = ("TAS_TOOLSETS", "all");
const BOUND: (&str, &str) = ("TAS_PROJECT_ID", "demo");

async fn open(key: &str, variables: &[(&str, &str)]) -> (Service, Host) {
    super::open(key, &[variables, &[ALL]].concat()).await
}

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
        let (service, mut host) = open(key, &[BOTH]).await;
        for (tool, arguments) in calls(seed::RUN_FAILED) {
            host.succeed(tool, arguments).await;
        }
        assert_eq!(service.requests().await, requests(seed::RUN_FAILED), "{key}");
    }
}

#[tokio::test]
async fn a_named_project_has_to_own_the_run() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        let (service, mut host) = open(key, &[BOTH]).await;
        for (tool, arguments) in calls(seed::RUN_FAILED) {
            host.succeed(tool, within("demo", arguments)).await;
        }

        let made = service.requests().await;
        let [list, get] = requests(seed::RUN_FAILED);
        // Other projects are asked side by side.
        let made: Vec<_> = made.into_iter().filter(|request| !request.contains("/project/arena/")).collect();

        match made.as_slice() {
            [first, rest @ ..] => {
                assert_eq!((first, rest), (&look_up(seed::RUN_FAILED), &[list, get][..]), "{key}");
            }
            [] => panic!("no request"),
        }
    }
}

#[tokio::test]
async fn a_run_of_another_project_than_named_is_a_mismatch() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        let (service, mut host) = open(key, &[BOTH]).await;
        for (tool, arguments) in calls(seed::RUN_FAILED) {
            let error = host.fail(tool, within("arena", arguments)).await;
            assert_mismatch(&error, "arena", "demo", seed::RUN_FAILED);
        }
        let made = service.requests().await;
        assert!(made.iter().all(|request| !request.contains("/artifacts")), "{key}: {made:?}");
    }
}

#[tokio::test]
async fn an_organization_key_stays_inside_the_project_of_the_server() {
    let (service, mut host) = open(keys::ORGANIZATION, &[BOUND]).await;
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
async fn a_run_inside_the_project_of_the_server_is_confirmed_once() {
    let (service, mut host) = open(keys::ORGANIZATION, &[BOUND]).await;
    for (tool, arguments) in calls(seed::RUN_FAILED) {
        host.succeed(tool, arguments).await;
    }
    let [list, get] = requests(seed::RUN_FAILED);
    assert_eq!(service.requests().await, [look_up(seed::RUN_FAILED), list, get]);
}

#[tokio::test]
async fn the_key_of_a_project_needs_no_confirmation_in_its_project() {
    let (service, mut host) = open(keys::DEMO, &[BOUND]).await;
    for (tool, arguments) in calls(seed::RUN_FAILED) {
        host.succeed(tool, arguments).await;
    }
    assert_eq!(service.requests().await, requests(seed::RUN_FAILED));
}

#[tokio::test]
async fn another_project_than_that_of_the_server_is_refused_without_any_request() {
    let (service, mut host) = open(keys::ORGANIZATION, &[BOUND]).await;
    for (tool, arguments) in calls(seed::ARENA_RUN_FAILED) {
        assert_mismatch(&host.fail(tool, within("arena", arguments)).await, "arena", "demo", Value::Null);
    }
    assert_eq!(service.requests().await, [""; 0]);
}

/// A confirmation that fails is no confirmation.
#[tokio::test]
async fn a_failing_look_up_keeps_the_request_back() {
    let stub = Stub::start(async |_: String| (503, json!({"error": "maintenance"}))).await;
    let (service, _host) = open(keys::ORGANIZATION, &[]).await;
    let knowledge = service.knowledge_url();
    let settings: Settings =
        stub.settings(keys::ORGANIZATION, &[("TAS_KNOWLEDGE_URL", &knowledge), BOUND, ALL]);
    let mut host = Host::open(&settings).await;

    for (tool, arguments) in calls(seed::RUN_FAILED) {
        assert_eq!(host.fail(tool, arguments).await["code"], "service_unavailable");
    }

    assert_eq!(service.requests().await, [""; 0]);
}
