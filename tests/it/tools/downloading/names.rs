//! Names that the service chooses are taken as they are, or refused.

use serde_json::{Value, json};
use tas_mcp::{sandbox::seed, tools::files::file_name};

use super::{TOOL, all_of, failures, files_below, names_below, open, player, served};
use crate::support::{host::Host, service::Service};

/// A run that lists files of these names, and last one that is there.
async fn listing(service: &Service, host: &mut Host, names: &[&str]) {
    let mut run = host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await;
    let files = run["players"][0]["artifacts"].as_array().expect("files").clone();
    let log = files.iter().find(|file| file["filename"] == "agent.log").expect("a log");
    let with_name = |name: &&str| {
        let mut file = log.clone();
        file["filename"] = json!(name);
        file
    };

    run["players"][0]["artifacts"] = names.iter().map(with_name).chain([log.clone()]).collect();
    service.fault(json!({"operation": "get_run", "body": run})).await;
}

const REFUSED: [(&str, &str); 31] = [
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
    (".agent.log.part", "is reserved for files that are incomplete"),
];

/// What nobody sees does not even come so far: it is taken out of every answer of the service.
const HIDDEN: [(&str, &str); 4] = [
    ("a\0b", "has a control character"),
    ("a\u{1b}[31m", "has a control character"),
    ("a\u{202e}gpj.exe", "has an invisible character"),
    ("a\u{200b}", "has an invisible character"),
];

#[tokio::test]
async fn names_with_invisible_or_special_characters_are_refused() {
    for (name, reason) in HIDDEN {
        assert_eq!(file_name::path_problem(name), Some(reason), "{name:?}");
    }

    let (service, root, mut host) = open().await;
    listing(&service, &mut host, &HIDDEN.map(|(name, _)| name)).await;
    host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    assert_eq!(names_below(&root.path().join("out")), ["a", "a[31m", "ab", "agent.log", "agpj.exe"]);
}

#[tokio::test]
async fn refused_names_do_not_stop_the_other_files() {
    let (service, root, mut host) = open().await;
    let long = ["x".repeat(241), "x/".repeat(501) + "x"];
    let names: Vec<_> =
        REFUSED.iter().map(|(name, _)| *name).chain(long.iter().map(String::as_str)).collect();

    listing(&service, &mut host, &names).await;
    let report = host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    assert_eq!((&report["status"], &report["file_count"]), (&json!("incomplete"), &json!(1)));

    let failed = failures(&report);
    let reasons =
        REFUSED.iter().map(|(_, reason)| *reason).chain(["has a segment that is too long", "is too long"]);

    assert_eq!(failed.len(), names.len());
    for ((_, code, message), reason) in failed.iter().zip(reasons) {
        assert_eq!(code, "file_error");
        assert!(message.ends_with(&format!("is refused: the name {reason}")), "{message}: {reason}");
    }

    assert_eq!(names_below(root.path()), ["out/agent.log"]);

    let fetched = service.requests().await.into_iter().filter(|line| line.contains("/artifacts/"));

    assert_eq!(fetched.count(), 1, "nothing is asked for a name that is refused");
}

#[test]
fn ordinary_names_are_accepted() {
    let long = "x".repeat(240);
    for fine in [
        "a",
        ".hidden",
        "a b",
        "a.b.c",
        "..a",
        "a..b",
        "...a",
        "ä/ö/ü.log",
        "日本/語.txt",
        "console.log",
        "com",
        "com10",
        "lpt",
        "nullable",
        "a-con",
        "👩‍👩‍👧.png",
        "-rf",
        "~",
        "$HOME",
        "a#b?c%d",
        &long,
    ] {
        let is_windows_only = cfg!(windows) && fine.contains('?');
        assert_eq!(file_name::path_problem(fine).is_some(), is_windows_only, "{fine}");
    }
}

#[tokio::test]
async fn two_files_with_one_local_name_are_not_both_saved() {
    let (service, root, mut host) = open().await;
    listing(&service, &mut host, &["AGENT.log"]).await;
    service.fault(json!({"operation": "get_run_artifact", "body": "x", "status": 200})).await;

    let report = host.fail(TOOL, all_of(seed::RUN_FAILED)).await;

    // The first has another size than listed, and the second has no place.
    assert_eq!(report["details"]["failed_count"], 2, "{report}");
    assert!(report.to_string().contains("is the name of another file of this run"), "{report}");
    assert_eq!(names_below(root.path()), [""; 0]);
}

