//! The page at `/`, which tells a user how each host connects to this server, and that the server works.

use std::fmt::Write as _;

use axum::response::{Html, IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};

/// How a host connects to a server over HTTP.
#[derive(Debug)]
pub struct HostGuide {
    /// Name of the host for users.
    pub host: &'static str,
    /// What the user does with the text.
    pub action: String,
    /// A command, or the text of a file.
    pub text: String,
}

/// Returns how each host connects to the endpoint at an address. The flag says whether hosts send an API key.
pub type HostGuides = fn(&str, bool) -> Vec<HostGuide>;

/// The page has no scripts, loads nothing, and is in no frame.
const POLICY: (HeaderName, HeaderValue) = (
    header::CONTENT_SECURITY_POLICY,
    HeaderValue::from_static(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
);

const STYLE: &str = ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}\
h2{margin:1.5rem 0 .25rem;font-size:1.1rem}p{margin:.25rem 0}pre{overflow-x:auto;padding:.75rem;border:1px solid #8886;border-radius:6px;background:#8881}code{font-size:.9rem}";

/// What a host needs for calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NeededCredential {
    /// The server has a key of its own.
    None,
    ApiKey,
    /// The user signs in.
    UserToken,
}

/// Returns the page of a server whose endpoint users reach at `address`.
pub(super) fn front_page(
    address: &str,
    credential: NeededCredential,
    uses_sandbox: bool,
    guides: Option<&HostGuides>,
) -> Response {
    let advice = match credential {
        NeededCredential::None => {
            "No API key is needed: this server has its own, and serves this machine only."
        }
        NeededCredential::ApiKey => {
            "Your host sends your API key of the Test Automation Service with each request. Set the variable <code>TAS_API_KEY</code> before you start the host, or write the key in its place."
        }
        NeededCredential::UserToken => "Your host asks you to sign in.",
    };
    let guides = guides.map(|guides| guides(address, credential == NeededCredential::ApiKey));
    let service = if uses_sandbox {
        "Calls go to a sandbox with example data, which ends with this server."
    } else {
        "Calls go to the Test Automation Service."
    };

    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
<title>tas-mcp</title><style>{STYLE}</style></head><body>\n<h1>This MCP server works</h1>\n\
<p>tas-mcp {} at <code>{}</code>. {service}</p>\n<p>{}</p>\n",
        env!("CARGO_PKG_VERSION"),
        escaped(address),
        advice
    );
    for HostGuide { host, action, text } in guides.unwrap_or_default() {
        // Writing to a text cannot fail.
        write!(
            page,
            "<h2>{host}</h2>\n<p>{}</p>\n<pre><code>{}</code></pre>\n",
            escaped(&action),
            escaped(text.trim_end())
        )
        .unwrap_or_default();
    }
    page.push_str("<h2>One project, or fewer tools</h2>\n<p>Add <code>/PROJECT</code>, <code>/x/lean</code> or <code>/readonly</code> to the address.</p>\n</body></html>\n");

    ([POLICY], Html(page)).into_response()
}

/// Returns a text as a part of the page.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
