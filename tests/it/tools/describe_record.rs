//! `describe_record`: a record with the names of what it refers to.

use std::sync::Arc;

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    fixture::{Fixture, Session},
    stub::Stub,
    time::SimulatedClock,
};

const TOOL: &str = "describe_record";

async fn describe(arguments: Value) -> Value {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    host.succeed(TOOL, arguments).await
}

/// Returns a field of each entry of a list.
fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a Value> {
    list.as_array().expect("a list").iter().map(|entry| &entry[field]).collect()
}

#[tokio::test]
async fn a_plan_is_described_by_its_name_with_its_tests_slots_and_last_executions() {
    let plan = describe(json!({"record": "Release smoke"})).await;

    assert_eq!((&plan["kind"], &plan["id"]), (&json!("test_plan"), &json!(seed::PLAN_SMOKE)), "{plan}");
    assert!(each(&plan["tests"], "name").contains(&&json!("Pause and resume")), "{plan}");
    assert!(plan["slots"]["1"].is_string(), "{plan}");
    let executions = each(&plan["results"], "id");
    assert!(executions.contains(&&json!(seed::EXECUTION_COMPLETED)), "{plan}");
}

#[tokio::test]
async fn a_test_is_described_with_its_folder_players_plans_and_last_runs() {
    let test = describe(json!({"record": "Pause and resume", "kind": "test"})).await;

    assert!(test["folder_path"].is_string() && test["players"]["1"].is_string(), "{test}");
    assert!(each(&test["plans"], "name").contains(&&json!("Release smoke")), "{test}");
    assert!(each(&test["results"], "test_name").iter().all(|name| **name == "Pause and resume"), "{test}");
    assert!(test["results"][0]["state"].is_string() && test["version"].is_number(), "{test}");
}

#[tokio::test]
async fn a_bug_is_described_with_the_runs_and_builds_where_it_was_seen() {
    let bug = describe(json!({"record": "Player falls through the rope bridge"})).await;

    assert_eq!((&bug["kind"], &bug["severity"]), (&json!("bug"), &json!("critical")), "{bug}");
    let occurrences = bug["occurrences"].as_array().expect("a list");
    assert!(!occurrences.is_empty());
    for one in occurrences {
        let (run, player) =
            (one["run_id"].as_str().expect("an id"), one["player_id"].as_str().expect("an id"));
        assert!(player.starts_with(run) && !player.ends_with("-0"), "{one}");
        assert!(one["run_state"].is_string() && one["build"]["name"].is_string(), "{one}");
    }
    let times: Vec<_> = each(&bug["occurrences"], "detected_at");
    assert!(times.is_sorted_by(|one, other| one.as_str() >= other.as_str()), "{times:?}");
}

#[tokio::test]
async fn a_run_is_described_with_its_project_device_bugs_and_failed_steps() {
    let run = describe(json!({"record": seed::RUN_FAILED})).await;

    assert_eq!((&run["kind"], &run["state"]), (&json!("run"), &json!("FAILED")), "{run}");
    assert_eq!((&run["project_id"], run.get("record")), (&json!("demo"), None));
    assert!(run["devices"][0].is_string() && run["bugs"][0]["title"].is_string(), "{run}");
    assert!(run["failed_steps"][0]["report"].is_string(), "{run}");
}

#[tokio::test]
async fn jobs_executions_builds_and_devices_are_described() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    for (record, kind, field) in [
        (seed::JOB_FAILED, "job", "/results/0/id"),
        (seed::EXECUTION_COMPLETED, "test_plan_execution", "/results/0/run_id"),
        (seed::BUILD_ANDROID, "build", "/version"),
        ("Windows PC", "deployment_config", "/platform"),
    ] {
        let described = host.succeed(TOOL, json!({"record": record})).await;

        assert_eq!(described["kind"], kind, "{described}");
        assert!(described.pointer(field).is_some_and(Value::is_string), "{field}: {described}");
        assert!(described.get("unread").is_none(), "{described}");
    }
}

#[tokio::test]
async fn a_name_that_no_record_has_is_answered_with_the_nearest_records() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;

    let failure = host.fail(TOOL, json!({"record": "Release smok"})).await;

    assert_eq!(failure["code"], "not_found", "{failure}");
    let nearest = &failure["details"]["records"];
    assert!(each(nearest, "name").contains(&&json!("Release smoke")), "{failure}");
}

