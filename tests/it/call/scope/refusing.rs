//! Refusals, mostly for an organization key, and their messages.

use serde_json::{Value, json};
use tas_mcp::{
    sandbox::{keys, seed},
    tools::catalog,
};

use super::{BOTH, assert_mismatch, run, within};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    stub::Stub,
};

#[tokio::test]
async fn ids_of_another_project_are_refused_and_nothing_is_written() {
    let calls = [
        ("get_run", json!({"run_id": seed::RUN_PASSED}), seed::RUN_PASSED),
        ("list_runs", json!({"job_id": seed::JOB_PASSED}), seed::JOB_PASSED),
        (
            "stop_runs",
            json!({"job_ids": [seed::JOB_RUNNING, seed::JOB_QUEUED], "confirm": true}),
            seed::JOB_RUNNING,
        ),
        ("export_tmsys_run", json!({"multiplayer_run_id": seed::RUN_FAILED}), seed::RUN_FAILED),
        ("export_tmsys_run", json!({"multiplayer_run_ids": [seed::RUN_BLOCKED]}), seed::RUN_BLOCKED),
        (
            "export_tmsys_run",
            json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED}),
            seed::EXECUTION_COMPLETED,
        ),
    ];

    for key in [keys::DEMO, keys::ORGANIZATION] {
        let Session { service, mut host, .. } = Fixture::new().key(key).variables(&[BOTH]).open().await;
        // In the second round every owner is known, so that no look-up runs.
        for (tool, arguments, id) in calls.clone().into_iter().chain(calls.clone()) {
            let error = host.fail(tool, within("arena", arguments)).await;
            assert_mismatch(&error, "arena", "demo", id);
            let message = error["message"].as_str().expect("a message");
            let reads = catalog::find_tool(tool).expect("a tool").effect.is_read_only();
            assert_eq!(message.ends_with("nothing was changed"), !reads, "only a write states it: {error}");
        }

        assert_eq!(service.writes().await, [""; 0]);
    }
}

#[tokio::test]
async fn ids_of_several_projects_are_refused_and_nothing_is_written() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[BOTH]).open().await;
    let export = json!({"multiplayer_run_ids": [seed::RUN_PASSED, seed::RUN_FAILED, seed::ARENA_RUN_PASSED]});
    let stop = json!({"job_ids": [seed::JOB_RUNNING, seed::ARENA_JOB_RUNNING], "confirm": true});
    for (tool, arguments, stray) in
        [("export_tmsys_run", export, seed::ARENA_RUN_PASSED), ("stop_runs", stop, seed::ARENA_JOB_RUNNING)]
    {
        let unrequested = host.fail(tool, arguments.clone()).await;
        let requested = host.fail(tool, within("demo", arguments)).await;

        // Without a requested project, no project is the wrong one.
        assert!(unrequested["details"]["requested_project"].is_null(), "{unrequested}");
        assert_eq!(requested["details"]["requested_project"], "demo");
        for error in [unrequested, requested] {
            assert_eq!(error["code"], "project_scope_mismatch", "{error}");
            assert!(error["message"].as_str().is_some_and(|text| text.contains(stray)), "{error}");
            assert!(error["hint"].as_str().is_some_and(|text| text.contains("one call")), "{error}");

            let owners = error["details"]["owners"].as_array().expect("a list");
            assert_eq!(owners.last(), Some(&json!({"id": stray, "project": "arena"})));
        }
    }

    assert_eq!(service.writes().await, [""; 0]);
}

#[tokio::test]
async fn unknown_ids_are_reported_with_the_searched_projects() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[BOTH]).open().await;
    let export = json!({"multiplayer_run_ids": ["nosuchrun01", seed::RUN_PASSED, "nosuchrun02"]});
    let error = host.fail("export_tmsys_run", export).await;

    assert_eq!(error["code"], "project_not_resolved");
    assert_eq!(error["details"]["ids"], json!(["nosuchrun01", "nosuchrun02"]));
    assert_eq!(error["details"]["asked"], json!(["demo", "arena"]));
    assert_eq!(service.writes().await, [""; 0]);

    let named = json!({"multiplayer_run_id": "nosuchrun01", "project_id": "arena"});
    let error = host.fail("export_tmsys_run", named).await;
    let hint = "check the ids: they are in none of the projects that were asked";
    assert_eq!((&error["code"], &error["hint"]), (&json!("project_not_resolved"), &json!(hint)));
    assert_eq!(error["details"]["asked"], json!(["arena", "demo"]));
}

