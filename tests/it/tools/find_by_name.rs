//! `find_by_name`.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    fixture::{Fixture, Session},
    stub::Stub,
};

const TOOL: &str = "find_by_name";

/// The page that `target` requests of a list with `count` records. `record` makes the record with a number.
fn page(target: &str, count: usize, record: impl Fn(usize) -> Value) -> (u16, Value) {
    let query = target.split_once('?').expect("a query").1;
    let number = query.split('&').find_map(|pair| pair.strip_prefix("page=")).expect("a page");
    let first = number.parse::<usize>().expect("a number") * 100;
    let data: Vec<_> = (first..count.min(first + 100)).map(record).collect();
    let pagination = json!({"page": first / 100, "page_size": 100, "total_count": count, "total_pages": count.div_ceil(100)});

    (200, json!({"data": data, "pagination": pagination}))
}

fn test(number: usize) -> Value {
    json!({"id": format!("t{number}"), "name": format!("Level {number}"), "type": "task", "folder_id": null, "folder_path": "/a"})
}

/// Returns the kinds and names of the records for each name, and how they match.
fn found(answer: &Value) -> Vec<(String, Vec<(String, String)>)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let records = |result: &Value| {
        let records = result["records"].as_array().expect("a list");
        records.iter().map(|record| (text(&record["kind"]), text(&record["name"]))).collect()
    };
    let results = answer["results"].as_array().expect("a list");
    results.iter().map(|result| (text(&result["match"]), records(result))).collect()
}

fn pair(kind: &str, name: &str) -> (String, String) {
    (kind.to_owned(), name.to_owned())
}

#[tokio::test]
async fn one_call_finds_records_of_several_kinds_by_name() {
    let mut session = Fixture::new().open().await;
    let names = ["windows pc", "Release smoke", "Android phones, lab", "no such thing at all"];
    let answer = session.host.succeed(TOOL, json!({"names": names})).await;

    let found = found(&answer);
    assert_eq!(found[0], ("case".to_owned(), vec![pair("deployment_config", "Windows PC")]));
    assert_eq!(found[1], ("exact".to_owned(), vec![pair("test_plan", "Release smoke")]));
    assert_eq!(found[2].0, "beginning");
    assert!(found[2].1.contains(&pair("deployment_config", "Android phones, lab B")), "{found:?}");
    assert_eq!(found[3], ("none".to_owned(), vec![]));
    let config = &answer["results"][0]["records"][0];
    assert_eq!((&config["id"], &config["platform"]), (&json!(seed::CONFIG_WINDOWS), &json!("windows")));
    assert!(answer["unread"].is_null(), "{answer}");
}

#[tokio::test]
async fn plans_are_found_with_slots_tests_with_players_and_builds_with_pinned_and_version() {
    let mut session = Fixture::new().open().await;
    let names = [seed::PLAN_CROSS_PLATFORM, seed::TEST_TWO_PLAYERS, "Release smok", seed::BUILD_ANDROID];
    let answer = session.host.succeed(TOOL, json!({"names": names})).await;
    let record = |place: usize| &answer["results"][place]["records"][0];

    let plan = json!({"test_plan_id": seed::PLAN_CROSS_PLATFORM});
    let plan = session.host.succeed("get_test_plan", plan).await;
    let (first, second) = (&plan["default_slot_name"], &plan["slots"][0]["name"]);
    let slots = &record(0)["slots"];
    assert_eq!((&slots["1"], &slots["2"]), (first, second), "{answer}");
    assert_eq!(slots.as_object().map(serde_json::Map::len), Some(3));
    assert_eq!(record(1)["players"].as_object().map(serde_json::Map::len), Some(2), "{answer}");
    assert_eq!((&record(2)["slots"], &answer["unread"]), (&Value::Null, &Value::Null), "only a part");
    let build = (&record(3)["pinned"], &record(3)["version"]);
    assert_eq!(build, (&json!(false), &json!("1.4.0")), "{answer}");
}

#[tokio::test]
async fn a_record_is_found_even_if_its_players_cannot_be_read() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    service.fault(json!({"operation": "get_test", "status": 403, "body": {"error": "no"}})).await;
    let answer = host.succeed(TOOL, json!({"names": [seed::TEST_PASSES], "kinds": ["test"]})).await;

    assert_eq!(found(&answer)[0].0, "exact");
    assert_eq!(answer["unread"][0]["what"], format!("details of {}", seed::TEST_PASSES));
    assert_eq!(answer["incomplete"], true);
}

