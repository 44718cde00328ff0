//! No destination and no link leads to a file outside the files root.

use std::fs;

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{TOOL, failures, files_below, fixture, names_below, out};

/// Returns the arguments that save two files in a destination.
fn into(destination: &str) -> Value {
    json!({"run_id": seed::RUN_FAILED, "destination_dir": destination, "patterns": ["agent.log", "*.png"]})
}

#[tokio::test]
async fn a_destination_outside_the_root_is_refused_before_any_request() {
    let mut session = fixture().open().await;
    let elsewhere = tempfile::tempdir().expect("a directory");
    let outside = elsewhere.path().to_str().expect("UTF-8");
    // The name of the sibling begins with the name of the root. A comparison of texts would accept it.
    let sibling = format!("{}-sibling", session.root().display());

    for name in ["..", "../x", "a/../../x", "a/..", outside, &format!("{outside}/new"), "/", &sibling] {
        let error = session.host.fail(TOOL, into(name)).await;
        assert_eq!(error["code"], "file_error", "{name}: {error}");
        assert!(error["details"]["path"].as_str().is_some_and(|path| path.starts_with(name)), "{error}");
    }

    for name in ["nul", ".git/hooks", "a/.claude", "-x", "a/con.txt", "a ", "a\\b", "a\u{202e}"] {
        let error = session.host.fail(TOOL, into(name)).await;
        assert!(error["message"].as_str().expect("a message").contains("cannot be used: it "), "{error}");
    }

    assert_eq!(session.service.requests().await, [""; 0]);
    assert_eq!((names_below(session.root()), names_below(elsewhere.path())), (vec![], vec![]));
    assert!(!std::path::Path::new(&sibling).exists());
}

/// The id is the name of the directory of the files: as a path it would lead out of the destination.
#[tokio::test]
async fn an_id_that_is_a_path_is_refused_before_any_request() {
    let mut session = fixture().open().await;
    let absolute = session.root().join("src").display().to_string();

    for id in [absolute.as_str(), "a/b"] {
        let call = json!({"run_id": id, "destination_dir": "out"});
        let error = session.host.fail(TOOL, call).await;
        assert!(error["message"].to_string().contains("must be an id"), "{id}: {error}");
    }
    assert_eq!(session.service.requests().await, [""; 0]);
    assert_eq!(names_below(session.root()), [""; 0]);
}

#[tokio::test]
async fn the_root_itself_and_absolute_names_below_it_are_destinations() {
    let mut session = fixture().open().await;
    let below = session.root().join("deep/er");
    for (name, directory) in
        [(".", session.root().to_owned()), (below.to_str().expect("UTF-8"), below.clone())]
    {
        session.host.succeed(TOOL, into(name)).await;
        assert!(directory.join(seed::RUN_FAILED).join("agent.log").is_file(), "{name}");
    }
}

#[tokio::test]
async fn a_file_is_not_accepted_as_a_destination() {
    let mut session = fixture().open().await;
    fs::write(session.root().join("taken"), "mine").expect("a file");

    for name in ["taken", "taken/below"] {
        let error = session.host.fail(TOOL, into(name)).await;
        assert_eq!(error["code"], "file_error", "{error}");
        assert!(error["message"].as_str().expect("a message").contains("is not a directory"), "{error}");
    }

    assert_eq!(fs::read(session.root().join("taken")).expect("a file"), b"mine");
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use tempfile::tempdir;

    use super::{TOOL, Value, failures, files_below, fixture, fs, into, names_below, out, seed};

    #[tokio::test]
    async fn a_destination_behind_a_link_that_leaves_the_root_is_refused() {
        let mut session = fixture().open().await;
        let elsewhere = tempdir().expect("a directory");
        symlink(elsewhere.path(), session.root().join("link")).expect("a link");
        symlink(elsewhere.path().join("missing"), session.root().join("dangling")).expect("a link");
        symlink("../../..", session.root().join("up")).expect("a link");

        for name in ["link", "link/new", "dangling", "dangling/new", "up/tmp"] {
            let error = session.host.fail(TOOL, into(name)).await;
            assert_eq!(error["code"], "file_error", "{name}: {error}");
        }

        assert_eq!(names_below(elsewhere.path()), [""; 0]);
        assert!(!elsewhere.path().join("missing").exists() && !elsewhere.path().join("new").exists());
    }

    #[tokio::test]
    async fn a_link_that_stays_inside_the_root_is_followed() {
        let mut session = fixture().open().await;
        fs::create_dir(session.root().join("real")).expect("a directory");
        symlink("real", session.root().join("link")).expect("a link");
        session.host.succeed(TOOL, into("link/new")).await;
        assert_eq!(
            names_below(&session.root().join("real/new").join(seed::RUN_FAILED)),
            ["agent.log", "screenshots/end.png", "screenshots/step-2.png"]
        );
    }

    #[tokio::test]
    async fn a_folder_that_is_a_link_out_of_the_destination_is_refused() {
        // The second target is inside the root, but not inside the destination.
        for is_inside in [false, true] {
            let mut session = fixture().open().await;
            let elsewhere = tempdir().expect("a directory");
            let target = if is_inside { session.root().join("other") } else { elsewhere.path().to_owned() };
            fs::create_dir_all(&target).expect("a directory");
            fs::create_dir_all(out(&session)).expect("a directory");
            symlink(&target, out(&session).join("screenshots")).expect("a link");

            let mut arguments = into("out");
            arguments["confirm"] = true.into();
            let report: Value = session.host.succeed(TOOL, arguments).await;
            let failed = failures(&report);

            let mut names: Vec<_> = failed.iter().map(|failure| failure.0.as_str()).collect();
            names.sort_unstable();

            assert_eq!(names, ["artifact:screenshots/end.png", "artifact:screenshots/step-2.png"]);
            assert!(failed[0].2.ends_with("leads out of the destination through a link"), "{failed:?}");
            assert_eq!(names_below(&target), [""; 0]);
            assert!(files_below(&out(&session)).contains_key("agent.log"));
        }
    }

    #[tokio::test]
    async fn nothing_is_written_through_a_link_in_the_place_of_a_file() {
        let mut session = fixture().open().await;
        let elsewhere = tempdir().expect("a directory");
        let victim = elsewhere.path().join("victim");
        fs::write(&victim, "mine").expect("a file");
        fs::create_dir_all(out(&session)).expect("a directory");

        for name in ["agent.log", ".tas-mcp-files"] {
            symlink(&victim, out(&session).join(name)).expect("a link");
        }

        let mut arguments = into("out");
        arguments["confirm"] = true.into();
        let report = session.host.succeed(TOOL, arguments.clone()).await;
        let failed = failures(&report);

        assert_eq!((failed.len(), failed[0].0.as_str()), (1, "artifact:agent.log"), "{failed:?}");

        arguments["overwrite"] = true.into();

        let report = session.host.succeed(TOOL, arguments).await;

        assert_eq!(report["status"], "downloaded", "{report}");
        assert_eq!(fs::read(&victim).expect("a file"), b"mine");

        let saved = fs::symlink_metadata(out(&session).join("agent.log")).expect("a file");

        assert!(saved.is_file(), "the link was replaced, and not what it leads to");
        assert_eq!(
            names_below(&out(&session)),
            ["agent.log", "screenshots/end.png", "screenshots/step-2.png"]
        );
    }
}
