//! `tas-mcp report`: pages, files and the browser.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{data, run};
use crate::support::service::Service;

/// Runs the command with `--json`. Returns the exit code, standard output and the error.
async fn report(service: &Service, arguments: &[&str]) -> (Option<i32>, String, Value) {
    let arguments = [&["report"], arguments, &["--json"]].concat();
    let (code, output, errors) = run(service, &arguments, &[]).await;
    (code, output, serde_json::from_str::<Value>(&errors).unwrap_or_default()["error"].clone())
}

/// Returns the answer of a tool.
async fn call(service: &Service, arguments: &[&str]) -> Value {
    let arguments = [&["call"], arguments, &["--json"]].concat();
    serde_json::from_str(&run(service, &arguments, &[]).await.1).expect("JSON")
}

/// Returns the names of the entries of a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect()
}

#[tokio::test]
async fn the_page_of_a_run_contains_its_record_bugs_and_summary() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("run.html");
    let path = file.to_str().expect("UTF-8");
    let outcome = report(&service, &[seed::RUN_FAILED, "--html", path]).await;
    assert_eq!(outcome, (Some(0), String::new(), Value::Null));

    let data = data(&fs::read_to_string(&file).expect("the page"));
    let bugs = call(&service, &["list_run_bugs", "--run-id", seed::RUN_FAILED]).await;
    assert_eq!(data["run"], call(&service, &["get_run", "--run-id", seed::RUN_FAILED]).await);
    assert_eq!((&data["bugs"], &data["bugs_found"]), (&bugs["data"], &json!(1)));
    assert_eq!((&data["summary"]["total"], &data["runs"]), (&json!(1), &Value::Null));
    assert_eq!(names(directory.path()), ["run.html"]);
}

#[tokio::test]
async fn the_page_of_an_execution_or_job_contains_summary_and_runs() {
    let service = Service::start().await;
    for (id, argument, runs) in
        [(seed::EXECUTION_COMPLETED, "--test-plan-execution-id", 5), (seed::JOB_FLAKY, "--job-id", 2)]
    {
        let (code, page, _) = report(&service, &[id, "--html", "-"]).await;
        let data = data(&page);
        assert_eq!(code, Some(0));
        assert_eq!(data["summary"], call(&service, &["summarize_results", argument, id]).await);
        assert!(data["state"].as_str().is_some_and(|word| word.eq_ignore_ascii_case("completed")), "{data}");
        assert_eq!((data["runs"].as_array().map(Vec::len), &data["unread"]), (Some(runs), &json!([])));
    }
}

#[tokio::test]
async fn several_jobs_are_one_report() {
    let service = Service::start().await;
    let jobs = [seed::JOB_FLAKY, seed::JOB_FAILED];

    let (code, page, _) = report(&service, &[&jobs[..], &["--html", "-"]].concat()).await;
    let data = data(&page);
    assert_eq!((code, &data["summary"]["name"]), (Some(0), &json!("2 jobs")));
    let runs = data["runs"].as_array().expect("runs");
    assert_eq!(runs.iter().filter(|run| run["job_id"] == seed::JOB_FLAKY).count(), 2, "{runs:?}");
    assert!(runs.iter().any(|run| run["job_id"] == seed::JOB_FAILED), "{runs:?}");

    let (code, _, error) = report(&service, &[seed::JOB_FLAKY, seed::RUN_PASSED]).await;
    assert!(code == Some(2) && error["message"].to_string().contains("must be ids of jobs"), "{error}");
}

#[tokio::test]
async fn every_page_of_the_runs_is_read() {
    let service = Service::start().await;
    for (number, name, count) in [(0, "first", 100), (1, "last", 1)] {
        let runs = vec![json!({"multiplayer_run_id": name}); count];
        let pagination = json!({"page": number, "page_size": 100, "total_count": 101, "total_pages": 2});
        let body = json!({"data": runs, "pagination": pagination});
        service.fault(json!({"operation": "list_runs", "body": body})).await;
    }

    let (_, page, _) = report(&service, &[seed::EXECUTION_COMPLETED, "--html", "-"]).await;
    let runs = data(&page)["runs"].as_array().expect("runs").clone();
    assert_eq!((runs.len(), &runs[100]["multiplayer_run_id"]), (101, &json!("last")));
}

#[tokio::test]
async fn the_page_lists_what_cannot_be_read() {
    for (id, operation, what) in
        [(seed::RUN_FAILED, "list_run_bugs", "bugs"), (seed::EXECUTION_COMPLETED, "list_runs", "all runs")]
    {
        let service = Service::start().await;
        service.fault(json!({"operation": operation, "status": 500, "times": 19})).await;
        let (code, page, _) = report(&service, &[id, "--html", "-"]).await;
        assert_eq!((code, &data(&page)["unread"][0]["what"]), (Some(0), &json!(what)));
    }
}

