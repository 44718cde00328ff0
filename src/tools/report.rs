//! A page to look at: a run or a summary of results as one HTML file that loads nothing. Hosts of MCP Apps show it as
//! the view of a tool and send it the result; the command line writes it with the data inside. On a terminal a summary
//! is told in words.

use std::sync::LazyLock;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ring::digest;
use serde_json::Value;

mod gather;
mod words;

pub use gather::{Subject, gather};
pub use words::Words;

const PAGE: &str = include_str!("report/page/page.html");
const STYLE: &str = include_str!("report/page/page.css");
const SCRIPT: &str = concat!(
    include_str!("report/page/elements.js"),
    include_str!("report/page/verdicts.js"),
    include_str!("report/page/figures.js"),
    include_str!("report/page/missing.js"),
    include_str!("report/page/run.js"),
    include_str!("report/page/summary.js"),
    include_str!("report/page/host.js"),
    include_str!("report/page/start.js"),
);

static ASSEMBLED: LazyLock<Assembled> = LazyLock::new(Assembled::new);

/// The page without its data and policy.
struct Assembled {
    style: String,
    script: String,
}

impl Assembled {
    fn new() -> Self {
        // A style has the same meaning on one line.
        let style = bare(STYLE).replace('\n', "").replace("; }", "}");
        Self { style, script: bare(SCRIPT) }
    }

    fn with(&self, policy: &str, data: &str) -> String {
        let page = PAGE.replace("{policy}", policy).replace("{style}", &self.style);
        // What comes from the service is put in last, so that nothing in it is taken for a place of ours.
        page.replace("{script}", &self.script).replacen("{data}", data, 1)
    }
}

/// The page as the view of a tool: its data comes from the host.
pub fn view() -> String {
    // The host has a policy of its own, and may add a script to what it frames.
    let policy = "script-src 'unsafe-inline'; style-src 'unsafe-inline'";
    ASSEMBLED.with(policy, "{}")
}

/// The page as a file that holds its data. Its own script and style are all that a browser takes.
pub fn file(report: &Value) -> String {
    let Assembled { style, script } = &*ASSEMBLED;
    let policy = format!("script-src 'sha256-{}'; style-src 'sha256-{}'", hash(script), hash(style));
    ASSEMBLED.with(&policy, &embedded(report))
}

/// JSON that no end or beginning of an element can be read in.
fn embedded(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

fn hash(text: &str) -> String {
    BASE64_STANDARD.encode(digest::digest(&digest::SHA256, text.as_bytes()))
}

/// The source without indentation and whole-line comments, which nobody reads there.
fn bare(source: &str) -> String {
    let is_comment = |line: &str| line.starts_with("//") || line.starts_with("/**") && line.ends_with("*/");
    let lines = source.lines().map(str::trim_start).filter(|line| !line.is_empty() && !is_comment(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}
