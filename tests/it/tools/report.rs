//! The page to look at: as a file of the command line, and as the view of tools.

use serde_json::{Value, json};
use tas_mcp::tools::report;

mod command;
mod view;
mod words;

/// The weight of the page without data, in bytes: hosts fetch it for every conversation that shows it.
const HEAVIEST: usize = 34_000;

/// The text of the element that holds the data.
fn held(page: &str) -> &str {
    let (_, rest) = page.split_once(r#"<script type="application/json" id="data">"#).expect("the data");
    rest.split_once("</script>").expect("its end").0
}

#[test]
fn nothing_in_the_data_ends_or_begins_an_element() {
    let hostile = json!({"run": {
        "</script>": "</script><script>alert(1)</script>",
        "comment": ["<!--", "--><svg onload=alert(1)>", "<SCRIPT", "{script}{style}{policy}{data}", "\u{2028}"],
    }});
    let page = report::file(&hostile);

    assert!(!held(&page).contains('<'), "{}", held(&page));
    assert_eq!(serde_json::from_str::<Value>(held(&page)).expect("JSON"), hostile);

    let plain = report::file(&json!({}));

    assert_eq!(page.matches("<script").count(), plain.matches("<script").count());
    assert_eq!(page.len() - held(&page).len(), plain.len() - held(&plain).len());
}

#[test]
fn the_page_names_no_address() {
    let page = report::view();
    assert!(!page.contains("://"));
    assert_eq!(held(&page), "{}");
}

#[test]
fn the_policy_of_both_forms_forbids_the_network() {
    let (file, view) = (report::file(&json!({})), report::view());
    for page in [&file, &view] {
        assert!(
            page.contains(r#"content="default-src 'none'; base-uri 'none'; form-action 'none'; script-src"#)
        );
        for allowing in ["connect-src", "img-src", "frame-src", "font-src", "http:", "https:"] {
            let policy = page.split("Content-Security-Policy").nth(1).expect("a policy");
            assert!(!policy.split('>').next().expect("its end").contains(allowing), "{allowing}");
        }
    }

    assert!(!file.contains("unsafe-inline"));
    assert_eq!(file.matches("'sha256-").count(), 2);
}

#[test]
fn the_page_is_light() {
    let weight = report::view().len();
    assert!(weight <= HEAVIEST, "{weight} bytes");
}