#[tokio::test]
async fn without_a_file_the_summary_is_printed() {
    let service = Service::start().await;
    for (id, argument) in [
        (seed::RUN_FAILED, "--run-id"),
        (seed::JOB_FLAKY, "--job-id"),
        (seed::EXECUTION_COMPLETED, "--test-plan-execution-id"),
    ] {
        let summary = call(&service, &["summarize_results", argument, id]).await;
        let (code, printed, error) = report(&service, &[id]).await;
        assert_eq!((code, error), (Some(0), Value::Null));
        assert_eq!(serde_json::from_str::<Value>(&printed).expect("JSON"), summary);
    }
}

#[tokio::test]
async fn history_and_comparison_are_printed_and_on_the_page() {
    let service = Service::start().await;
    let asked = ["--history", "5", "--compare-with", "previous"];
    for id in [seed::PLAN_SMOKE, seed::EXECUTION_COMPLETED, seed::RUN_FAILED] {
        let (code, printed, _) = report(&service, &[&[id][..], &asked].concat()).await;
        let summary: Value = serde_json::from_str(&printed).expect("JSON");
        assert!(code == Some(0) && summary["comparison"].is_object(), "{summary}");
        assert!(summary["history"]["results"].as_array().is_some_and(|all| all.len() >= 2), "{summary}");

        let (_, page, _) = report(&service, &[&[id, "--html", "-"][..], &asked].concat()).await;
        let data = data(&page);
        let is_run = id == seed::RUN_FAILED;
        assert_eq!((&data["summary"], &data["unread"]), (&summary, &json!([])));
        let parts = ["run", "bugs", "runs"].map(|part| !data[part].is_null());
        assert_eq!(parts, [is_run, is_run, !is_run]);
    }

    for wrong in ["1", "31", "many"] {
        let (code, printed, _) = report(&service, &[seed::PLAN_SMOKE, "--history", wrong]).await;
        assert_eq!((code, printed.as_str()), (Some(2), ""), "{wrong}");
    }
}

#[tokio::test]
async fn the_failure_for_an_unknown_id_names_the_searched_projects() {
    let service = Service::start().await;
    let organization = [("TAS_API_KEY", keys::ORGANIZATION), ("TAS_PROJECTS", "demo,arena")];
    let (code, _, errors) = run(&service, &["report", "nowhere", "--json"], &organization).await;
    let error = serde_json::from_str::<Value>(&errors).expect("JSON")["error"].clone();
    assert_eq!((code, &error["code"]), (Some(1), &json!("project_not_resolved")));
    assert_eq!(error["details"]["asked"], json!(["demo", "arena"]));
    assert!(error["message"].as_str().is_some_and(|said| said.contains("`nowhere`")), "{error}");
}

#[tokio::test]
async fn a_failure_does_not_change_the_file() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("run.html");
    fs::write(&file, "an earlier page").expect("written");
    let path = file.to_str().expect("UTF-8");

    let (code, _, error) = report(&service, &["nowhere", "--html", path]).await;
    assert_eq!((code, &error["code"]), (Some(1), &json!("not_found")));
    service.fault(json!({"operation": "get_run", "status": 500, "times": 9})).await;
    let (code, _, error) = report(&service, &[seed::RUN_FAILED, "--html", path]).await;
    assert_eq!((code, &error["code"]), (Some(3), &json!("service_unavailable")));
    assert_eq!(fs::read_to_string(&file).expect("the file"), "an earlier page");
    assert_eq!(names(directory.path()), ["run.html"]);

    service.heal().await;
    let (code, ..) = report(&service, &[seed::RUN_FAILED, "--html", path]).await;
    assert_eq!(code, Some(0));
    assert!(fs::read_to_string(&file).expect("the file").ends_with("</html>\n"));
}

#[tokio::test]
async fn an_unwritable_file_is_refused_before_any_request() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let missing = directory.path().join("missing/run.html");

    for file in [missing.as_path(), directory.path()] {
        let file = file.to_str().expect("UTF-8");
        let (code, _, error) = report(&service, &[seed::RUN_FAILED, "--html", file]).await;
        assert_eq!((code, &error["code"]), (Some(2), &json!("file_error")));
    }
    assert_eq!(service.requests().await, [""; 0]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_named_pipe_is_written_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt as _;

    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let pipe = directory.path().join("pipe");
    let created = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(created.success());

    // A pipe blocks its writer until it has a reader, so that both must run at the same time.
    let reading = tokio::process::Command::new("cat").arg(&pipe).kill_on_drop(true).output();
    let arguments = [seed::RUN_FAILED, "--html", pipe.to_str().expect("UTF-8")];
    let (read, (code, ..)) = tokio::join!(reading, report(&service, &arguments));
    assert_eq!(code, Some(0));
    assert!(read.expect("an output").stdout.ends_with(b"</html>\n"));
    assert!(fs::metadata(&pipe).expect("the pipe").file_type().is_fifo());
}
