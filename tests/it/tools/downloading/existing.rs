//! Files that are there already.

use std::{
    fs::{self, File},
    io,
    path::PathBuf,
    sync::Arc,
    time::SystemTime,
};

use serde_json::{Value, json};
use tas_mcp::{
    failure::Code,
    sandbox::{keys, seed},
    tools::download::{Disk, DownloadRequest},
};

use super::{DownloadFixture, NAMES, TOOL, all_of, failures, files_below, names_below, open, player, served};

#[tokio::test]
async fn saved_files_are_not_downloaded_again() {
    let (service, root, mut host) = open().await;
    let first = host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;
    let before = service.requests().await.len();

    for overwrite in [false, true] {
        let mut arguments = all_of(seed::RUN_FAILED);
        arguments["overwrite"] = json!(overwrite);
        let again = host.succeed(TOOL, arguments).await;
        assert_eq!((&again["status"], &again["total_bytes"]), (&json!("downloaded"), &first["total_bytes"]));
        assert!(again["files"].as_array().expect("files").iter().all(|file| file["kept"] == true), "{again}");
    }

    assert_eq!(service.requests().await.len(), before + 2, "only the run was asked for");
    assert_eq!(names_below(&root.path().join("out")), NAMES);
}

#[tokio::test]
async fn another_file_is_replaced_only_with_overwrite() {
    let (service, root, mut host) = open().await;
    let log = served(&service, &player(seed::RUN_FAILED, 1), "agent.log").await;
    let (out, mine) = (root.path().join("out"), vec![b'x'; log.len()]);

    fs::create_dir(&out).expect("a directory");
    // Of another size; and of the same size, but not from there.
    for content in [b"mine".to_vec(), mine] {
        fs::write(out.join("agent.log"), &content).expect("a file");
        let report = host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;
        let failed = failures(&report);

        assert_eq!(
            (failed.len(), failed[0].0.as_str(), failed[0].1.as_str()),
            (1, "artifact:agent.log", "file_error")
        );
        assert!(
            report["failed"][0]["hint"].as_str().expect("a hint").contains("`overwrite: true`"),
            "{report}"
        );
        assert_eq!((&report["status"], &report["file_count"]), (&json!("incomplete"), &json!(3)));
        assert!(files_below(&out)["agent.log"] == content);
    }

    let mut arguments = all_of(seed::RUN_FAILED);
    arguments["overwrite"] = json!(true);

    let report = host.succeed(TOOL, arguments).await;

    assert_eq!((&report["status"], &report["file_count"]), (&json!("downloaded"), &json!(4)));
    assert!(files_below(&out)["agent.log"] == log);
    assert_eq!(names_below(&out), NAMES);
}

#[tokio::test]
async fn a_directory_is_never_replaced() {
    let (_service, root, mut host) = open().await;
    let place = root.path().join("out/agent.log");
    fs::create_dir_all(&place).expect("a directory");

    let mut arguments = all_of(seed::RUN_FAILED);
    arguments["overwrite"] = json!(true);

    let report = host.succeed(TOOL, arguments).await;

    assert!(failures(&report)[0].2.ends_with("is a directory"), "{report}");
    assert!(place.is_dir());
}

/// Somebody else writes a file of the name while the first bytes come.
#[derive(Debug)]
struct Other(PathBuf);

impl Disk for Other {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        fs::write(&self.0, "mine")?;
        io::Write::write_all(file, bytes)
    }
}

#[tokio::test]
async fn a_file_created_during_the_download_is_not_replaced() {
    let mut fixture = DownloadFixture::new().await;
    fixture.options.disk = Arc::new(Other(fixture.out().join("agent.log")));

    let failure = fixture.save("agent.log").await.expect_err("no file");

    assert_eq!(failure.code, Code::FileError);
    assert!(failure.message.ends_with("was created by another program"), "{failure}");
    assert_eq!(files_below(&fixture.out())["agent.log"], b"mine");
    assert_eq!(names_below(&fixture.out()), ["agent.log"], "nothing that is not whole is left");
}

/// Somebody else makes a directory of the name when all the bytes are there.
#[derive(Debug)]
struct Obstructing(PathBuf);

impl Disk for Obstructing {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        io::Write::write_all(file, bytes)
    }

    fn sync(&self, _: &File) -> io::Result<()> {
        fs::create_dir(&self.0)
    }
}

#[tokio::test]
async fn a_file_that_cannot_have_its_name_leaves_no_partial_file() {
    for overwrite in [false, true] {
        let mut fixture = DownloadFixture::new().await;
        fixture.options.disk = Arc::new(Obstructing(fixture.out().join("agent.log")));

        let patterns = Some(vec!["agent.log".to_owned()]);
        let request = DownloadRequest {
            run_id: seed::RUN_FAILED.to_owned(),
            patterns,
            overwrite,
            ..DownloadRequest::default()
        };
        let failure = fixture.run(request).await.expect_err("no file");

        assert_eq!(failure.code, Code::FileError, "{failure}");

        let left: Vec<_> = fs::read_dir(fixture.out()).expect("a directory").flatten().collect();

        assert_eq!(left.len(), 1, "{left:?}");
        assert!(fixture.out().join("agent.log").is_dir());
    }
}

/// The failed run, whose files have no times.
async fn timeless(fixture: &DownloadFixture) {
    let address = format!("{}/runs/{}", fixture.service.base_url(), seed::RUN_FAILED);
    let mut run: Value =
        serde_json::from_slice(&fixture.service.fetch(&address, keys::DEMO).await).expect("JSON");

    for file in run["players"][0]["artifacts"].as_array_mut().expect("files") {
        file.as_object_mut().expect("a file").retain(|name, _| !name.starts_with("uploaded"));
    }

    fixture.fault("get_run", json!({"body": run})).await;
}

#[tokio::test]
async fn a_file_of_unknown_time_is_kept_only_without_overwrite() {
    let fixture = DownloadFixture::new().await;
    let mine = vec![b'x'; fixture.served("agent.log").await.len()];
    fs::create_dir(fixture.out()).expect("a directory");
    fs::write(fixture.out().join("agent.log"), &mine).expect("a file");

    for overwrite in [false, true] {
        timeless(&fixture).await;
        let patterns = Some(vec!["agent.log".to_owned()]);
        let request = DownloadRequest {
            run_id: seed::RUN_FAILED.to_owned(),
            patterns,
            overwrite,
            ..DownloadRequest::default()
        };
        let report = fixture.run(request).await.expect("a report");
        assert_eq!(report.files[0].kept, !overwrite);
        assert_eq!(files_below(&fixture.out())["agent.log"] == mine, !overwrite);
    }
}

#[tokio::test]
async fn a_file_with_another_time_is_not_kept() {
    let (_service, root, mut host) = open().await;
    host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;
    let log = File::options().write(true).open(root.path().join("out/agent.log")).expect("a file");
    log.set_modified(SystemTime::UNIX_EPOCH).expect("a time");
    let report = host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;
    assert_eq!(failures(&report).len(), 1, "{report}");
}
