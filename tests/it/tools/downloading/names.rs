//! File names of the service are used unchanged, or refused.

use serde_json::{Value, json};
use tas_mcp::{sandbox::seed, tools::files::path_problem};

use super::{TOOL, all_of, failures, files_below, fixture, names_below, out, player, served, with};
use crate::support::fixture::Session;

/// Lets the service list files with these names, and after them a file that exists.
async fn list_files(session: &mut Session, names: &[&str]) {
    let mut run = session.host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await;
    let files = run["players"][0]["artifacts"].as_array().expect("files").clone();
    let log = files.iter().find(|file| file["filename"] == "agent.log").expect("a log");
    let with_name = |name: &&str| {
        let mut file = log.clone();
        file["filename"] = json!(name);
        file
    };

    run["players"][0]["artifacts"] = names.iter().map(with_name).chain([log.clone()]).collect();
    session.service.fault(json!({"operation": "get_run", "body": run})).await;
}

/// Names that are refused, and the reason.
const REFUSED: [(&str, &str); 37] = [
    ("", "is empty"),
    ("/etc/passwd", "is absolute"),
    ("//host/share", "is absolute"),
    ("C:/a", "is absolute"),
    ("c:a", "is absolute"),
    ("a/C:b", "has a drive letter"),
    ("..", "has the segment `..`"),
    ("../a", "has the segment `..`"),
    ("a/../../b", "has the segment `..`"),
    ("a/..", "has the segment `..`"),
    (".", "has the segment `.`"),
    ("a/./b", "has the segment `.`"),
    ("a//b", "has an empty segment"),
    ("a/", "has an empty segment"),
    ("..\\a", "has a backslash"),
    ("\\\\host\\share", "has a backslash"),
    ("a\nb", "has a control character"),
    ("a.", "has a segment that ends with a dot or a space"),
    ("a ", "has a segment that ends with a dot or a space"),
    ("...", "has a segment that ends with a dot or a space"),
    ("a./b", "has a segment that ends with a dot or a space"),
    ("CON", "has a segment that Windows takes for a device"),
    ("con.txt", "has a segment that Windows takes for a device"),
    ("a/Nul", "has a segment that Windows takes for a device"),
    ("aux.tar.gz", "has a segment that Windows takes for a device"),
    ("COM1", "has a segment that Windows takes for a device"),
    ("lpt9.log", "has a segment that Windows takes for a device"),
    ("com¹", "has a segment that Windows takes for a device"),
    ("conin$", "has a segment that Windows takes for a device"),
    ("PRN .txt", "has a segment that Windows takes for a device"),
    (".agent.log.part", "has a segment that begins with a dot, as files do that programs act on"),
    (".mcp.json", "has a segment that begins with a dot, as files do that programs act on"),
    (".claude/settings.json", "has a segment that begins with a dot, as files do that programs act on"),
    ("a/.git/config", "has a segment that begins with a dot, as files do that programs act on"),
    ("...a", "has a segment that begins with a dot, as files do that programs act on"),
    ("-rf", "has a segment that begins with `-`, as options of programs do"),
    ("a/--help", "has a segment that begins with `-`, as options of programs do"),
];

/// Names with characters that are removed from every answer of the service before the name is checked.
const HIDDEN: [(&str, &str); 4] = [
    ("a\0b", "has a control character"),
    ("a\u{1b}[31m", "has a control character"),
    ("a\u{202e}gpj.exe", "has an invisible character"),
    ("a\u{200b}", "has an invisible character"),
];

#[tokio::test]
async fn names_with_invisible_or_special_characters_are_refused() {
    for (name, reason) in HIDDEN {
        assert_eq!(path_problem(name), Some(reason), "{name:?}");
    }

    let mut session = fixture().open().await;
    list_files(&mut session, &HIDDEN.map(|(name, _)| name)).await;
    let report = session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    assert_eq!(failures(&report).len(), HIDDEN.len(), "{report}");
    assert_eq!(names_below(&out(&session)), ["agent.log"]);
}