#[tokio::test]
async fn a_record_of_the_other_project_is_found_by_its_id_in_global_scope() {
    let fixture = Fixture::new().key(keys::ORGANIZATION).variables(&[("TAS_PROJECTS", "demo,arena")]);
    let Session { service: _service, mut host, .. } = fixture.open().await;

    let run = host.succeed(TOOL, json!({"record": seed::ARENA_RUN_PASSED})).await;

    assert_eq!(run["project_id"], "arena", "{run}");
}

#[tokio::test]
async fn what_is_not_answered_within_the_time_limit_is_named() {
    let clock = Arc::<SimulatedClock>::default();
    let expiring = Arc::clone(&clock);
    let stub = Stub::start(move |target| {
        let clock = Arc::clone(&expiring);
        async move {
            if target.contains("/runs") {
                clock.set_time_limits_expire(true);
                std::future::pending::<()>().await;
            }
            (200, json!({"id": seed::BUILD_ANDROID, "name": "Nightly", "platform": "android"}))
        }
    })
    .await;
    let mut session = Fixture::new().simulated_time_by(clock).open_with(stub).await;

    let build = session.host.succeed(TOOL, json!({"record": seed::BUILD_ANDROID, "kind": "build"})).await;

    assert_eq!((&build["name"], &build["results"]), (&json!("Nightly"), &json!([])), "{build}");
    assert_eq!(each(&build["unread"], "what"), ["runs"], "{build}");
}

/// Answers like a service whose plan has 9 tests, that has 40 plans, whose test has 300 runs, and so on.
fn long_answer(target: &str) -> Value {
    let id = |number: usize| format!("00000000-0000-4000-8000-{number:012}");
    let items: Vec<_> =
        (0..9).map(|number| json!({"multiplayer_test_id": id(number), "retries": 0})).collect();
    let seen: Vec<_> = (0..9)
        .map(|number| json!({"multiplayer_run_id": format!("r{number}"), "detected_at": format!("2026-01-0{}T00:00:00Z", number + 1)}))
        .collect();
    let Some((_, query)) = target.split_once('?').filter(|(_, query)| query.contains("page=")) else {
        return json!({"id": id(0), "multiplayer_run_id": "r0", "name": "One", "test_items": items, "occurrences": seen});
    };

    let count = if target.contains("/test-plans?") {
        40
    } else if query.contains("test_plan_id") {
        0
    } else {
        700
    };
    let number: usize = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("page="))
        .expect("a page")
        .parse()
        .expect("a number");
    let of_page = (number * 100)..count.min(number * 100 + 100);
    let data: Vec<_> = of_page.map(|number| json!({"id": id(number), "multiplayer_run_id": format!("r{number}"), "job_id": id(number)})).collect();
    json!({"data": data, "pagination": {"total_pages": count.div_ceil(100), "total_count": count}})
}

#[tokio::test]
async fn a_description_makes_at_most_five_further_requests_and_names_what_it_did_not_read() {
    let id = "00000000-0000-4000-8000-000000000000";
    for (kind, record, unread) in [
        ("test", id, &["folder", "runs, page 2 and after", "38 of 40 plans"][..]),
        ("test_plan", id, &["5 of 9 tests"]),
        ("build", id, &["runs, page 5 and after"]),
        ("bug", "bug_1", &["4 of 9 runs"]),
        ("test_plan_execution", id, &["jobs, page 5 and after"]),
    ] {
        let stub = Stub::start(async |target: String| (200, long_answer(&target))).await;
        let mut session = Fixture::new().open_with(stub).await;
        let described = session.host.succeed(TOOL, json!({"record": record, "kind": kind})).await;

        let requests = session.service.requests();
        assert!((2..=6).contains(&requests.len()), "{kind}: {requests:?}");
        assert_eq!(each(&described["unread"], "what"), unread, "{kind}: {described}");
    }
}

