//! The HTML page.

use std::sync::LazyLock;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ring::digest;
use serde_json::Value;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!(
    include_str!("page/elements.js"),
    include_str!("page/pictures.js"),
    include_str!("page/filter.js"),
    include_str!("page/run.js"),
    include_str!("page/summary.js"),
    include_str!("page/host.js"),
);

static TEMPLATE: LazyLock<PageTemplate> = LazyLock::new(PageTemplate::new);

/// The page without its data and its content security policy.
struct PageTemplate {
    style: String,
    script: String,
}

impl PageTemplate {
    fn new() -> Self {
        // Line breaks have no meaning in CSS.
        let style = minify(STYLE).replace('\n', "").replace("; }", "}");
        Self { style, script: minify(SCRIPT) }
    }

    fn render(&self, policy: &str, data: &str) -> String {
        let page = PAGE.replace("{policy}", policy).replace("{style}", &self.style);
        // The data is inserted last, because it may contain text that looks like a placeholder.
        page.replace("{script}", &self.script).replacen("{data}", data, 1)
    }
}

/// Returns the page as the view of a tool. The host sends it its data.
pub fn view_page() -> String {
    // The host adds a policy of its own, and possibly a script, so that the policy cannot consist of hashes.
    let policy = "script-src 'unsafe-inline'; style-src 'unsafe-inline'";
    TEMPLATE.render(policy, "{}")
}

/// Returns the page with its data. The browser accepts only the script and the style of the page.
pub fn page_with_data(data: &Value) -> String {
    let PageTemplate { style, script } = &*TEMPLATE;
    let policy = format!("script-src 'sha256-{}'; style-src 'sha256-{}'", sha256(script), sha256(style));
    TEMPLATE.render(&policy, &escape_json(data))
}

/// Returns `value` as JSON that does not contain the begin or end of an HTML element.
fn escape_json(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Returns the Base64 text of the SHA-256 hash, as a content security policy contains it.
fn sha256(text: &str) -> String {
    BASE64_STANDARD.encode(digest::digest(&digest::SHA256, text.as_bytes()))
}

/// Removes indentation, blank lines and whole-line comments, so that the page is smaller.
fn minify(source: &str) -> String {
    let is_comment = |line: &str| line.starts_with("//") || line.starts_with("/**") && line.ends_with("*/");
    let lines = source.lines().map(str::trim_start).filter(|line| !line.is_empty() && !is_comment(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::{page_with_data, view_page};
    use crate::random_inputs::{check_values, value};
    use serde_json::{Value, json};

    use super::{escape_json, minify};

    #[test]
    fn comments_and_indentation_are_removed() {
        assert_eq!(minify("// a\n  b; // c\n\n/** d */\n  e;\n"), "b; // c\ne;\n");
    }

    #[test]
    fn data_cannot_end_the_script_element() {
        assert_eq!(escape_json(&json!("</script>")), "\"\\u003c/script>\"");
    }

    #[test]
    fn data_adds_no_element_to_the_page_and_arrives_unchanged() {
        let elements = |page: &str| page.matches('<').count();
        let expected = elements(&view_page());

        check_values(&value(), 1, |data| {
            let page = page_with_data(&data);
            assert_eq!(elements(&page), expected, "{data}");

            let escaped = escape_json(&data);
            assert!(page.contains(&escaped), "{data}");
            assert_eq!(serde_json::from_str::<Value>(&escaped).expect("JSON"), data);
        });
    }
}