/// Projects, each with the status and the error of its answers to look-ups.
type Projects = &'static [(&'static str, u16, &'static str)];

/// A service with these projects, and a server with an organization key that lists them.
async fn stub_of_projects(statuses: Projects) -> (Stub, Host) {
    let stub = Stub::start(move |target: String| async move {
        let named = |(project, _, _): &&(&str, u16, &str)| target.contains(&format!("/project/{project}/"));
        match statuses.iter().find(named) {
            Some((_, 200, _)) => (200, json!({"multiplayer_run_id": "r1", "project_id": "x"})),
            Some((_, status, error)) => (*status, json!({"error": error})),
            None => (404, Value::Null),
        }
    })
    .await;

    let listed: Vec<_> = statuses.iter().map(|(project, _, _)| *project).collect();
    let host = Host::open(&stub.settings("svc_org_any", &[("TAS_PROJECTS", &listed.join(","))])).await;

    (stub, host)
}

#[tokio::test]
async fn a_project_that_the_key_may_not_read_is_skipped() {
    let (stub, mut host) = stub_of_projects(&[
        ("a", 401, "Invalid API key"),
        ("b", 403, "API key does not match the project"),
        ("c", 404, "run not found"),
        ("d", 200, ""),
    ])
    .await;

    let (tool, arguments) = run("r1");
    host.succeed(tool, arguments).await;

    assert_eq!(stub.requests().pop().as_deref(), Some("GET /project/d/runs/r1"));
}

#[tokio::test]
async fn a_project_whose_look_up_fails_is_named_unless_another_one_has_the_id() {
    let (stub, mut host) = stub_of_projects(&[("a", 404, "run not found"), ("b", 503, "maintenance")]).await;
    for tool in ["get_run", "list_run_bugs"] {
        let error = host.fail(tool, json!({"run_id": "r1"})).await;
        assert_eq!((&error["code"], &error["status"]), (&json!("service_unavailable"), &json!(503)));
        assert_eq!(error["details"]["project"], "b");
    }

    let error = host.fail("export_tmsys_run", json!({"multiplayer_run_id": "r1"})).await;

    assert_eq!(error["code"], "service_unavailable");
    assert!(stub.requests().iter().all(|request| request.starts_with("GET ")), "nothing is written");

    let (_stub, mut host) = stub_of_projects(&[("a", 503, "maintenance"), ("b", 200, "")]).await;
    let (tool, arguments) = run("r1");
    host.succeed(tool, arguments).await;
}

#[tokio::test]
async fn a_rejected_organization_key_is_reported_and_not_an_unknown_id() {
    let cases: [(Projects, &str, Value); 4] = [
        (&[("a", 401, "Invalid API key"), ("b", 401, "Invalid API key")], "unauthenticated", Value::Null),
        (&[("a", 403, "API key expired"), ("b", 403, "API key expired")], "unauthenticated", Value::Null),
        (&[("a", 403, "API key is disabled")], "unauthenticated", Value::Null),
        (
            &[("a", 403, "API key missing required permission: project:read-runs")],
            "permission_denied",
            json!("project:read-runs"),
        ),
    ];

    for (statuses, code, permission) in cases {
        let (_stub, mut host) = stub_of_projects(statuses).await;
        let (tool, arguments) = run("r1");
        let error = host.fail(tool, arguments).await;

        assert_eq!(
            (error["code"].as_str(), &error["details"]["required_permission"]),
            (Some(code), &permission)
        );
    }
}

#[tokio::test]
async fn a_rejected_key_is_reported_in_every_form_of_a_call() {
    let keys = [
        ("svc_org_wrong", "unauthenticated", 401),
        ("svc_wrong", "unauthenticated", 401),
        (keys::EXPIRED, "unauthenticated", 403),
        (keys::DISABLED, "unauthenticated", 403),
        (keys::POWERLESS, "permission_denied", 403),
    ];
    for (key, code, status) in keys {
        let Session { service, mut host, .. } =
            Fixture::new().key(key).variables(&[("TAS_PROJECTS", "demo")]).open().await;
        let calls = [
            run(seed::RUN_PASSED),
            ("list_runs", json!({})),
            ("stop_runs", json!({"job_ids": [seed::JOB_RUNNING], "confirm": true})),
        ];

        for (tool, arguments) in calls {
            // With a named project, and with a project that the server finds.
            for arguments in [within("demo", arguments.clone()), arguments] {
                let error = host.fail(tool, arguments).await;
                assert_eq!(
                    (error["code"].as_str(), &error["status"]),
                    (Some(code), &json!(status)),
                    "{key}: {error}"
                );
            }
        }

        assert!(service.requests().await.iter().all(|request| request.ends_with(&status.to_string())));
    }
}