#[tokio::test]
async fn refused_names_do_not_stop_the_other_files() {
    let mut session = fixture().open().await;
    // The suffix of a partial file must fit into the limit of a name, which is 255 bytes.
    let long = ["x".repeat(241), "x/".repeat(501) + "x"];
    let names: Vec<_> =
        REFUSED.iter().map(|(name, _)| *name).chain(long.iter().map(String::as_str)).collect();

    list_files(&mut session, &names).await;
    let report = session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    assert_eq!((&report["status"], &report["file_count"]), (&json!("incomplete"), &json!(1)));

    let failed = failures(&report);
    let reasons =
        REFUSED.iter().map(|(_, reason)| *reason).chain(["has a segment that is too long", "is too long"]);

    assert_eq!(failed.len(), names.len());
    for ((_, code, message), reason) in failed.iter().zip(reasons) {
        assert_eq!(code, "file_error");
        assert!(message.ends_with(&format!("is refused: the name {reason}")), "{message}: {reason}");
    }

    assert_eq!(names_below(&out(&session)), ["agent.log"]);

    let fetched = session.service.requests().await.into_iter().filter(|line| line.contains("/artifacts/"));

    assert_eq!(fetched.count(), 1, "a file with a refused name is not requested");
}

#[test]
fn ordinary_names_are_accepted() {
    let long = "x".repeat(240);

    for name in [
        "a",
        "a b",
        "a.b.c",
        "a..b",
        "ä/ö/ü.log",
        "日本/語.txt",
        "console.log",
        "com",
        "com10",
        "lpt",
        "nullable",
        "a-con",
        "👩‍👩‍👧.png",
        "~",
        "$HOME",
        "a#b?c%d",
        &long,
    ] {
        // Windows allows no question mark in a file name.
        let is_windows_only = cfg!(windows) && name.contains('?');
        assert_eq!(path_problem(name).is_some(), is_windows_only, "{name}");
    }
}

#[tokio::test]
async fn two_files_with_one_local_name_are_not_both_saved() {
    let mut session = fixture().open().await;
    list_files(&mut session, &["AGENT.log"]).await;
    session.service.fault(json!({"operation": "get_run_artifact", "body": "x", "status": 200})).await;

    let report = session.host.fail(TOOL, all_of(seed::RUN_FAILED)).await;

    // The first file has another size than listed, and the name of the second file is taken.
    assert_eq!(report["details"]["failed_count"], 2, "{report}");
    assert!(report.to_string().contains("is the name of another file of this run"), "{report}");
    assert_eq!(names_below(session.root()), [""; 0]);
}

#[tokio::test]
async fn unusual_names_are_requested_unchanged() {
    let mut session = fixture().open().await;
    let body = served(&session.service, &player(seed::RUN_FAILED, 1), "agent.log").await;
    let text = String::from_utf8(body.clone()).expect("UTF-8");

    list_files(&mut session, &["a b#c%2F?d.log"]).await;
    session
        .service
        .fault(json!({"operation": "get_run_artifact", "body": text, "status": 200, "times": 2}))
        .await;

    let mut arguments = all_of(seed::RUN_FAILED);
    arguments["patterns"] = json!(["a b*"]);

    let report = session.host.succeed(TOOL, arguments).await;
    let saved = files_below(&out(&session));

    assert_eq!(report["status"], "downloaded", "{report}");
    assert!(saved["a b#c%2F?d.log"] == body);
}

#[tokio::test]
async fn only_the_name_inside_an_existing_file_fails() {
    let mut session = fixture().open().await;
    std::fs::create_dir_all(out(&session)).expect("a directory");
    std::fs::write(out(&session).join("a"), "mine").expect("a file");
    list_files(&mut session, &["a/b.log"]).await;

    let agreed = with(seed::RUN_FAILED, json!({"confirm": true}));
    let report = session.host.succeed(TOOL, agreed).await;

    assert!(failures(&report)[0].2.contains("cannot be written: "), "{report}");
    assert_eq!(names_below(&out(&session)), ["a", "agent.log"]);
}

#[tokio::test]
async fn an_invalid_listing_is_reported() {
    let mut session = fixture().open().await;
    let body = |players: Value| json!({"multiplayer_run_id": seed::RUN_FAILED, "players": players});

    for players in [json!(null), json!("x"), json!([1, null, {}])] {
        session.service.fault(json!({"operation": "get_run", "body": body(players)})).await;
        let report: Value = session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;
        assert_eq!(report["file_count"], 0);
    }

    let without_names = json!([{"artifacts": [null, 1, {"size": "x"}]}]);
    session.service.fault(json!({"operation": "get_run", "body": body(without_names)})).await;

    let error = session.host.fail(TOOL, all_of(seed::RUN_FAILED)).await;

    assert_eq!((&error["code"], &error["details"]["failed_count"]), (&json!("file_error"), &json!(3)));
}