#[tokio::test]
async fn kinds_limit_the_lists_that_are_read() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let arguments = json!({"names": ["Windows PC"], "kinds": ["build", "deployment_config", "build"]});
    let answer = host.succeed(TOOL, arguments).await;

    assert_eq!(found(&answer)[0].1, [pair("deployment_config", "Windows PC")]);
    assert_eq!(service.requests().await.len(), 2);

    // Tests are searched in all folders, which are not found themselves.
    let folders = host.succeed("list_test_folders", json!({"fields": "name"})).await;
    let answer = host.succeed(TOOL, json!({"names": [folders["data"][0]["name"]], "kinds": ["test"]})).await;
    assert!(found(&answer)[0].1.iter().all(|(kind, _)| kind == "test"), "{answer}");
}

#[tokio::test]
async fn every_page_is_read_with_at_most_eight_requests_at_a_time() {
    let (open, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, highest) = (Arc::clone(&open), Arc::clone(&most));
    let stub = Stub::start(move |target| {
        let (open, most) = (Arc::clone(&counted), Arc::clone(&highest));
        async move {
            if target.contains("/tests/t2999") {
                return (200, test(2_999));
            }
            most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // The other requests arrive before this one is answered.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            open.fetch_sub(1, Ordering::SeqCst);
            let is_long = target.contains("/tests?") || target.contains("/builds?");
            page(&target, if is_long { 3_000 } else { 0 }, test)
        }
    })
    .await;
    let mut session = Fixture::new().open_with(stub).await;
    let answer = session.host.succeed(TOOL, json!({"names": ["level 2999"]})).await;

    let expected = vec![pair("test", "Level 2999"), pair("build", "Level 2999")];
    assert_eq!(found(&answer), [("case".to_owned(), expected)]);
    // 30 pages of tests and of builds, one page of each of the six other lists, and the test that was found.
    assert_eq!(session.service.requests().len(), 67);
    assert!((2..=8).contains(&most.load(Ordering::SeqCst)), "{most:?} at a time");
}

#[tokio::test]
async fn a_list_is_read_up_to_fifty_pages_and_the_rest_is_reported() {
    let stub = Stub::start(async |target: String| page(&target, 5_001, test)).await;
    let mut session = Fixture::new().open_with(stub).await;
    let answer = session.host.succeed(TOOL, json!({"names": ["x"], "kinds": ["test"]})).await;

    assert_eq!(session.service.requests().len(), 50);
    assert_eq!(answer["unread"][0]["what"], "list_tests, page 50 and after");
}

/// The service may list only the tests of the root if no folder is named (service.md 6.1).
#[tokio::test]
async fn the_tests_of_folders_are_read_if_the_list_shows_only_the_root() {
    let stub = Stub::start(async |target: String| {
        if target.contains("/test-folders?") {
            page(&target, 2, |number| json!({"id": format!("f{number}"), "name": "Folder", "path": "Folder"}))
        } else if target.contains("/tests/t0") {
            (200, test(0))
        } else if target.contains("folder_id=f1") {
            page(&target, 1, test)
        } else {
            page(&target, 0, test)
        }
    })
    .await;
    let mut session = Fixture::new().open_with(stub).await;
    let answer = session.host.succeed(TOOL, json!({"names": ["Level 0"], "kinds": ["test"]})).await;

    assert_eq!(found(&answer), [("exact".to_owned(), vec![pair("test", "Level 0")])]);
    assert_eq!(answer["results"][0]["records"][0].get("players"), None, "it has none: {answer}");
    // The tests of the root, the folders, the tests of both folders, and the test that was found.
    assert_eq!(session.service.requests().len(), 5);
}

#[tokio::test]
async fn a_name_is_incomplete_although_one_record_has_it_if_a_page_could_not_be_read() {
    let lacking = "Missing required permission: project:read-runs";
    for (status, error, why, has_repeat) in [
        (404, "not found", "not found", true),
        (401, "the key has expired", "the key has expired", false),
        (403, lacking, "the key lacks the permission `project:read-runs`", false),
    ] {
        let stub = Stub::start(move |target: String| async move {
            match () {
                () if target.contains("/tests/") => (200, test(7)),
                () if target.contains("page=0&") => page(&target, 250, test),
                () => (status, json!({"error": error})),
            }
        })
        .await;
        let mut session = Fixture::new().open_with(stub).await;
        let answer = session.host.succeed(TOOL, json!({"names": ["Level 7"], "kinds": ["test"]})).await;

        assert_eq!(found(&answer), [("incomplete".to_owned(), vec![pair("test", "Level 7")])]);
        assert_eq!(answer["results"][0]["records"][0]["match"], "exact");
        assert_eq!(
            (answer["repeat"].is_string(), &answer["incomplete"]),
            (has_repeat, &json!(true)),
            "{answer}"
        );
        let unread = &answer["unread"];
        assert!(
            unread[0]["what"].as_str().is_some_and(|what| what.starts_with("list_tests, page 1")),
            "{answer}"
        );
        assert!(unread[0]["why"].as_str().is_some_and(|said| said.contains(why)), "{answer}");
        // A cause is named once for everything that it keeps unread.
        assert_eq!(unread.as_array().map(Vec::len), Some(1), "{answer}");
    }
}