/// Answers like a service with these bugs and tests, and nothing else.
async fn with_names(bugs: Value, tests: Value) -> Session<Stub> {
    let stub = Stub::start(move |target: String| {
        let (bugs, tests) = (bugs.clone(), tests.clone());
        async move {
            let listed = match () {
                () if target.contains("/bugs?") => bugs,
                () if target.contains("/tests?") => tests,
                () if target.contains("page=") => json!([]),
                () => {
                    let id = target.rsplit('/').next().and_then(|end| end.split('?').next());
                    let mut all = bugs.as_array().into_iter().chain(tests.as_array()).flatten();
                    let record = all.find(|record| record["id"].as_str() == id);
                    return record
                        .map_or((404, json!({"error": "not found"})), |record| (200, record.clone()));
                }
            };
            (200, json!({"data": listed, "pagination": {"total_pages": 1}}))
        }
    })
    .await;
    Fixture::new().open_with(stub).await
}

#[tokio::test]
async fn one_record_in_use_is_described_and_the_others_of_its_name_are_listed() {
    let bug = |id: &str, title: &str, status: &str| json!({"id": id, "title": title, "status": status});
    let (active, archived) = (bug("bug_1", "Crash", "active"), bug("bug_2", "Crash", "archived"));
    let (other_case, longer) = (bug("bug_3", "CRASH", "active"), bug("bug_4", "Crashes", "active"));

    for (bugs, described, others) in [
        (json!([archived, active]), Some("bug_1"), &["bug_2"][..]),
        (json!([active, other_case]), Some("bug_1"), &["bug_3"]),
        (json!([other_case]), Some("bug_3"), &[]),
        (json!([active, bug("bug_5", "Crash", "active")]), None, &["bug_1", "bug_5"]),
        (json!([longer]), None, &["bug_4"]),
        (json!([]), None, &[]),
    ] {
        let mut session = with_names(bugs.clone(), json!([])).await;
        let arguments = json!({"record": "Crash"});
        let answer = match described {
            Some(id) => {
                let answer = session.host.succeed(TOOL, arguments).await;
                assert_eq!(answer["id"], id, "{bugs}: {answer}");
                answer["same_name"].clone()
            }
            None => session.host.fail(TOOL, arguments).await["details"]["records"].clone(),
        };
        let listed = answer.as_array().map(|_| each(&answer, "id")).unwrap_or_default();
        assert_eq!(listed, others, "{bugs}: {answer}");
    }
}

#[tokio::test]
async fn a_kind_is_obeyed_and_a_name_may_begin_like_the_id_of_a_bug() {
    let test = json!({"id": "t1", "name": "bug_report_form", "folder_path": "/a"});
    let bug = json!({"id": "bug_7", "title": "bug_report_form", "status": "active"});
    for (arguments, bugs, expected) in [
        (json!({"record": "bug_report_form", "kind": "test"}), json!([bug]), "test"),
        (json!({"record": "bug_report_form", "kind": "bug"}), json!([bug]), "bug"),
        (json!({"record": "bug_report_form"}), json!([]), "test"),
        (json!({"record": "bug_7"}), json!([bug]), "bug"),
    ] {
        let mut session = with_names(bugs, json!([test])).await;
        let described = session.host.succeed(TOOL, arguments.clone()).await;
        assert_eq!(described["kind"], expected, "{arguments}: {described}");
    }
}

#[tokio::test]
async fn bugs_and_lists_that_were_not_read_are_named() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let bugs = json!({"data": [{"bug_id": "bug_1"}], "pagination": {"total_count": 30}});
    service.fault(json!({"operation": "list_run_bugs", "body": bugs})).await;
    let run = host.succeed(TOOL, json!({"record": seed::RUN_FAILED})).await;
    assert_eq!(each(&run["unread"], "what"), ["29 of 30 bugs"], "{run}");

    let lacking = json!({"error": "Missing required permission: project:manage-build-storage"});
    service.fault(json!({"operation": "list_builds", "status": 403, "body": &lacking})).await;
    let plan = host.succeed(TOOL, json!({"record": "Release smoke"})).await;
    assert_eq!(each(&plan["unread"], "what"), ["other records with this name"], "{plan}");

    service.fault(json!({"operation": "get_build", "status": 403, "body": lacking})).await;
    let device = host.succeed(TOOL, json!({"record": seed::CONFIG_WINDOWS})).await;
    assert_eq!(device["kind"], "deployment_config", "{device}");
}
