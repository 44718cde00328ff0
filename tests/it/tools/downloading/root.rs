//! Nothing is written outside the files root, whatever the destination and whatever links there are.

use std::sync::Arc;

use std::fs;

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{TOOL, failures, files_below, names_below, open};

fn into(destination: &str) -> Value {
    json!({"run_id": seed::RUN_FAILED, "destination_dir": destination, "patterns": ["agent.log", "*.png"]})
}

#[tokio::test]
async fn a_destination_outside_the_root_is_refused_before_any_request() {
    let (service, root, mut host) = open().await;
    let elsewhere = tempfile::tempdir().expect("a directory");
    let outside = elsewhere.path().to_str().expect("UTF-8");
    let sibling = format!("{}-sibling", root.path().display());

    for name in ["..", "../x", "a/../../x", "a/..", outside, &format!("{outside}/new"), "/", &sibling] {
        let error = host.fail(TOOL, into(name)).await;
        assert_eq!(error["code"], "file_error", "{name}: {error}");
        assert_eq!(error["details"]["path"], name);
    }

    for name in ["nul", "a/con.txt", "a ", "a\\b", "a\u{202e}"] {
        let error = host.fail(TOOL, into(name)).await;
        assert!(error["message"].as_str().expect("a message").contains("cannot be created: it "), "{error}");
    }

    assert_eq!(service.requests().await, [""; 0]);
    assert_eq!((names_below(root.path()), names_below(elsewhere.path())), (vec![], vec![]));
    assert!(!std::path::Path::new(&sibling).exists());
}

#[tokio::test]
async fn the_root_itself_and_absolute_names_below_it_are_destinations() {
    let (_service, root, mut host) = open().await;
    let below = root.path().join("deep/er");
    for (name, expected) in [(".", "agent.log"), (below.to_str().expect("UTF-8"), "deep/er/agent.log")] {
        host.succeed(TOOL, into(name)).await;
        assert!(files_below(root.path()).contains_key(expected), "{name}");
    }
}

#[tokio::test]
async fn a_file_is_not_accepted_as_a_destination() {
    let (_service, root, mut host) = open().await;
    fs::write(root.path().join("taken"), "mine").expect("a file");

    for name in ["taken", "taken/below"] {
        let error = host.fail(TOOL, into(name)).await;
        assert_eq!(error["code"], "file_error", "{error}");
        assert!(error["message"].as_str().expect("a message").contains("is not a directory"), "{error}");
    }

    assert_eq!(fs::read(root.path().join("taken")).expect("a file"), b"mine");
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::{TOOL, Value, failures, files_below, fs, host_and_links, into, names_below};

    #[tokio::test]
    async fn a_destination_behind_a_link_that_leaves_the_root_is_refused() {
        let (_service, root, elsewhere, mut host) = host_and_links().await;
        symlink(elsewhere.path(), root.path().join("link")).expect("a link");
        symlink(elsewhere.path().join("missing"), root.path().join("dangling")).expect("a link");
        symlink("../../..", root.path().join("up")).expect("a link");

        for name in ["link", "link/new", "dangling", "dangling/new", "up/tmp"] {
            let error = host.fail(TOOL, into(name)).await;
            assert_eq!(error["code"], "file_error", "{name}: {error}");
        }

        assert_eq!(names_below(elsewhere.path()), [""; 0]);
        assert!(!elsewhere.path().join("missing").exists() && !elsewhere.path().join("new").exists());
    }

    #[tokio::test]
    async fn a_link_that_stays_inside_the_root_is_followed() {
        let (_service, root, _elsewhere, mut host) = host_and_links().await;
        fs::create_dir(root.path().join("real")).expect("a directory");
        symlink("real", root.path().join("link")).expect("a link");
        host.succeed(TOOL, into("link/new")).await;
        assert_eq!(names_below(&root.path().join("real")), ["new/agent.log", "new/screenshots/end.png"]);
    }

    #[tokio::test]
    async fn a_folder_that_is_a_link_out_of_the_destination_is_refused() {
        // Inside the root, but not inside the destination.
        for is_inside in [false, true] {
            let (_service, root, elsewhere, mut host) = host_and_links().await;
            let target = if is_inside { root.path().join("other") } else { elsewhere.path().to_owned() };
            fs::create_dir_all(&target).expect("a directory");
            fs::create_dir(root.path().join("out")).expect("a directory");
            symlink(&target, root.path().join("out/screenshots")).expect("a link");

            let report: Value = host.succeed(TOOL, into("out")).await;
            let failed = failures(&report);

            assert_eq!((failed.len(), failed[0].0.as_str()), (1, "artifact:screenshots/end.png"));
            assert!(failed[0].2.ends_with("leads out of the destination through a link"), "{failed:?}");
            assert_eq!(names_below(&target), [""; 0]);
            assert!(files_below(&root.path().join("out")).contains_key("agent.log"));
        }
    }

    #[tokio::test]
    async fn nothing_is_written_through_a_link_in_the_place_of_a_file() {
        let (_service, root, elsewhere, mut host) = host_and_links().await;
        let victim = elsewhere.path().join("victim");
        fs::write(&victim, "mine").expect("a file");
        fs::create_dir(root.path().join("out")).expect("a directory");

        for name in ["agent.log", ".agent.log.part", ".agent.log.part.tag"] {
            symlink(&victim, root.path().join("out").join(name)).expect("a link");
        }

        let report = host.succeed(TOOL, into("out")).await;
        let failed = failures(&report);

        assert_eq!((failed.len(), failed[0].0.as_str()), (1, "artifact:agent.log"), "{failed:?}");

        let mut arguments = into("out");
        arguments["overwrite"] = true.into();

        let report = host.succeed(TOOL, arguments).await;

        assert_eq!(report["status"], "downloaded", "{report}");
        assert_eq!(fs::read(&victim).expect("a file"), b"mine");

        let saved = fs::symlink_metadata(root.path().join("out/agent.log")).expect("a file");

        assert!(saved.is_file(), "the link was replaced, and not what it leads to");
        assert_eq!(names_below(&root.path().join("out")), ["agent.log", "screenshots/end.png"]);
    }
}

#[cfg(unix)]
async fn host_and_links()
-> (Arc<crate::support::service::Service>, tempfile::TempDir, tempfile::TempDir, crate::support::host::Host) {
    let (service, root, host) = open().await;
    (service, root, tempfile::tempdir().expect("a directory"), host)
}