#[tokio::test]
async fn a_missing_permission_is_named_once_and_nothing_is_to_be_repeated() {
    let mut session = Fixture::new().key(keys::POWERLESS).open().await;
    let answer = session.host.succeed(TOOL, json!({"names": ["Release smoke", "Windows PC"]})).await;

    let unread: Vec<_> = answer["unread"].as_array().expect("a list").iter().collect();
    let needing = |permission: &str| {
        unread.iter().filter(|one| one["why"].as_str().is_some_and(|why| why.contains(permission))).count()
    };
    for permission in ["project:read-runs", "project:manage-build-storage", "project:view-configs"] {
        assert_eq!((needing(permission), answer.to_string().matches(permission).count()), (1, 1), "{answer}");
    }
    assert_eq!((&answer["incomplete"], answer.get("repeat")), (&json!(true), None), "{answer}");
    assert!(found(&answer).iter().all(|(how, _)| how == "incomplete"), "{answer}");
    let first = answer.as_object().and_then(|fields| fields.keys().next());
    assert_eq!(first.map(String::as_str), Some("incomplete"));
}

#[tokio::test]
async fn records_in_other_case_follow_and_the_nearest_begin_with_the_name_or_contain_it() {
    const NAMES: [&str; 7] =
        ["LOGIN", "Login", "Log out", "Login of Zoe\u{301}", "Second login page", "Second login", "Logon"];
    let stub = Stub::start(async |target: String| {
        if target.contains("/test-folders?") {
            return page(&target, 0, test);
        }
        if !target.contains("/tests?") {
            return (200, json!({}));
        }
        page(
            &target,
            NAMES.len(),
            |number| json!({"id": format!("t{number}"), "name": NAMES[number], "folder_path": "/a"}),
        )
    })
    .await;
    let mut session = Fixture::new().open_with(stub).await;
    let asked = [" Login", "login", "logi", "in of zo\u{e9}", "zzz", " "];
    let answer = session.host.succeed(TOOL, json!({"names": asked, "kinds": ["test"]})).await;

    let tests = |names: &[&str]| names.iter().map(|name| pair("test", name)).collect::<Vec<_>>();
    let nearest = tests(&["LOGIN", "Login", "Login of Zoe\u{301}", "Second login", "Second login page"]);
    let expected = [
        ("exact".to_owned(), tests(&["Login", "LOGIN"])),
        ("case".to_owned(), tests(&["LOGIN", "Login"])),
        ("beginning".to_owned(), nearest),
        ("part".to_owned(), tests(&["Login of Zoe\u{301}"])),
        ("none".to_owned(), vec![]),
        ("none".to_owned(), vec![]),
    ];
    assert_eq!(found(&answer), expected);
    let matches = answer["results"][0]["records"].as_array().expect("a list").iter().map(|one| &one["match"]);
    assert_eq!(matches.collect::<Vec<_>>(), ["exact", "case"]);
}

#[tokio::test]
async fn of_many_records_that_contain_a_name_ten_are_shown_and_the_others_counted() {
    let stub = Stub::start(async |target: String| page(&target, 25, test)).await;
    let mut session = Fixture::new().open_with(stub).await;
    let answer = session.host.succeed(TOOL, json!({"names": ["level"], "kinds": ["test"]})).await;

    assert_eq!((found(&answer)[0].1.len(), &answer["results"][0]["more"]), (10, &json!(15)), "{answer}");
}

#[tokio::test]
async fn the_call_fails_if_no_list_can_be_read() {
    let mut session = Fixture::new().key(keys::ORGANIZATION).open().await;
    let error = session.host.fail(TOOL, json!({"names": ["Windows PC"], "kinds": ["test", "build"]})).await;

    assert_eq!(error["code"], "project_required", "{error}");
}

#[tokio::test]
async fn one_to_twenty_names_are_searched() {
    let mut session = Fixture::new().open().await;

    for (names, path) in [(vec![], "names"), (vec!["x"; 21], "names"), (vec![""], "names.0")] {
        let violations = session.host.violations(TOOL, json!({"names": names})).await;
        assert!(violations.len() == 1 && violations[0].starts_with(path), "{violations:?}");
    }
}
