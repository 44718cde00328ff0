//! `tas-mcp report --markdown`.

use std::fs;

use tas_mcp::sandbox::{keys, seed};

use crate::support::{binary::run_binary, service::Service};

/// Runs the command. Returns the exit code, standard output and standard error.
async fn report(service: &Service, arguments: &[&str]) -> (Option<i32>, String, String) {
    let (base_url, knowledge_url) = (service.base_url(), service.knowledge_url());
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_KNOWLEDGE_URL", knowledge_url.as_str()),
        ("TAS_API_KEY", keys::DEMO),
    ];
    let output = run_binary(&[&["report"], arguments].concat(), &variables, &[]).await;
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn the_markdown_of_an_execution_has_failures_first_and_links_to_pictures() {
    let service = Service::start().await;
    let (code, text, errors) = report(&service, &[seed::EXECUTION_COMPLETED, "--markdown"]).await;

    assert_eq!(code, Some(0), "{errors}");
    assert!(text.starts_with("## Release smoke: 3 of 4 passed\n"), "{text}");

    let places = ["### Failures", "❌ FAILED: Pause and resume", "### Passed after a retry", "### Runs"];
    let places = places.map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")));

    assert!(places.is_sorted(), "{text}");

    let player = format!("{}-1", seed::RUN_FAILED);
    let address = format!("{}/runs/{player}/artifacts/screenshots/step-2.png", service.knowledge_url());

    assert!(text.contains(&format!("[player 1, step 2](<{address}>)")), "{text}");
    assert!(service.requests().await.iter().all(|line| !line.contains("step-2.png")));
}

#[tokio::test]
async fn a_run_and_a_history_are_markdown_too() {
    let service = Service::start().await;
    let (_, run, _) = report(&service, &[seed::RUN_FAILED, "--markdown"]).await;
    let (_, history, _) = report(&service, &[seed::PLAN_SMOKE, "--history", "2", "--markdown"]).await;

    assert!(run.starts_with("## Pause and resume: 0 of 1 passed\n") && run.contains("step 2"), "{run}");
    assert!(history.contains("### Last 2 results\n\n| test |"), "{history}");
    assert!(
        history.contains("| Beat the Cinder Golem") && history.contains("s SUCCESS after a retry"),
        "{history}"
    );
}

#[tokio::test]
async fn page_and_markdown_are_written_by_one_command() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let [page, markdown] = ["report.html", "report.md"].map(|name| directory.path().join(name));
    let paths = [&page, &markdown].map(|path| path.to_str().expect("UTF-8"));
    let arguments = [seed::EXECUTION_COMPLETED, "--html", paths[0], "--markdown", paths[1]];

    let (code, printed, errors) = report(&service, &arguments).await;

    assert_eq!((code, printed), (Some(0), String::new()), "{errors}");
    assert!(fs::read_to_string(page).expect("a page").ends_with("</html>\n"));
    assert!(fs::read_to_string(markdown).expect("a text").starts_with("## Release smoke"));

    let both = [seed::RUN_FAILED, "--html", "-", "--markdown"];
    let (code, _, errors) = report(&service, &both).await;

    assert!(code == Some(2) && errors.contains("name a file for one of them"), "{errors}");
}