const LACKS_READ: &str = "API key missing required permission: project:read-runs";

/// A service whose projects answer every look-up with 403 and `error`, and accept every write; and a server that has
/// `key` and these listed projects.
async fn stub_without_reads(key: &str, projects: &str, error: &'static str) -> (Stub, Host) {
    let stub = Stub::start(move |target: String| async move {
        if target.starts_with("GET ") {
            (403, json!({"error": error}))
        } else {
            (200, json!({"success": true, "stopped": 1, "results": []}))
        }
    })
    .await;
    let host = Host::open(&stub.settings(key, &[("TAS_PROJECTS", projects), ("TAS_TOOLSETS", "all")])).await;

    (stub, host)
}

#[tokio::test]
async fn without_the_permission_to_read_an_id_the_service_decides_about_the_call() {
    let writes = [
        (
            "stop_runs",
            json!({"job_ids": [seed::JOB_RUNNING, seed::JOB_QUEUED], "confirm": true}),
            "POST /project/demo/runs/stop",
        ),
        ("export_tmsys_run", json!({"multiplayer_run_id": "r1"}), "POST /project/demo/runs/export/tmsys"),
    ];
    // The named project, or the only one that is listed.
    for (key, listed, named) in
        [("svc_one", "", true), ("svc_org_one", "", true), ("svc_org_one", "demo", false)]
    {
        let (stub, mut host) = stub_without_reads(key, listed, LACKS_READ).await;
        for (tool, arguments, request) in &writes {
            let arguments = if named { within("demo", arguments.clone()) } else { arguments.clone() };
            host.succeed(tool, arguments).await;
            assert_eq!(stub.requests().pop().as_deref(), Some(*request), "{key}");
        }
    }
}

#[tokio::test]
async fn several_projects_that_can_own_an_unreadable_id_are_a_choice_of_the_caller() {
    let (stub, mut host) = stub_without_reads("svc_org_one", "demo,arena", LACKS_READ).await;
    let error = host.fail("stop_runs", json!({"job_ids": [seed::JOB_RUNNING], "confirm": true})).await;

    assert_eq!(error["code"], "permission_denied");
    assert_eq!(error["details"]["required_permission"], "project:read-runs");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("`project_id`")), "{error}");
    assert!(stub.requests().iter().all(|request| request.starts_with("GET ")), "nothing is written");
}

#[tokio::test]
async fn a_read_that_needs_the_missing_permission_is_not_repeated() {
    let (stub, mut host) = stub_without_reads("svc_one", "", LACKS_READ).await;
    let error = host.fail("list_run_bugs", within("demo", json!({"run_id": "r1"}))).await;

    assert_eq!(error["details"]["required_permission"], "project:read-runs");
    assert!(stub.requests().iter().all(|request| request.ends_with("/runs/r1")), "{:?}", stub.requests());
}

#[tokio::test]
async fn an_id_in_projects_without_access_is_a_refusal_that_names_project_and_id() {
    for (key, listed, project) in
        [("svc_one", "", Some("demo")), ("svc_org_one", "demo", None), ("svc_org_one", "", Some("demo"))]
    {
        let (stub, mut host) = stub_without_reads(key, listed, "API key does not match project").await;
        let stop = ("stop_runs", json!({"job_ids": [seed::JOB_RUNNING], "confirm": true}));
        for ((tool, arguments), id) in [(run("r1"), "r1"), (stop, seed::JOB_RUNNING)] {
            let arguments = project.map_or_else(|| arguments.clone(), |name| within(name, arguments.clone()));
            let error = host.fail(tool, arguments).await;

            assert_eq!(error["code"], "permission_denied", "{key}: {error}");
            assert!(error["message"].as_str().is_some_and(|text| text.contains("`demo`")), "{error}");
            assert!(error["message"].as_str().is_some_and(|text| text.contains(id)), "{error}");
        }
        assert!(stub.requests().iter().all(|request| request.starts_with("GET ")), "nothing is written");
    }
}