#[tokio::test]
async fn unusual_names_are_requested_unchanged() {
    let (service, root, mut host) = open().await;
    let body = served(&service, &player(seed::RUN_FAILED, 1), "agent.log").await;
    let text = String::from_utf8(body.clone()).expect("UTF-8");

    listing(&service, &mut host, &["a b#c%2F?d.log"]).await;
    service.fault(json!({"operation": "get_run_artifact", "body": text, "status": 200, "times": 2})).await;

    let mut arguments = all_of(seed::RUN_FAILED);
    arguments["patterns"] = json!(["a b*"]);

    let report = host.succeed(TOOL, arguments).await;
    let saved = files_below(&root.path().join("out"));

    assert_eq!(report["status"], "downloaded", "{report}");
    assert!(saved["a b#c%2F?d.log"] == body);
}

#[tokio::test]
async fn a_name_inside_an_existing_file_fails_alone() {
    let (service, root, mut host) = open().await;
    std::fs::create_dir(root.path().join("out")).expect("a directory");
    std::fs::write(root.path().join("out/a"), "mine").expect("a file");
    listing(&service, &mut host, &["a/b.log"]).await;

    let report = host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    assert!(failures(&report)[0].2.ends_with("would be inside a path that is a file"), "{report}");
    assert_eq!(names_below(&root.path().join("out")), ["a", "agent.log"]);
}

#[tokio::test]
async fn an_invalid_listing_is_reported() {
    let (service, _root, mut host) = open().await;
    let body = |players: Value| json!({"multiplayer_run_id": seed::RUN_FAILED, "players": players});

    for players in [json!(null), json!("x"), json!([1, null, {}])] {
        service.fault(json!({"operation": "get_run", "body": body(players)})).await;
        let report: Value = host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;
        assert_eq!(report["file_count"], 0);
    }

    let nothing_named = json!([{"artifacts": [null, 1, {"size": "x"}]}]);
    service.fault(json!({"operation": "get_run", "body": body(nothing_named)})).await;

    let error = host.fail(TOOL, all_of(seed::RUN_FAILED)).await;

    assert_eq!((&error["code"], &error["details"]["failed_count"]), (&json!("bad_response"), &json!(3)));
}

/// Whatever comes first.
#[tokio::test]
async fn a_file_whose_name_is_a_directory_of_another_is_refused() {
    let (service, root, mut host) = open().await;
    listing(&service, &mut host, &["AGENT.log/under"]).await;
    service.fault(json!({"operation": "get_run_artifact", "body": "x", "status": 200})).await;

    let report = host.fail(TOOL, all_of(seed::RUN_FAILED)).await;

    // The other one has another size than listed.
    assert_eq!(report["details"]["failed_count"], 2, "{report}");
    assert!(
        report.to_string().contains("`agent.log` is the directory of another file of this run"),
        "{report}"
    );
    assert_eq!(names_below(root.path()), [""; 0]);
}

#[tokio::test]
async fn a_file_without_a_name_is_reported() {
    let (service, root, mut host) = open().await;
    let mut run = host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await;
    let files = run["players"][0]["artifacts"].as_array_mut().expect("files");

    for file in files.iter_mut().filter(|file| file["filename"] != "agent.log") {
        file.as_object_mut().expect("a file").remove("filename");
    }

    let nameless = files.len() - 1;
    service.fault(json!({"operation": "get_run", "body": run})).await;

    let report = host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    assert_eq!((&report["status"], &report["file_count"]), (&json!("incomplete"), &json!(1)));

    let failed = failures(&report);

    assert_eq!(failed.len(), nameless);

    let said = "get_run: an artifact is listed without a `filename`";
    let expected = ("artifact:".to_owned(), "bad_response".to_owned(), said.to_owned());

    assert!(failed.iter().all(|one| *one == expected), "{failed:?}");
    assert_eq!(names_below(root.path()), ["out/agent.log"]);
}
