//! The report page, as a file of the command line and as the view of tools.

use serde_json::{Value, json};
use tas_mcp::{
    sandbox::keys,
    tools::report::{self, ReportData},
};

use crate::support::{binary::run_binary, service::Service};

mod command;
mod pictures;
mod text;
mod view;

/// Largest size of the page without data, in bytes. Hosts fetch the page for every conversation that shows it.
const HEAVIEST: usize = 40_000;

/// Runs a command with this service, and with these variables beside its base URL and key. Returns the exit code, standard
/// output and standard error.
async fn run(
    service: &Service,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (Option<i32>, String, String) {
    let base_url = service.base_url();
    let settings = [&[("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)], variables].concat();
    let output = run_binary(arguments, &settings, &[]).await;
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");

    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Returns the data of a page.
fn data(page: &str) -> Value {
    serde_json::from_str(embedded_data(page)).expect("JSON")
}

/// Returns the text of the element that contains the data.
fn embedded_data(page: &str) -> &str {
    let (_, rest) = page.split_once(r#"<script type="application/json" id="data">"#).expect("the data");
    rest.split_once("</script>").expect("its end").0
}

/// Returns the page of a summary with a failure of these texts, and what it shows where no script runs, as in Jenkins.
fn page_of(text: &str) -> (String, String) {
    let step = json!({"number": 2, "goal": text});
    let failure = json!({"test": {"name": text}, "verdict": text, "step": step, "observed": text, "count": 1, "run_ids": [text]});
    let summary = json!({"target_type": "job", "state": "completed", "finished": 1, "total": 1, "verdicts": {}, "failures": [failure]});
    let mut data = ReportData::default();
    data.summary = serde_json::from_value(summary).expect("a summary");
    let page = report::page_with_data(&data);

    let shown = page.split_once("<main id=\"report\">").and_then(|(_, rest)| rest.split_once("</main>"));
    let shown = shown.expect("the report").0.to_owned();
    (page, shown)
}

#[test]
fn no_text_can_begin_or_end_an_element() {
    let (plain, plainly_shown) = page_of("Jump");
    let hostile = "</script></main><script>alert(1)</script><!----><SCRIPT {script}{style}{policy}{summary}{data}&lt;\nx";
    let (page, shown) = page_of(hostile);

    assert!(!embedded_data(&page).contains('<'), "{}", embedded_data(&page));
    assert_eq!(data(&page)["summary"]["failures"][0]["observed"], hostile);
    assert!(shown.contains("&lt;SCRIPT {script}{style}{policy}{summary}{data}&amp;lt;"), "{shown}");
    assert_eq!(shown.matches('<').count(), plainly_shown.matches('<').count(), "{shown}");
    let own = |page: &str, shown: &str| page.len() - embedded_data(page).len() - shown.len();
    assert_eq!(own(&page, &shown), own(&plain, &plainly_shown));

    let failure = "<h2>Jump: Jump</h2>\n<p>  step 2         Jump</p>\n<p>  observed       Jump</p>\n<p>  runs           Jump</p>\n";
    assert!(plainly_shown.contains(failure), "{plainly_shown}");
}

#[test]
fn the_page_is_small_and_contains_no_address() {
    let page = report::view_page();
    assert!(page.len() <= HEAVIEST, "{} bytes", page.len());
    // The view requests pictures from the server through the host.
    assert!(!page.replace("`tas://", "").contains("://"));
    assert_eq!(embedded_data(&page), "{}");
}

#[test]
fn the_policy_of_both_forms_forbids_the_network() {
    let (file, view) = (report::page_with_data(&ReportData::default()), report::view_page());
    for page in [&file, &view] {
        assert!(page.contains(
            r#"content="default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; script-src"#
        ));
        for allowing in ["connect-src", "media-src", "frame-src", "font-src", "http:", "https:"] {
            let policy = page.split("Content-Security-Policy").nth(1).expect("a policy");
            assert!(!policy.split('>').next().expect("its end").contains(allowing), "{allowing}");
        }
    }

    assert!(!file.contains("unsafe-inline"));
    assert_eq!(file.matches("'sha256-").count(), 2);
}
