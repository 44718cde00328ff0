//! The page at `/`, which tells a user that the server works, and the address and the credential that a host needs.

use axum::response::{Html, IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};

/// The page has no scripts, loads nothing, and is in no frame.
const POLICY: (HeaderName, HeaderValue) = (
    header::CONTENT_SECURITY_POLICY,
    HeaderValue::from_static(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
);

const STYLE: &str = ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}\
code{padding:.1rem .3rem;border-radius:4px;background:#8882}";

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
pub(super) fn front_page(address: &str, credential: NeededCredential, uses_sandbox: bool) -> Response {
    let advice = match credential {
        NeededCredential::None => {
            "No API key is needed: this server has its own, and serves this machine only."
        }
        NeededCredential::ApiKey => {
            "Your host sends your API key of the Test Automation Service with each request, in the header <code>X-Api-Key</code>."
        }
        NeededCredential::UserToken => "Your host asks you to sign in.",
    };
    let service = if uses_sandbox {
        "Calls go to a sandbox with example data, which ends with this server."
    } else {
        "Calls go to the Test Automation Service."
    };

    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
<title>tas-mcp</title><style>{STYLE}</style></head><body>\n<h1>This MCP server works</h1>\n\
<p>tas-mcp {}. {service}</p>\n<p>Add this address to your host, as a server over HTTP: <code>{}</code></p>\n<p>{advice}</p>\n\
<p>For one project, or fewer tools, add <code>/PROJECT</code>, <code>/x/lean</code> or <code>/readonly</code> to the address.</p>\n</body></html>\n",
        env!("CARGO_PKG_VERSION"),
        escaped(address),
    );

    ([POLICY], Html(page)).into_response()
}

/// Returns a text as a part of the page.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
